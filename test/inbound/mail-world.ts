/** The application with its listener for mail on loopback, and a client for one message. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { after } from 'node:test';
import type { App } from '../../src/app.ts';
import type {
  ReceivedMessageRow,
  ReceivedRecipientRow,
  ReceivedTaskRow,
} from '../../src/db/inbound-tables.ts';
import { isAsciiAddress } from '../../src/mail/address.ts';
import type { Authenticator } from '../../src/mail/auth/authenticator.ts';
import type { AuthenticationResult } from '../../src/mail/auth/result.ts';
import { createInboundApp, type InboundApp } from '../../src/receiving/inbound-app.ts';
import { openInbound } from '../../src/receiving/listener.ts';
import type { CrashPoint } from '../../src/system/crash-point.ts';
import type { System } from '../../src/system/system.ts';
import { addDomain } from '../domains/fixtures.ts';
import { createClient, STARTTLS, type TestClient } from '../mail/smtp/server/fixture.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type LogLine, recordLog } from '../support/record-log.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

/** Values that a test sets while it runs. `written` holds the bytes of the last message that the authenticator got. */
type Knobs = { crashPoint: CrashPoint; result: AuthenticationResult; written: string; inputs: unknown[] };

export type MailWorld = {
  test: TestApp;
  app: InboundApp;
  clock: FakeClock;
  /** Lines at level info and above. */
  lines: LogLine[];
  knobs: Knobs;
  port: number;
  /** Opens a session up to EHLO, from this address of the loopback network. */
  open(localAddress?: string): Promise<TestClient>;
  /** Adds a verified domain. Those added first receive the mail of a name. */
  addDomain(name: string, tenantId?: TestApp['tenantId']): Promise<void>;
  /** Adds a route with this address, at the domain of the tenant, and returns its id. */
  addRoute(address: string, options?: { enabled?: boolean; key?: string }): Promise<string>;
  messages(): Promise<ReceivedMessageRow[]>;
  recipients(): Promise<ReceivedRecipientRow[]>;
  tasks(): Promise<ReceivedTaskRow[]>;
  /** Closes the listener. */
  closeListener(): Promise<void>;
};

/** 2027-01-15T08:00:00Z. */
const START_MS = 1_800_000_000_000;

/** Opens the world for the tests of the calling file. `replace` puts parts of the app in place of its own. */
export async function openMailWorld(
  options: {
    env?: Record<string, string>;
    system?: Partial<System>;
    replace?: (app: App) => Partial<InboundApp>;
  } = {},
): Promise<MailWorld> {
  const clock = createFakeClock(START_MS);
  const knobs: Knobs = { crashPoint: () => {}, result: PASS, written: '', inputs: [] };
  const { log, lines } = recordLog('info');
  const test = await openTestApp({
    env: { POSTRIDER_SMTP_PORT: '0', POSTRIDER_SMTP_ADDRESS: '127.0.0.1', ...options.env },
    system: { clock, log, crashPoint: (...point) => knobs.crashPoint(...point), ...options.system },
  });
  const authenticator = fakeAuthenticator(knobs);
  const app: InboundApp = { ...createInboundApp(test.app), authenticator, ...options.replace?.(test.app) };
  const listener = await openInbound(app, { store: STARTTLS.certificates });
  const port = Number(listener.address.split(':').at(-1));
  const clients = new Set<TestClient>();
  const { read } = app.db;
  let domains = 0;
  after(async () => {
    for (const { socket } of clients) socket.destroy();
    await listener.close();
    await test.close();
  });
  return {
    test,
    app,
    clock,
    lines,
    knobs,
    port,
    async open(localAddress = '127.0.0.1') {
      // Ids of one millisecond are in no order.
      await clock.advance(1);
      const client = createClient(connect({ host: '127.0.0.1', port, localAddress, noDelay: true }));
      clients.add(client);
      await client.reply();
      await client.ask('EHLO mail.sender.example\r\n');
      return client;
    },
    async addDomain(name, tenantId = test.tenantId) {
      domains += 1;
      const id = `dom_${`${domains}`.padStart(26, '0')}` as const;
      await addDomain({ ...test, tenantId }, { id, name, status: 'verified', verifiedSince: domains });
    },
    async addRoute(address, { enabled = true, key = test.liveKey } = {}) {
      const body = { address, destination: 'https://shop.example/inbound', enabled };
      const created = await test.request('POST', '/v1/inbound/routes', { key, body });
      if (created.status !== 201) throw new Error(JSON.stringify(created.body));
      return created.body.id;
    },
    messages: () => read.selectFrom('receivedMessages').selectAll().orderBy('id').execute(),
    recipients: () =>
      read.selectFrom('receivedRecipients').selectAll().orderBy('messageId').orderBy('position').execute(),
    tasks: () =>
      read.selectFrom('receivedTasks').selectAll().orderBy('messageId').orderBy('position').execute(),
    closeListener: () => listener.close(),
  };
}

const SPF = { result: 'pass', domain: 'sender.example', reason: '' } as const;

/** Results of a message that passes everything. */
export const PASS: AuthenticationResult = {
  address: '127.0.0.1',
  spf: SPF,
  heloSpf: { ...SPF, domain: 'mail.sender.example' },
  dkim: [],
  dmarc: { result: 'pass', policy: undefined, domain: 'sender.example', reason: '' },
  arc: { result: 'none', sets: [], reason: '' },
  bimi: { result: 'none', location: undefined, authority: undefined },
  reverseDns: { result: 'pass', name: 'mail.sender.example' },
  from: { addresses: ['ann@sender.example'], fields: 1 },
};

/** Gives every message the result of the knobs. */
function fakeAuthenticator(knobs: Knobs): Authenticator {
  return {
    begin(input) {
      knobs.inputs.push(input);
      knobs.written = '';
      return {
        write(piece) {
          knobs.written += Buffer.from(piece).toString('latin1');
        },
        finish: async () => knobs.result,
        abort() {
          knobs.inputs.push('aborted');
        },
      };
    },
    close: async () => {},
  };
}

/** `dsn` has the parameters about notifications of MAIL and of each RCPT. */
type Mail = {
  from?: string;
  to: string | readonly string[];
  message?: string | Buffer;
  dsn?: { mail?: string; rcpt?: string } | undefined;
};

/** Sends a message in a session, and returns the last reply: that to the message, or the first refusal. */
export async function sendMail(
  client: TestClient,
  { from = 'ann@sender.example', to, message = 'Subject: Hello\r\n\r\nHi\r\n', dsn = {} }: Mail,
): Promise<string> {
  const parameters = [from, to].flat().every(isAsciiAddress) ? '' : ' SMTPUTF8';
  const { mail = '', rcpt = '' } = dsn;
  const commands = [
    `MAIL FROM:<${from}>${parameters} ${mail}`.trimEnd(),
    ...[to].flat().map((address) => `RCPT TO:<${address}> ${rcpt}`.trimEnd()),
  ];
  for (const command of commands) {
    const reply = await client.ask(`${command}\r\n`);
    if (!reply.startsWith('2')) {
      await client.ask('RSET\r\n');
      return reply;
    }
  }
  const ready = await client.ask('DATA\r\n');
  if (!ready.startsWith('354')) return ready;
  // A message that is large waits for the server to read it.
  if (!client.socket.write(message)) await once(client.socket, 'drain');
  return client.ask('\r\n.\r\n');
}
