/** A listener of each mail protocol with memory sessions on loopback, and how an honest client of it begins. */
import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { listenImap } from '../../../src/mail/imap/server.ts';
import { listenManageSieve } from '../../../src/mail/managesieve/server.ts';
import { listenPop3 } from '../../../src/mail/pop3/server.ts';
import { listenSmtp } from '../../../src/mail/smtp/server/server.ts';
import { createCertificateStore } from '../../../src/system/certificates.ts';
import type { Listener } from '../../../src/system/listen.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createEmptyMail, USER as IMAP_USER } from '../../support/account-mail.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createMemoryMaildrop, USER as POP3_USER } from '../../support/memory-pop3-session.ts';
import { createMemorySessions } from '../../support/memory-smtp-session.ts';
import { recordLog } from '../../support/record-log.ts';
import { EC_PAIR } from '../../system/certificate-pairs.ts';
import { createImapSessions } from '../imap/fixture.ts';
import { createMemoryScripts, LOGIN as SIEVE_LOGIN } from '../managesieve/fixture.ts';

/** Text that a client sends, and the pattern that the whole response must match. `TLS` begins the handshake. */
export type Step = readonly [sent: string, response: RegExp];
type Mode = 'starttls' | 'immediate';
type Common = {
  section: string;
  at: { address: string; port: number };
  hostname: string;
  tls: { mode: Mode; certificates: ReturnType<typeof createCertificateStore> };
};
type Limits = { connections: number; connectionsPerMinute?: number };
type World = Pick<Parameters<typeof listenSmtp>[0], 'clock' | 'log' | 'metrics'>;

export type ProtocolCase = {
  name: string;
  mode: Mode;
  listen(world: World, common: Common, limits: Limits): Promise<Listener>;
  /** Steps until the client has logged in, or has handed over a message. */
  honest: readonly Step[];
  /** A command that leads to nothing, and what it is answered. */
  idle: Step;
  /** Responses to a client when the listener is full, before its greeting and after it. */
  refusal: RegExp;
  eviction: RegExp;
};

/** All connections share one session: each session of its own would hash the password of its user. */
const shared =
  <Session>(session: Session) =>
  () =>
    session;

const base64 = (text: string) => Buffer.from(text).toString('base64');
const GREETING: Step = ['', /^220 .*\r\n$/];
const EHLO: Step = ['EHLO client.example\r\n', /^250 .*\r\n$/m];
const MESSAGE: readonly Step[] = [
  ['MAIL FROM:<a@sender.example>\r\n', /^250/],
  ['RCPT TO:<b@test.example>\r\n', /^250/],
  ['DATA\r\n', /^354/],
  ['Subject: x\r\n\r\nx\r\n.\r\n', /^250/],
];
const LOGIN: Step = [`AUTH PLAIN ${base64('\0ann\0secret')}\r\n`, /^235/];
const STARTTLS: readonly Step[] = [
  ['STARTTLS\r\n', /^220/],
  ['TLS', /^/],
];

function smtp(
  name: string,
  mode: Mode,
  { honest, isSubmission }: { honest: readonly Step[]; isSubmission: boolean },
): ProtocolCase {
  return {
    name,
    mode,
    honest,
    listen: (world, common, limits) =>
      listenSmtp(world, {
        ...common,
        protocol: 'smtp',
        limits,
        ...(isSubmission && { submission: { maxHoldSeconds: 60 } }),
        openSession: createMemorySessions().openSession,
      }),
    idle: ['NOOP\r\n', /^250 2\.0\.0 .*\r\n$/],
    refusal: /^421 mail\.test has too many connections\r\n$/,
    eviction: /^421 4\.3\.2 mail\.test has too many connections\r\n$/m,
  };
}

function imap(name: string, mode: Mode): ProtocolCase {
  return {
    name,
    mode,
    async listen(world, common, limits) {
      const sessions = createImapSessions(await createEmptyMail(), world);
      return await listenImap(world, { ...common, limits, openSession: sessions.openSession });
    },
    honest: [
      ['', /^\* OK .*\r\n$/],
      [`a LOGIN ${IMAP_USER.username} "${IMAP_USER.password}"\r\n`, /^a OK .*\r\n$/m],
    ],
    idle: ['x NOOP\r\n', /^x OK .*\r\n$/m],
    refusal: /^\* BYE \[UNAVAILABLE\] mail\.test has too many connections\r\n$/,
    eviction: /^\* BYE \[UNAVAILABLE\] mail\.test has too many connections\r\n$/m,
  };
}

function pop3(name: string, mode: Mode): ProtocolCase {
  return {
    name,
    mode,
    listen: (world, common, limits) =>
      listenPop3(world, {
        ...common,
        implementation: 'Test',
        limits,
        // A maildrop is for one client at a time.
        openSession: () => createMemoryMaildrop().openSession(world),
      }),
    honest: [
      ['', /^\+OK .*\r\n$/],
      [`USER ${POP3_USER.username}\r\n`, /^\+OK/],
      [`PASS ${POP3_USER.password}\r\n`, /^\+OK/],
    ],
    idle: ['CAPA\r\n', /^\+OK[\s\S]*\r\n\.\r\n$/],
    refusal: /^-ERR \[SYS\/TEMP\] mail\.test has too many connections\r\n$/,
    eviction: /^-ERR \[SYS\/TEMP\] mail\.test has too many connections\r\n$/m,
  };
}

const MANAGESIEVE: ProtocolCase = {
  name: 'managesieve',
  mode: 'starttls',
  listen: (world, common, limits) =>
    listenManageSieve(world, {
      ...common,
      implementation: 'Test',
      extensions: [],
      maxRedirects: 1,
      limits,
      openSession: shared(createMemoryScripts().openSession()),
    }),
  honest: [
    ['', /^OK "mail\.test is ready"\r\n$/m],
    [`${SIEVE_LOGIN}\r\n`, /^OK.*\r\n$/m],
  ],
  idle: ['NOOP\r\n', /^OK.*\r\n$/],
  refusal: /^BYE \(TRYLATER\) "mail\.test has too many connections"\r\n$/,
  eviction: /^BYE \(TRYLATER\) "mail\.test has too many connections"\r\n$/m,
};

/** The listeners of a daemon, by the names of their sections. */
export const PROTOCOLS: readonly ProtocolCase[] = [
  smtp('smtp', 'starttls', { honest: [GREETING, EHLO, ...MESSAGE], isSubmission: false }),
  smtp('submission_tls', 'immediate', { honest: [GREETING, EHLO, LOGIN, ...MESSAGE], isSubmission: true }),
  smtp('submission', 'starttls', {
    honest: [GREETING, EHLO, ...STARTTLS, EHLO, LOGIN, ...MESSAGE],
    isSubmission: true,
  }),
  imap('imap', 'immediate'),
  imap('imap_starttls', 'starttls'),
  pop3('pop3', 'immediate'),
  pop3('pop3_starttls', 'starttls'),
  MANAGESIEVE,
];

export type TestListener = {
  clock: FakeClock;
  /** Connects from this address, and begins TLS where the listener does. */
  connect(localAddress?: string): Promise<Dialogue>;
  /** Connects without a word. */
  dial(localAddress: string): Socket;
  /** Returns a value of the metrics of the listener; 0 when there is none. */
  metric(name: string): Promise<number>;
};

/** Starts a listener whose clock stands still. */
export async function startListener(
  t: Pick<TestContext, 'after'>,
  protocol: ProtocolCase,
  { address = '127.0.0.1', ...limits }: Limits & { address?: string },
): Promise<TestListener> {
  const clock = createFakeClock(0);
  const metrics = createMetrics(clock);
  const tls = { mode: protocol.mode, certificates: createCertificateStore([EC_PAIR]) };
  const common = { section: protocol.name, at: { address, port: 0 }, hostname: 'mail.test', tls };
  const listener = await protocol.listen({ clock, log: recordLog().log, metrics }, common, limits);
  const port = Number(listener.address.split(':').at(-1));
  const sockets = new Set<Socket>();
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    const closed = listener.close(0);
    await clock.advance(0);
    await closed;
  });
  const dial = (localAddress: string): Socket => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => {});
    sockets.add(socket);
    return socket;
  };
  return {
    clock,
    dial,
    async connect(localAddress = '127.0.0.1') {
      const dialogue = new Dialogue(dial(localAddress));
      if (protocol.mode === 'immediate') await dialogue.encrypt();
      return dialogue;
    },
    async metric(name) {
      const { text } = await metrics.show();
      const value = new RegExp(
        `^postrider_${name}(?:\\{listener="${protocol.name}"[^}]*\\})? (\\d+)$`,
        'm',
      ).exec(text);
      return Number(value?.[1] ?? 0);
    },
  };
}

/** A client that sends a step, and waits for the response. */
export class Dialogue {
  #socket: Socket;
  #input = '';
  #isClosed = false;
  #wake = (): void => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen();
  }

  /** Begins TLS. Resolves also when the connection ends instead. */
  async encrypt(): Promise<void> {
    this.#socket.removeAllListeners('data').removeAllListeners('close');
    this.#socket = connectTls({ socket: this.#socket, rejectUnauthorized: false });
    this.#listen();
    await new Promise<void>((resolve) => {
      this.#socket.once('secureConnect', resolve).once('close', () => resolve());
    });
  }

  /** Returns the response to a step. @throws when the connection ends, or the response is another one */
  async run([sent, response]: Step): Promise<string> {
    this.#input = sent === '' ? this.#input : '';
    if (sent === 'TLS') await this.encrypt();
    else this.#socket.write(sent);
    while (!response.test(this.#input)) {
      if (this.#isClosed) throw new Error(`${sent.trim()} was answered ${JSON.stringify(this.#input)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#input;
  }

  /** Returns everything that has come, once the connection has ended. */
  async rest(): Promise<string> {
    while (!this.#isClosed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#input;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(octets: string): void {
    this.#socket.write(octets);
  }

  #listen(): void {
    this.#socket.on('error', () => {});
    this.#socket.on('data', (chunk: Buffer) => {
      this.#input += chunk.toString('latin1');
      this.#wake();
    });
    this.#socket.on('close', () => {
      this.#isClosed = true;
      this.#wake();
    });
  }
}
