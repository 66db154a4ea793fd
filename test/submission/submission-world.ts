/** The application with its listeners for submission on loopback, mailboxes whose password is known, and clients that have logged in. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { after } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import type { MessageRow, RecipientRow } from '../../src/db/tables.ts';
import { addressKey } from '../../src/mail/address.ts';
import { createOpenLogins, type OpenLogins } from '../../src/mailbox-access/open-logins.ts';
import { findEntered } from '../../src/mailboxes/app-passwords/match.ts';
import type { Authenticate } from '../../src/mailboxes/authenticate.ts';
import { createScramVerifier } from '../../src/mailboxes/passwords/scram-verifier.ts';
import { findProven, listVerifiers } from '../../src/mailboxes/scram-proof.ts';
import { findMailboxByAddress } from '../../src/mailboxes/store.ts';
import { listRecipients } from '../../src/queue/store.ts';
import { openSubmission } from '../../src/submission/listeners.ts';
import { createClient, STARTTLS, type TestClient } from '../mail/smtp/server/fixture.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { openSpool, type Spool } from '../support/spool.ts';

export const PASSWORD = 'correct horse';

/** `afterComparison` runs when a password was compared, and before its login is known to anybody. */
type WorldOptions = Parameters<typeof openSpool>[0] & { afterComparison?: () => Promise<unknown> };

export type SubmissionWorld = Spool & {
  ports: { tls: number; starttls: number };
  ann: MailboxRow;
  openLogins: OpenLogins;
  /** Opens a connection with TLS from the first byte, up to EHLO. */
  open(localAddress?: string): Promise<TestClient>;
  /** Opens a connection that has logged in. */
  logIn(username?: string, password?: string): Promise<TestClient>;
  messages(): Promise<MessageRow[]>;
  /** Returns the message that a reply names. */
  queued(reply: string): Promise<MessageRow>;
  recipients(messageId: string): Promise<RecipientRow[]>;
  /** Returns the stored bytes of a message. */
  raw(message: Pick<MessageRow, 'blobId'>): Promise<string>;
};

/** Opens the world for the tests of the calling file. Ann has the mailbox `ann@people.example`. */
export async function openSubmissionWorld({
  afterComparison = async () => {},
  ...options
}: WorldOptions = {}): Promise<SubmissionWorld> {
  const spool = await openSpool({
    ...options,
    env: {
      POSTRIDER_SUBMISSION_PORT: '0',
      POSTRIDER_SUBMISSION_TLS_PORT: '0',
      POSTRIDER_SUBMISSION_ADDRESS: '127.0.0.1',
      ...options.env,
    },
  });
  const { app } = spool;
  const scramSalt = randomBytes(16).toString('hex');
  const scramVerifier = JSON.stringify(await createScramVerifier(PASSWORD, scramSalt));
  const ann = await addMailbox(spool, { scramSalt, scramVerifier });
  /** Compares the password without its hash, which costs a tenth of a second. */
  const compare: Authenticate = async (request) => {
    const mailbox = await findMailboxByAddress(app.db.read, addressKey(request.username));
    if (mailbox && 'proof' in request) {
      const proven = await findProven(await listVerifiers(app, mailbox, request), request);
      return proven ? { mailbox, ...proven } : { refused: 'credentials' };
    }
    if (!mailbox || 'proof' in request || request.protocol === 'dashboard') return { refused: 'credentials' };
    const row = await findEntered(app, mailbox.id, request);
    if (row) return { mailbox, credential: { kind: 'app-password', row } };
    return request.password === PASSWORD
      ? { mailbox, credential: { kind: 'password' } }
      : { refused: 'credentials' };
  };
  const authenticate: Authenticate = async (request) => {
    const result = await compare(request);
    await afterComparison();
    return result;
  };
  const openLogins = createOpenLogins(app);
  const logins = { authenticate, openLogins };
  const listener = await openSubmission(app, { store: STARTTLS.certificates }, logins);
  const [tls = 0, starttls = 0] = listener.addresses.map((address) => Number(address.split(':').at(-1)));
  const clients = new Set<TestClient>();
  after(async () => {
    for (const { socket } of clients) socket.destroy();
    await listener.close();
    openLogins.close();
    await spool.close();
  });

  async function open(localAddress = '127.0.0.1'): Promise<TestClient> {
    // Ids of one millisecond are in no order.
    await spool.clock.advance(1);
    const socket = connectTls({
      socket: connect({ host: '127.0.0.1', port: tls, localAddress, noDelay: true }),
      rejectUnauthorized: false,
    });
    const client = createClient(socket);
    clients.add(client);
    await client.reply();
    await client.ask('EHLO client.example\r\n');
    return client;
  }

  return {
    ...spool,
    openLogins,
    ports: { tls, starttls },
    ann,
    open,
    async logIn(username = ann.address, password = PASSWORD) {
      const client = await open();
      const reply = await client.ask(`AUTH PLAIN ${plain(username, password)}\r\n`);
      if (!reply.startsWith('235')) throw new Error(reply);
      return client;
    },
    messages: () => app.db.read.selectFrom('messages').selectAll().orderBy('id').execute(),
    async queued(reply) {
      const [id = ''] = /em_[0-9a-z]{26}/.exec(reply) ?? [];
      return app.db.read.selectFrom('messages').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    },
    recipients: (messageId) => listRecipients(app.db.read, messageId),
    async raw({ blobId }) {
      if (blobId === null) return '';
      const pieces: Buffer[] = [];
      for await (const piece of (await app.blobs.open(blobId)).chunks()) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
  };
}

/** Returns the answer of the mechanism PLAIN. */
export function plain(username: string, password: string, authority = ''): string {
  return Buffer.from(`${authority}\0${username}\0${password}`).toString('base64');
}

/** Connects to the port with STARTTLS and reads the banner. */
export async function dialPlain(port: number): Promise<TestClient> {
  const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
  await client.reply();
  return client;
}

type Mail = {
  from?: string;
  to?: string | readonly string[];
  message?: string;
  parameters?: string;
  recipientParameters?: string;
};

export const MESSAGE =
  'From: Ann <ann@people.example>\r\nTo: bob@receiver.example\r\nSubject: Hi\r\n\r\nHello\r\n';

/** Sends a message, whose last line has its CRLF, in a session, and returns the last reply: that to the message, or the first refusal. */
export async function submit(
  client: TestClient,
  {
    from = 'ann@people.example',
    to = 'bob@receiver.example',
    message = MESSAGE,
    parameters = '',
    recipientParameters = '',
  }: Mail = {},
): Promise<string> {
  const commands = [
    `MAIL FROM:<${from}>${parameters}`,
    ...[to].flat().map((address) => `RCPT TO:<${address}>${recipientParameters}`),
    'DATA',
  ];
  for (const command of commands) {
    const reply = await client.ask(`${command}\r\n`);
    if (!/^[23]/.test(reply)) {
      await client.ask('RSET\r\n');
      return reply;
    }
  }
  return client.ask(`${message}.\r\n`);
}
