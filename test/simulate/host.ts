/** A mail server that follows the plan of its host. It keeps what it takes and says so to the checks. */
import { TLSSocket } from 'node:tls';
import type { Answer, HostEnd, Link } from './network.ts';
import type { Observe } from './observation.ts';
import type { HostPlan, MailPlan, Phase, TroubleKind } from './plan.ts';
import type { Choices } from './random.ts';
import { type Certificates, TlsEnd } from './tls-end.ts';
import type { VirtualTime } from './virtual-time.ts';

export type HostWorld = {
  time: VirtualTime;
  observe: Observe;
  choices: Choices;
  fateOf(address: string): MailPlan['recipients'][number]['fate'];
  /** Returns true for a message that this host takes for spam. */
  isSpam(mail: string): boolean;
  nextId: () => number;
  certificates: Certificates;
};

/** Time after which a slow host answers. It is longer than that of a pressed session (mail/smtp/client/timeouts.ts). */
const SLOW_MS = 40_000;
/** Time after which a host speaks on an idle connection. It is shorter than that for which the daemon keeps one. */
const IDLE_MS = 2_000;
const DOT = Buffer.from('\r\n.\r\n');
/** The reply to mail that a host takes for spam. */
export const SPAM = '554 5.7.1 Message rejected as spam';

export class Host {
  readonly plan: HostPlan;
  readonly world: HostWorld;
  /** Times at which recipients were first put off. */
  readonly greylisted = new Map<string, number>();
  readonly deferredOnce = new Set<string>();
  #open = 0;
  #offers = 0;

  constructor(plan: HostPlan, world: HostWorld) {
    this.plan = plan;
    this.world = world;
  }

  readonly answer: Answer = (link) => {
    const trouble = this.drawTrouble('connect');
    if (trouble === 'hang') return 'silent';
    if (trouble === 'refuse') return 'refused';
    this.#open++;
    link.onClosed = () => this.#open--;
    const session = new HostSession(this, link);
    if (trouble === 'drop') session.drop();
    else session.greet(this.plan.maxConnections !== null && this.#open > this.plan.maxConnections);
    return session;
  };

  /** Returns what goes wrong in this phase now, if anything does. */
  drawTrouble(phase: Phase): TroubleKind | undefined {
    const { time, choices } = this.world;
    for (const trouble of this.plan.troubles) {
      if (trouble.phase !== phase || time.now < trouble.fromMs || time.now >= trouble.untilMs) continue;
      if (choices.chance(trouble.share)) return trouble.kind;
    }
    return undefined;
  }

  /** Returns true when this session is offered STARTTLS. */
  offersTls(): boolean {
    if (this.plan.tls === 'stripped') return ++this.#offers % 2 === 0;
    return this.plan.tls !== 'none';
  }
}

type Reply = { text: string; next?: 'close' | 'start-tls'; onArrival?: () => void };

class HostSession implements HostEnd {
  readonly #host: Host;
  readonly #link: Link;
  #input: Buffer = Buffer.alloc(0);
  #tls: { socket: TLSSocket; end: TlsEnd } | undefined;
  #isReadingContent = false;
  #isMute = false;
  #hasEnded = false;
  #answersAt = 0;
  #messages = 0;
  #mail: string | undefined;
  #recipients: string[] = [];
  /** Number of lines that were read, by which a host knows that a connection is idle. */
  #lines = 0;

  constructor(host: Host, link: Link) {
    this.#host = host;
    this.#link = link;
  }

  greet(isFull: boolean): void {
    if (isFull) this.#reply('', { text: '421 4.7.0 too many connections', next: 'close' });
    else this.#answer('banner', '', () => ({ text: '220 ready' }));
  }

  drop(): void {
    this.#isMute = true;
    this.#link.closeByHost();
    this.#end();
  }

  onBytes(bytes: Buffer): void {
    if (this.#tls) this.#tls.end.receive(bytes);
    else this.#read(bytes);
  }

  onClose(): void {
    this.#isMute = true;
    this.#end();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#tls?.socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#input = this.#input.length === 0 ? bytes : Buffer.concat([this.#input, bytes]);
    while (!this.#isMute && this.#input.length > 0) {
      if (this.#isReadingContent) {
        const end = this.#input.indexOf(DOT);
        if (end < 0) return;
        this.#input = this.#input.subarray(end + DOT.length);
        this.#isReadingContent = false;
        if (this.#mail !== undefined && this.#host.world.isSpam(this.#mail)) this.#refuse('dot', '.', SPAM);
        else this.#answer('dot', '.', () => this.#take());
        continue;
      }
      const end = this.#input.indexOf('\r\n');
      if (end < 0) return;
      const line = this.#input.subarray(0, end).toString('latin1');
      this.#input = this.#input.subarray(end + 2);
      this.#lines++;
      this.#obey(line);
    }
  }

  #obey(line: string): void {
    const verb = line.slice(0, 4).toUpperCase();
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        this.#answer('ehlo', line, () => ({ text: this.#extensions() }));
        break;
      case 'STAR':
        this.#answer('starttls', line, () => ({ text: '220 go ahead', next: 'start-tls' }));
        break;
      case 'MAIL':
        this.#answer('mail', line, () => this.#begin(line));
        break;
      case 'RCPT':
        this.#answer('rcpt', line, () => this.#addRecipient(line));
        break;
      case 'DATA':
        this.#answer('data', line, () => this.#askForContent());
        break;
      case 'RSET':
        this.#forget();
        this.#reply(line, { text: '250 ok' });
        break;
      case 'QUIT':
        this.#link.close();
        this.#reply(line, { text: '221 bye', next: 'close' });
        break;
      default:
        this.#reply(line, { text: '500 unknown command' });
        break;
    }
  }

  /** Answers in a phase, or does what goes wrong in it. */
  #answer(phase: Phase, line: string, proceed: () => Reply): void {
    const trouble = this.#host.drawTrouble(phase);
    switch (trouble) {
      case undefined:
        this.#reply(line, proceed());
        break;
      case 'slow':
        this.#reply(line, proceed(), SLOW_MS);
        break;
      case 'hang':
        this.#isMute = true;
        this.#link.isStalled = true;
        this.#note(line, '');
        break;
      case 'drop':
        this.#note(line, '(drops)');
        this.drop();
        break;
      case 'lost-reply':
        proceed();
        this.#note(line, '(takes it and drops)');
        this.drop();
        break;
      case 'garbage':
        this.#reply(line, { text: 'what is\u0000 this' });
        break;
      case 'goodbye':
        this.#reply(line, { text: '421 4.3.2 going down', next: 'close' });
        break;
      case 'defer':
        this.#refuse(phase, line, '451 4.3.0 try again later');
        break;
      case 'refuse':
        this.#refuse(phase, line, '550 5.7.1 refused');
        break;
    }
  }

  #refuse(phase: Phase, line: string, text: string): void {
    if (text.startsWith('5')) this.#noteRefusal(phase, line, text);
    if (phase === 'dot') this.#forget();
    this.#reply(line, { text, ...(phase === 'banner' && { next: 'close' }) });
  }

  #noteRefusal(phase: Phase, line: string, reply: string): void {
    const { observe } = this.#host.world;
    const named = phase === 'rcpt' ? [addressIn(line)] : this.#recipients;
    // A refusal of MAIL, or before it, is one of everything that the daemon may send in the session.
    const addresses = phase === 'rcpt' || phase === 'dot' || phase === 'data' ? named : ['*'];
    observe({ kind: 'refused', connection: this.#link.facts, addresses, reply });
  }

  #extensions(): string {
    const offered = [
      ...(this.#host.plan.isPipelining ? ['PIPELINING'] : []),
      ...(!this.#tls && this.#host.offersTls() ? ['STARTTLS'] : []),
      ...(this.#tls ? ['REQUIRETLS'] : []),
    ];
    const lines = ['host', ...offered];
    return lines.map((text, index) => `250${index === lines.length - 1 ? ' ' : '-'}${text}`).join('\r\n');
  }

  #begin(line: string): Reply {
    const { messagesPerConnection } = this.#host.plan;
    if (messagesPerConnection !== null && this.#messages >= messagesPerConnection)
      return { text: '421 4.7.0 enough for one connection', next: 'close' };
    this.#forget();
    const mail = addressIn(line).split('@')[0] ?? '';
    this.#mail = mail;
    this.#host.world.observe({ kind: 'mail', connection: this.#link.facts, mail });
    return { text: '250 ok' };
  }

  #addRecipient(line: string): Reply {
    if (this.#mail === undefined) return { text: '503 5.5.1 MAIL first' };
    const address = addressIn(line);
    const text = this.#verdictOn(address);
    if (text.startsWith('2')) this.#recipients.push(address);
    if (text.startsWith('5')) this.#noteRefusal('rcpt', line, text);
    return { text };
  }

  #verdictOn(address: string): string {
    const { plan, world, greylisted, deferredOnce } = this.#host;
    const fate = world.fateOf(address);
    if (fate === 'unknown') return '550 5.1.1 no such user';
    if (fate === 'deferred-once' && !deferredOnce.has(address)) {
      deferredOnce.add(address);
      return '452 4.2.2 mailbox full';
    }
    if (plan.greylistMs === 0) return '250 ok';
    const since = greylisted.get(address);
    if (since === undefined) greylisted.set(address, world.time.now);
    const isKnown = since !== undefined && world.time.now - since >= plan.greylistMs;
    return isKnown ? '250 ok' : '451 4.7.1 greylisted, try again later';
  }

  #askForContent(): Reply {
    if (this.#recipients.length === 0) return { text: '503 5.5.1 no valid recipients' };
    this.#isReadingContent = true;
    // The first line of the content may be its last.
    this.#input = Buffer.concat([Buffer.from('\r\n'), this.#input]);
    const trouble = this.#host.drawTrouble('body');
    if (trouble !== undefined) this.#failInContent(trouble);
    return { text: '354 go on' };
  }

  #failInContent(kind: TroubleKind): void {
    const { time } = this.#host.world;
    time.after(2 * this.#host.plan.latencyMs + this.#host.plan.answerMs, () => {
      if (this.#isMute || !this.#isReadingContent) return;
      if (kind === 'drop') this.drop();
      else if (kind === 'goodbye') this.#reply('(content)', { text: '421 4.3.2 going down', next: 'close' });
      else {
        this.#isMute = true;
        this.#link.isStalled = true;
      }
    });
  }

  #take(): Reply {
    const { observe, nextId } = this.#host.world;
    const id = nextId();
    const addresses = this.#recipients;
    this.#messages++;
    observe({ kind: 'taken', connection: this.#link.facts, id, addresses });
    this.#forget();
    return { text: '250 2.0.0 taken', onArrival: () => observe({ kind: 'confirmed', id }) };
  }

  #forget(): void {
    this.#mail = undefined;
    this.#recipients = [];
  }

  /** Sends a reply, after those before it. */
  #reply(line: string, { text, next, onArrival }: Reply, delayMs = this.#host.plan.answerMs): void {
    this.#note(line, text);
    const { time } = this.#host.world;
    this.#answersAt = Math.max(this.#answersAt, time.now) + delayMs;
    if (next === 'close') this.#isMute = true;
    time.after(this.#answersAt - time.now, () => {
      if (this.#hasEnded) return;
      this.#send(Buffer.from(`${text}\r\n`, 'latin1'), onArrival);
      if (next === 'start-tls') this.#startTls();
      if (next === 'close') {
        this.#link.closeByHost();
        this.#end();
      } else this.#watchIdle();
    });
  }

  #send(bytes: Buffer, onArrival: (() => void) | undefined): void {
    if (!this.#tls) {
      this.#link.send(bytes, onArrival);
      return;
    }
    // The bytes of the record leave when the cipher has written them, which it does at once.
    this.#tls.end.onNextRecord = onArrival;
    this.#tls.socket.write(bytes);
  }

  /** Speaks or leaves when the daemon has nothing more to say. */
  #watchIdle(): void {
    if (this.#messages === 0 || this.#isReadingContent) return;
    const { time } = this.#host.world;
    const lines = this.#lines;
    time.after(IDLE_MS, () => {
      if (this.#hasEnded || this.#isMute || this.#lines !== lines) return;
      const trouble = this.#host.drawTrouble('idle');
      if (trouble === 'drop') this.drop();
      if (trouble === 'goodbye')
        this.#reply('(idle)', { text: '421 4.4.2 idle for too long', next: 'close' });
    });
  }

  #startTls(): void {
    const { tls } = this.#host.plan;
    if (tls === 'broken') {
      this.drop();
      return;
    }
    const { certificates } = this.#host.world;
    const end = new TlsEnd((bytes, onArrival) => this.#link.send(bytes, onArrival));
    const secureContext = tls === 'invalid' ? certificates.invalid : certificates.valid;
    const socket = new TLSSocket(end as never, { isServer: true, secureContext });
    socket.on('error', () => this.drop());
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    this.#tls = { socket, end };
    this.#link.facts.tls = tls === 'invalid' ? 'invalid' : 'valid';
  }

  #note(line: string, reply: string): void {
    this.#host.world.observe({ kind: 'said', connection: this.#link.facts, line, reply });
  }
}

function addressIn(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? '';
}
