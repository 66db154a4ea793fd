/**
 * Sends claims to the hosts of a site. A connection stays open across messages, and the next message may begin before
 * the reply to the last one has come.
 */
import type { Claim } from '../claim.ts';
import { DELIVERY_DEADLINE_MS } from '../claim.ts';
import type { Connection } from '../connection.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import { cleanReport, type Outcome } from '../outcome/outcome.ts';
import type { Route } from '../site/route.ts';
import {
  type Attempt,
  type Evaluated,
  MAX_TRIES,
  type MayEnd,
  notSent,
  putBack,
  type Transport,
} from '../transport.ts';
import { connect, hasBrokenOff, type OpenSession } from './connect.ts';
import { mayCarry } from './requirements.ts';
import type { SessionContext } from './session-context.ts';
import { brokenOffAt, type Transacted, transact } from './transact.ts';

/**
 * Time that an open connection waits for more mail. It is short, because an idle connection counts against the peer's
 * limits.
 */
const IDLE_MS = 5_000;
/** Reply code of a server that closes the connection (RFC 5321 section 3.8). */
const GOODBYE = 421;
/** Why a connection that the operator has cut has failed. Senders see it when mail is deferred for it. */
const ENDED_BY_OPERATOR = 'the operator of the sending server ended the connection';

/** The part of the context that connections use. The route may change while the transport lives. */
type SmtpContext = Omit<SessionContext, 'next' | 'putBack' | 'settled'>;

export class SmtpTransport implements Transport {
  readonly #app: DeliveryApp;
  readonly #context: SmtpContext;
  /** Transactions whose last reply is outstanding. */
  readonly #transactions = new Set<Promise<Transacted>>();
  readonly #cut = new AbortController();
  #session: OpenSession | undefined;
  #connection: Connection | null = null;
  #sentMessages = 0;
  #wasRefused = false;

  constructor(app: DeliveryApp, context: SmtpContext) {
    this.#app = app;
    this.#context = context;
  }

  get connection(): Connection | null {
    return this.#connection && { ...this.#connection, messages: this.#sentMessages };
  }

  get isConnected(): boolean {
    return this.#session?.smtp.isOpen() ?? false;
  }

  get isLost(): boolean {
    return this.#wasRefused || (this.#session !== undefined && !this.isConnected);
  }

  get idleMs(): number {
    return this.#session ? IDLE_MS : 0;
  }

  /**
   * Connects unless a connection is open that may carry the mail. A site that says goodbye while others of its connections work
   * takes no more of them, and one of these carries the mail.
   */
  async open(claim: Claim): Promise<Evaluated | undefined> {
    if (this.#session && !(this.isConnected && this.#mayCarry(claim))) await this.#quit();
    if (this.#session) {
      claim.conversation.push(...this.#session.opening);
      return undefined;
    }
    const { clock } = this.#app;
    const { addresses, route, isPressed } = this.#context;
    const begunAt = clock.elapsed();
    const connected = await connect(this.#app, routeToHosts(route), {
      claim,
      addresses,
      deadline: claim.claimedAt + DELIVERY_DEADLINE_MS,
      isPressed,
      cut: this.#cut.signal,
      onTry: (host, address) => {
        const since = clock.elapsed();
        this.#connection = { host, address, tls: null, since, isOpen: false, messages: 0 };
      },
    });
    this.#app.monitor.observePart('open', clock.elapsed() - begunAt);
    this.#wasRefused = connected.kind === 'closed';
    if (connected.kind === 'open') {
      this.#use(connected.session);
      return undefined;
    }
    const { outcome, wasTried } = connected;
    const tried = this.#connection;
    this.#connection = null;
    if (this.#cut.signal.aborted) return tried ? passOn(claim, outcome, tried) : notSent(claim, outcome);
    const isSentByOthers =
      outcome.report.smtpCode === GOODBYE && claim.tries < MAX_TRIES && this.#context.isServedByOthers();
    if (wasTried) this.#reportRefusal(outcome);
    return isSentByOthers ? putBack(claim) : notSent(claim, outcome);
  }

  #use(session: OpenSession): void {
    this.#session = session;
    this.#sentMessages = 0;
    if (this.#connection) this.#connection = { ...this.#connection, tls: session.peer.tls, isOpen: true };
    if (this.#cut.signal.aborted) session.smtp.close(this.#cut.signal.reason);
  }

  /** The text of a refusal becomes the reason of a rest, which is shown. */
  #reportRefusal({ report }: Outcome): void {
    const { smtpCode, text } = cleanReport(report);
    const kind = smtpCode === GOODBYE ? 'goodbye' : 'unreachable';
    this.#context.report({ kind: 'refused', refusal: { kind, text } });
  }

  #mayCarry(claim: Claim): boolean {
    const session = this.#session;
    if (!session || hasBrokenOff(claim, session.peer.address)) return false;
    return mayCarry(session, claim);
  }

  async transact(claim: Claim, onReady: () => void, mayEnd?: MayEnd): Promise<Attempt> {
    const session = this.#session;
    if (!session) throw new Error('no session is open');
    if (!this.#context.startSending(claim)) return { kind: 'released' };
    const { clock } = this.#app;
    const startedAt = clock.elapsed();
    this.#sentMessages++;
    const sending = transact(this.#app, session, {
      claim,
      isFirst: this.#sentMessages === 1,
      onReady,
      mayEnd,
      isPressed: this.#context.isPressed,
    });
    this.#transactions.add(sending);
    const { signature, brokeOff, ...transacted } = await sending.finally(() =>
      this.#transactions.delete(sending),
    );
    const now = clock.elapsed();
    const hostBrokeOff = this.#cut.signal.aborted ? undefined : brokeOff;
    if (hostBrokeOff) this.#context.addresses.avoid(session.peer.address, now);
    this.#reportOutcomes(
      [...transacted.verdicts.values()].map(({ outcome }) => outcome),
      hostBrokeOff,
    );
    // When the site rests from now on, no other session is there for the mail.
    const { verdicts, undecided } =
      hostBrokeOff && this.#context.isResting() ? decideBy(hostBrokeOff, transacted) : transacted;
    return { kind: 'evaluated', verdicts, undecided, signature, transactionMs: Math.round(now - startedAt) };
  }

  /**
   * Reports the transaction as a whole, however many recipients it had. A 421 reply is about the session, not about the mail
   * (RFC 5321 section 3.8).
   */
  #reportOutcomes(outcomes: readonly Outcome[], brokeOff: Outcome | undefined): void {
    const goodbye = outcomes.find(({ report }) => report.smtpCode === GOODBYE);
    if (goodbye) this.#reportRefusal(goodbye);
    else if (brokeOff) this.#context.report({ kind: 'broke-off', text: cleanReport(brokeOff.report).text });
    else if (outcomes.some(({ kind }) => kind === 'delivered')) this.#context.report({ kind: 'accepted' });
  }

  async closeWhenFull(): Promise<void> {
    if (this.#sentMessages >= this.#context.messagesPerConnection) await this.#quit();
  }

  close(): Promise<void> {
    return this.#quit();
  }

  /** A message that an operator has cut off says nothing about the host. It goes to another one, unless its end was sent. */
  cut(): void {
    const reason = new Error(ENDED_BY_OPERATOR);
    this.#cut.abort(reason);
    this.#session?.smtp.close(reason);
  }

  /** Ends the SMTP session once the peer has answered everything that was sent. */
  async #quit(): Promise<void> {
    await Promise.allSettled(this.#transactions);
    const session = this.#session;
    this.#session = undefined;
    this.#connection = null;
    if (!session) return;
    if (session.smtp.isOpen()) void session.smtp.quit();
    else session.smtp.close();
  }
}

/** Returns the attempt of a claim whose connection was cut while it was opened. Another session tries another address. */
function passOn(claim: Claim, outcome: Outcome, { address }: Connection): Evaluated {
  if (claim.tries >= MAX_TRIES) return notSent(claim, outcome);
  return putBack({ ...claim, brokenOff: brokenOffAt(claim, address, outcome) });
}

function routeToHosts(route: Route): Extract<Route, { kind: 'hosts' }> {
  if (route.kind !== 'hosts') throw new Error(`${route.site} has no hosts`);
  return route;
}

/** Gives recipients that another session could have tried the outcome of this one. */
function decideBy(
  outcome: Outcome,
  { verdicts, undecided }: Pick<Transacted, 'verdicts' | 'undecided'>,
): Pick<Transacted, 'verdicts' | 'undecided'> {
  const decided = new Map(verdicts);
  for (const { id } of undecided?.recipients ?? []) decided.set(id, { outcome });
  return { verdicts: decided, undecided: undefined };
}
