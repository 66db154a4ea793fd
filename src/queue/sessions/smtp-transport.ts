/**
 * Sends claims to the hosts of a site. A connection stays open across messages, and the next message may begin before
 * the reply to the last one has come.
 */
import type { Claim } from '../claim.ts';
import { DELIVERY_DEADLINE_MS } from '../claim.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { Route } from '../site/route.ts';
import type { Site } from '../site/site.ts';
import type { Attempt, MayEnd, Transport } from '../transport.ts';
import { connect, hasBrokenOff, type OpenSession } from './connect.ts';
import { mayCarry } from './requirements.ts';
import { type Transacted, transact } from './transact.ts';

/**
 * Time that an open connection waits for more mail. It is short, because an idle connection counts against the peer's
 * limits.
 */
const IDLE_MS = 5_000;
/** Maximum number of messages on one connection. Large providers ask for no more. */
const MESSAGES_PER_CONNECTION = 100;

/** The part of a site that its connections use. The route may change while the transport lives. */
type SmtpSite = Pick<Site, 'pace' | 'addresses' | 'route' | 'startSending'>;

export class SmtpTransport implements Transport {
  readonly #app: DeliveryApp;
  readonly #site: SmtpSite;
  /** Returns true when a peer that delays its answer is abandoned early (mail/smtp/client/timeouts.ts). */
  readonly #isPressed: () => boolean;
  /** Transactions whose last reply is outstanding. */
  readonly #transactions = new Set<Promise<Transacted>>();
  #session: OpenSession | undefined;
  #sentMessages = 0;
  #wasRefused = false;

  constructor(app: DeliveryApp, site: SmtpSite, isPressed: () => boolean) {
    this.#app = app;
    this.#site = site;
    this.#isPressed = isPressed;
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

  /** Connects unless a connection is open that may carry the mail. Mail for a suspended site is deferred instead. */
  async open(claim: Claim): Promise<Outcome | undefined> {
    if (this.#session && !(this.isConnected && this.#mayCarry(claim))) await this.#quit();
    if (this.#session) {
      claim.conversation.push(...this.#session.opening);
      return undefined;
    }
    const { random, clock } = this.#app;
    const { addresses, pace, route } = this.#site;
    const attempts = Math.max(...claim.recipients.map((recipient) => recipient.attempts));
    const suspended = pace.suspendedOutcome(random, clock.elapsed(), attempts);
    if (suspended) return suspended;
    const begunAt = clock.elapsed();
    const connected = await connect(this.#app, routeToHosts(route), {
      claim,
      addresses,
      deadline: claim.claimedAt + DELIVERY_DEADLINE_MS,
      isPressed: this.#isPressed,
    });
    this.#app.monitor.observePart('open', clock.elapsed() - begunAt);
    this.#wasRefused = connected.kind === 'closed';
    if (connected.kind === 'closed') {
      if (connected.wasTried) pace.refused(connected.outcome, clock.elapsed());
      return connected.outcome;
    }
    pace.connected();
    this.#session = connected.session;
    this.#sentMessages = 0;
    return undefined;
  }

  #mayCarry(claim: Claim): boolean {
    const session = this.#session;
    if (!session || hasBrokenOff(claim, session.peer.address)) return false;
    return mayCarry(session, claim);
  }

  async transact(claim: Claim, onReady: () => void, mayEnd?: MayEnd): Promise<Attempt> {
    const session = this.#session;
    if (!session) throw new Error('no session is open');
    if (!this.#site.startSending(claim)) return { kind: 'released' };
    const { clock } = this.#app;
    const startedAt = clock.elapsed();
    this.#sentMessages++;
    const sending = transact(this.#app, session, {
      claim,
      isFirst: this.#sentMessages === 1,
      onReady,
      mayEnd,
      isPressed: this.#isPressed,
    });
    this.#transactions.add(sending);
    const { verdicts, signature, undecided, brokeOff } = await sending.finally(() =>
      this.#transactions.delete(sending),
    );
    const now = clock.elapsed();
    if (brokeOff) {
      this.#site.addresses.avoid(session.peer.address, now);
      this.#site.pace.brokeOff();
    }
    this.#adaptPace(
      [...verdicts.values()].map(({ outcome }) => outcome),
      now,
    );
    return { kind: 'evaluated', verdicts, undecided, signature, durationMs: Math.round(now - startedAt) };
  }

  /**
   * Adapts the pace of the site to the transaction as a whole, however many recipients it had. A 421 reply is about
   * the session, not about the mail (RFC 5321 section 3.8).
   */
  #adaptPace(outcomes: readonly Outcome[], now: number): void {
    const goodbye = outcomes.find(({ report }) => report.smtpCode === 421);
    if (goodbye) this.#site.pace.refused(goodbye, now);
    else if (outcomes.some(({ kind }) => kind === 'delivered')) this.#site.pace.delivered(now);
  }

  async closeWhenFull(): Promise<void> {
    if (this.#sentMessages >= MESSAGES_PER_CONNECTION) await this.#quit();
  }

  close(): Promise<void> {
    return this.#quit();
  }

  /** Ends the SMTP session once the peer has answered everything that was sent. */
  async #quit(): Promise<void> {
    await Promise.allSettled(this.#transactions);
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    if (session.smtp.isOpen()) void session.smtp.quit();
    else session.smtp.close();
  }
}

function routeToHosts(route: Route): Extract<Route, { kind: 'hosts' }> {
  if (route.kind !== 'hosts') throw new Error(`${route.site} has no hosts`);
  return route;
}
