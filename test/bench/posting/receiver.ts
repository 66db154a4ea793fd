/** Starts the receiver of posts in a process of its own. */
import { startModule } from '../program.ts';
import type { Received, ReceiverInput } from './receiver-program.ts';

export type Receiver = AsyncDisposable & {
  url: string;
  pid: number;
  /** Answers the posts that wait, and all later ones. */
  open(): Promise<void>;
  read(): Promise<Received>;
};

export async function startReceiver(input: ReceiverInput): Promise<Receiver> {
  const program = startModule('posting/receiver-program.ts', input);
  const url = `http://127.0.0.1:${await program.line()}/`;
  const get = async (path: string) => (await fetch(`${url}${path}`)).json() as Promise<Received>;
  return {
    url,
    pid: program.pid,
    open: async () => void (await get('open')),
    read: () => get(''),
    [Symbol.asyncDispose]: program.stop,
  };
}
