/** Sessions of the SMTP server that keep messages in memory. They accept everything unless a test replaces a hook. */
import type {
  OpenSession,
  Recipient,
  Sender,
  Session,
  SessionConnection,
  SmtpClient,
} from '../../src/mail/smtp/server/session.ts';

export type MemoryMessage = {
  sender: Sender;
  recipients: Recipient[];
  client: SmtpClient;
  content: Buffer;
};

export type MemorySessions = {
  openSession: OpenSession;
  /** Messages that were read to their end, in that order. */
  messages: MemoryMessage[];
  /** The connections of all sessions, which a hook may end. */
  connections: SessionConnection[];
  /** Errors with which the reading of a body ended. */
  errors: Error[];
  /** Number of calls of each hook. */
  calls: Record<Exclude<keyof Session, 'logins'> | 'login', number>;
  /** Number of sessions that are open now. */
  openSessions(): number;
};

type Hooks = Partial<Session>;

/** Returns sessions whose hooks are those of `hooks`, and otherwise accept. */
export function createMemorySessions(hooks: Hooks = {}): MemorySessions {
  const messages: MemoryMessage[] = [];
  const errors: Error[] = [];
  const connections: SessionConnection[] = [];
  const calls = { connect: 0, ehlo: 0, login: 0, mail: 0, rcpt: 0, data: 0, reset: 0, close: 0 };
  let opened = 0;

  function openSession(connection: SessionConnection): Session {
    let sender: Sender | undefined;
    let recipients: Recipient[] = [];
    opened++;
    connections.push(connection);
    return {
      async connect(client) {
        calls.connect++;
        return await hooks.connect?.(client);
      },
      async ehlo(client) {
        calls.ehlo++;
        return await hooks.ehlo?.(client);
      },
      logins: {
        async login(credentials, client) {
          calls.login++;
          return await hooks.logins?.login(credentials, client);
        },
        scramKey: async (username) => hooks.logins?.scramKey(username) ?? { salt: '', iterations: 1 },
        loginByProof: async (proof, client) =>
          (await hooks.logins?.loginByProof(proof, client)) ?? { answer: undefined },
        loggedIn: () => hooks.logins?.loggedIn() ?? {},
      },
      async mail(given, client) {
        calls.mail++;
        sender = given;
        return await hooks.mail?.(given, client);
      },
      async rcpt(recipient, client) {
        calls.rcpt++;
        const refusal = await hooks.rcpt?.(recipient, client);
        if (!refusal) recipients.push(recipient);
        return refusal;
      },
      async data(body, client) {
        calls.data++;
        if (hooks.data) return await hooks.data(body, client);
        const content = await readBody(body).catch((error: Error) => {
          errors.push(error);
          throw error;
        });
        if (!sender) throw new Error('data came without a sender');
        messages.push({ sender, recipients, client, content });
        return { code: 250, status: '2.0.0', text: 'Kept' };
      },
      reset() {
        calls.reset++;
        sender = undefined;
        recipients = [];
        hooks.reset?.();
      },
      close() {
        calls.close++;
        hooks.close?.();
      },
    };
  }

  return { openSession, messages, connections, errors, calls, openSessions: () => opened - calls.close };
}

/** Returns the whole body of a message. */
export async function readBody(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}
