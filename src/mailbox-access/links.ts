/** Connects the thread of the listeners with the threads of accounts, each pair by a port, when a session first needs it. */
import { randomUUID } from 'node:crypto';
import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';

type Connect = (
  input: { link: string; port: MessagePort },
  transfer: readonly Transferable[],
) => Promise<void>;
type Connectable = { calls: { connect: Connect } };

type Links = {
  /** Returns the link to a thread of accounts. @throws AppError unavailable while one of the threads is being started */
  get(thread: number): Promise<string>;
  /** Forgets a link that the thread of accounts does not know, because one of the two threads has started again. */
  forget(thread: number): void;
};

/** Returns links between these threads, none of which is connected. */
export function createLinks(access: Connectable, accounts: readonly Connectable[]): Links {
  const links = new Map<number, Promise<string>>();

  async function connect(thread: number): Promise<string> {
    const link = randomUUID();
    const { port1, port2 } = new MessageChannel();
    await Promise.all([
      access.calls.connect({ link, port: port1 }, [port1]),
      accounts[thread]?.calls.connect({ link, port: port2 }, [port2]),
    ]);
    return link;
  }

  return {
    async get(thread) {
      const link = links.get(thread) ?? connect(thread);
      links.set(thread, link);
      try {
        return await link;
      } catch (error) {
        if (links.get(thread) === link) links.delete(thread);
        throw error;
      }
    },
    forget: (thread) => void links.delete(thread),
  };
}
