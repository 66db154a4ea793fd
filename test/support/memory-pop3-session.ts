/** Sessions of the POP3 server that keep a maildrop in memory, for one user. One of them at a time has the maildrop. */
import type { Client } from '../../src/mail/connection/client.ts';
import { servePop3User } from '../../src/mail/pop3/server.ts';
import type {
  Admission,
  Chunks,
  Maildrop,
  OpenSession,
  Refusal,
  Session,
} from '../../src/mail/pop3/session.ts';
import { createPause } from '../../src/system/slices.ts';
import { handOverTo } from './handovers.ts';
import { createScramSession } from './scram-client.ts';

export const USER = { username: 'ann@people.example', password: 'a word with spaces ü' };

type UserOptions = Omit<Parameters<typeof servePop3User>[0], 'pause' | 'owner'>;

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
  const drop = {
    messages: texts.map((text, index): Message => ({ uid: 10 * (index + 1), bytes: latin1(text) })),
    isTaken: false,
    openSessions: 0,
    client: undefined as Client | undefined,
    logins: [] as { username: string; password: string }[],
    /** Ends the connections of users, as an account does that can no longer be used. */
    end(refusal: Refusal) {
      for (const user of users) user.end(refusal);
    },
    openSession: open,
  };

  const users = new Set<ReturnType<typeof servePop3User>>();

  function open(context: UserOptions): ReturnType<OpenSession> {
    let opened: Admission | undefined;
    drop.openSessions++;
    const login: Session['login'] = async ({ username, password, client }) => {
      drop.client = client;
      drop.logins.push({ username, password });
      if (username !== USER.username || password !== USER.password)
        return { refused: true, code: 'AUTH', text: 'The user name or the password is wrong' };
      if (drop.isTaken) return { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' };
      drop.isTaken = true;
      const maildrop = openMaildrop();
      const handover = handOverTo((stream) => {
        const user = servePop3User(
          { ...context, owner: 'user', pause: createPause(context.clock) },
          stream,
          maildrop,
        );
        users.add(user);
        void user.done.then(() => users.delete(user));
      });
      const { sizes } = maildrop;
      opened?.handover.discard();
      opened = { handover, count: sizes.length, sizeBytes: sizes.reduce((sum, size) => sum + size, 0) };
      return opened;
    };
    return {
      login,
      ...createScramSession(USER, login),
      close() {
        opened?.handover.discard();
        drop.openSessions--;
      },
    };
  }

  function openMaildrop(): Maildrop {
    const snapshot = [...drop.messages];
    return {
      uidValidity: 7,
      uids: Uint32Array.from(snapshot, ({ uid }) => uid),
      sizes: Uint32Array.from(snapshot, ({ bytes }) => bytes.length),
      retrieve: hooks.retrieve ?? ((index) => read(snapshot[index] as Message)),
      async quit(removed) {
        const refusal = await hooks.quit?.(removed);
        if (refusal) return refusal;
        const gone = new Set(removed.map((index) => snapshot[index]));
        drop.messages = drop.messages.filter((message) => !gone.has(message));
        return undefined;
      },
      close() {
        drop.isTaken = false;
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
