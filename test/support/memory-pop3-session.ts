/** Sessions of the POP3 server that keep a maildrop in memory, for one user. One of them at a time has the maildrop. */
import type { Client } from '../../src/mail/connection/client.ts';
import type { Chunks, Maildrop, OpenSession, Refusal, Session } from '../../src/mail/pop3/session.ts';
import { createScramSession } from './scram-client.ts';

export const USER = { username: 'ann@people.example', password: 'a word with spaces ü' };

type Message = { uid: number; bytes: Buffer };

type Hooks = {
  /** Number of octets of the pieces in which messages are read. By default they are in memory as a whole. */
  pieceOctets?: number;
  retrieve?: Maildrop['retrieve'];
  quit?: Maildrop['quit'];
};

export type MemoryMaildrop = ReturnType<typeof createMemoryMaildrop>;

/** Returns a maildrop with these messages, as characters that are one octet each. */
export function createMemoryMaildrop(texts: readonly string[] = [], hooks: Hooks = {}) {
  const ended = Promise.withResolvers<Refusal>();
  const drop = {
    messages: texts.map((text, index): Message => ({ uid: 10 * (index + 1), bytes: latin1(text) })),
    isTaken: false,
    openSessions: 0,
    client: undefined as Client | undefined,
    logins: [] as { username: string; password: string }[],
    end: ended.resolve,
    openSession: open satisfies OpenSession as OpenSession,
  };

  function open(): ReturnType<OpenSession> {
    let hasMaildrop = false;
    const release = (): void => {
      if (hasMaildrop) drop.isTaken = false;
      hasMaildrop = false;
    };
    drop.openSessions++;
    const login: Session['login'] = async ({ username, password, client }) => {
      drop.client = client;
      drop.logins.push({ username, password });
      if (username !== USER.username || password !== USER.password)
        return { refused: true, code: 'AUTH', text: 'The user name or the password is wrong' };
      if (drop.isTaken) return { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' };
      drop.isTaken = true;
      hasMaildrop = true;
      return openMaildrop(release);
    };
    return {
      login,
      ...createScramSession(USER, login),
      close() {
        release();
        drop.openSessions--;
      },
    };
  }

  function openMaildrop(release: () => void): Maildrop {
    const snapshot = [...drop.messages];
    return {
      uidValidity: 7,
      uids: Uint32Array.from(snapshot, ({ uid }) => uid),
      sizes: Uint32Array.from(snapshot, ({ bytes }) => bytes.length),
      ended: ended.promise,
      retrieve: hooks.retrieve ?? ((index) => read(snapshot[index] as Message)),
      async quit(removed) {
        const refusal = await hooks.quit?.(removed);
        release();
        if (refusal) return refusal;
        const gone = new Set(removed.map((index) => snapshot[index]));
        drop.messages = drop.messages.filter((message) => !gone.has(message));
        return undefined;
      },
    };
  }

  function read({ bytes }: Message): Buffer | Chunks {
    const { pieceOctets } = hooks;
    return pieceOctets === undefined ? Buffer.from(bytes) : piecesOf(bytes, pieceOctets);
  }

  async function* piecesOf(bytes: Buffer, size: number): Chunks {
    for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
    return undefined;
  }

  return drop;
}

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}
