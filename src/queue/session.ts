/**
 * A session with a site takes one delivery after another and delivers each, until no more mail comes. A session with
 * a mail server stays open across messages, and starts the next delivery before the last one is settled.
 */
import type { RecipientRow } from '../db/tables.ts';
import { connect, type OpenSession } from './connect.ts';
import { type Claimed, type DeliveryApp, deliver } from './deliver.ts';
import { NO_REPORT, type Outcome, verdictForAll } from './outcome.ts';
import { judgeDeadEnd, type Route } from './route.ts';
import { judgeSender } from './sender.ts';
import { simulateDelivery } from './simulate.ts';
import type { Site } from './site.ts';
import type { Slot } from './slots.ts';
import { DELIVERY_DEADLINE_MS, type TransactOptions, transact } from './transact.ts';

/**
 * Time that an open connection waits for more mail (engine.md 4, connection lifecycle: 5 to 30 s). It is short,
 * because an idle connection counts against the peer's limits.
 */
const IDLE_MS = 5_000;
/** Maximum number of messages on one connection. Large providers ask for no more (engine.md 2). */
const MESSAGES_PER_CONNECTION = 100;
/**
 * Maximum number of deliveries of one session whose outcome is not stored yet. A crash sends no more than these
 * twice.
 */
const MAX_UNSETTLED = 8;

/** Permits a session to continue while other mail waits for connections. */
export type SessionPermit = {
  slot: Slot;
  /** Returns true when a peer that delays its answer is abandoned early (mail/smtp/client/timeouts.ts). */
  isPressed(): boolean;
  /**
   * Is called after each delivery. Returns false when others need the connection more; the session then ends once it
   * has delivered what is claimed. `isConnected` is true when the session can continue without connecting again.
   */
  shouldContinue(isConnected: boolean): boolean;
};

/** Runs a session with the site of the given route. Resolves when the session has ended and all its mail is settled. */
export function runSession(app: DeliveryApp, site: Site, permit: SessionPermit): Promise<void> {
  const { route } = site;
  switch (route.kind) {
    case 'simulator':
      return deliverLocally(app, site, permit, (claimed) => simulateDelivery(app.config, claimed));
    case 'dead-end':
      return deliverLocally(app, site, permit, (claimed) =>
        verdictForAll(claimed, judgeDeadEnd(route.domain, route.plan, claimed)),
      );
    case 'hosts':
      return new DeliverySession(app, site, permit).run();
  }
}

const DEADLINE_PASSED: Outcome = {
  kind: 'deferred',
  report: { ...NO_REPORT, phase: 'local', text: 'Not tried: mail before it took too long' },
};

const CONNECTION_GIVEN_UP: Outcome = {
  kind: 'deferred',
  report: {
    ...NO_REPORT,
    phase: 'local',
    text: 'Not tried: the host did not answer while it was sent another email, and other mail needed the connection',
  },
};

type Judgement = ReturnType<typeof verdictForAll>;

/** Delivers the mail of a site that needs no connection. */
async function deliverLocally(
  app: DeliveryApp,
  site: Site,
  { slot, shouldContinue }: SessionPermit,
  judge: (claimed: Claimed) => Judgement,
): Promise<void> {
  let next = await site.take(0, slot);
  while (next) {
    const claimed = next;
    await deliver(app, claimed, async () => ({ verdicts: judge(claimed), signature: null }));
    slot.settled();
    site.pace.delivered(app.clock.elapsed());
    next = shouldContinue(false) ? await site.take(0, slot) : await site.takeLast(slot);
  }
}

class DeliverySession {
  readonly #app: DeliveryApp;
  readonly #site: Site;
  readonly #permit: SessionPermit;
  readonly #unsettled = new Set<Promise<void>>();
  #session: OpenSession | undefined;
  #sentMessages = 0;
  /** True when the peer refused the session or broke it off. */
  #isLost = false;

  constructor(app: DeliveryApp, site: Site, permit: SessionPermit) {
    this.#app = app;
    this.#site = site;
    this.#permit = permit;
  }

  async run(): Promise<void> {
    const { slot } = this.#permit;
    try {
      let claimed = await this.#site.take(0, slot);
      while (claimed) {
        await this.#handOver(claimed);
        await this.#leaveWornSession();
        claimed = await this.#next();
      }
    } finally {
      await this.#leave();
    }
  }

  /**
   * Returns the next delivery. A session that must give up its connection first delivers the claimed mail. If its
   * peer hangs, the session defers that mail instead.
   */
  async #next(): Promise<Claimed | undefined> {
    const { slot, shouldContinue, isPressed } = this.#permit;
    const isConnected = this.#session?.smtp.isOpen() ?? false;
    if (this.#session && !isConnected) this.#isLost = true;
    if (shouldContinue(isConnected)) return this.#site.take(this.#session ? IDLE_MS : 0, slot);
    const mustLeave = this.#isLost && isPressed();
    let claimed = await this.#site.takeLast(slot);
    while (claimed && mustLeave) {
      await this.#settle(claimed, CONNECTION_GIVEN_UP);
      claimed = await this.#site.takeLast(slot);
    }
    return claimed;
  }

  async #settle(claimed: Claimed, outcome: Outcome): Promise<void> {
    const verdicts = verdictForAll(claimed, outcome);
    await deliver(this.#app, claimed, async () => ({ verdicts, signature: null }));
    this.#permit.slot.settled();
  }

  /** Starts a delivery. Resolves when the session may take the next one, which can be before this one is settled. */
  async #handOver(claimed: Claimed): Promise<void> {
    const { slot } = this.#permit;
    let verdict: Outcome | undefined;
    try {
      verdict = await this.#beforeSending(claimed);
    } catch (error) {
      await deliver(this.#app, claimed, () => Promise.reject(error));
      slot.settled();
      return;
    }
    if (verdict) return this.#settle(claimed, verdict);
    const session = this.#session;
    if (!session || this.#site.isAbandoned) return;
    this.#sentMessages++;
    this.#site.sending.add(claimed);
    const { promise, resolve } = Promise.withResolvers<void>();
    const options = {
      isFirst: this.#sentMessages === 1,
      onReady: resolve,
      isPressed: this.#permit.isPressed,
    };
    const done = deliver(this.#app, claimed, () => this.#send(session, claimed, options))
      .catch((error) => this.#app.log.error({ err: error, messageId: claimed.message.id }, 'work failed'))
      .finally(() => {
        resolve();
        this.#unsettled.delete(done);
        this.#site.sending.delete(claimed);
        slot.settled();
      });
    this.#unsettled.add(done);
    await promise;
    if (this.#unsettled.size >= MAX_UNSETTLED) await Promise.race(this.#unsettled);
  }

  /**
   * Returns an outcome that is known without sending: the sender is no longer verified, the site is suspended, or no
   * session could be opened. Returns undefined when the delivery can be sent.
   */
  async #beforeSending(claimed: Claimed): Promise<Outcome | undefined> {
    const { random, clock } = this.#app;
    // Earlier mail used up the time of this claim. A delivery that starts now could outlast its lease (claim.ts).
    if (clock.elapsed() >= claimed.claimedAt + DELIVERY_DEADLINE_MS) return DEADLINE_PASSED;
    const attempts = Math.max(...claimed.recipients.map((recipient) => recipient.attempts));
    const lapsed = await judgeSender(this.#app, claimed);
    if (lapsed) return lapsed;
    if (this.#session && !this.#session.smtp.isOpen()) await this.#leave();
    if (this.#session) return undefined;
    const suspended = this.#site.pace.suspendedOutcome(random, clock.elapsed(), attempts);
    if (suspended) return suspended;
    return this.#open(claimed);
  }

  async #open(claimed: Claimed): Promise<Outcome | undefined> {
    const { route, addresses, pace } = this.#site;
    const deadline = claimed.claimedAt + DELIVERY_DEADLINE_MS;
    const { isPressed } = this.#permit;
    const connected = await connect(this.#app, hostsOf(route), { claimed, addresses, deadline, isPressed });
    this.#isLost = connected.kind === 'closed';
    if (connected.kind === 'closed') {
      if (connected.wasTried) pace.refused(connected.outcome, this.#app.clock.elapsed());
      return connected.outcome;
    }
    pace.connected();
    this.#session = connected.session;
    this.#sentMessages = 0;
    return undefined;
  }

  async #send(session: OpenSession, claimed: Claimed, options: TransactOptions) {
    const { verdicts, signature, undecided, brokeOff } = await transact(this.#app, session, claimed, options);
    const now = this.#app.clock.elapsed();
    if (brokeOff) {
      this.#site.addresses.avoid(session.peer.address, now);
      this.#site.pace.brokeOff();
    }
    if (undecided.length > 0) this.#site.putBack(handedBack(claimed, undecided, brokeOff));
    this.#learn(
      [...verdicts.values()].map(({ outcome }) => outcome),
      now,
    );
    return { verdicts, signature };
  }

  /**
   * Adapts the pace of the site to the transaction as a whole, however many recipients it had. A 421 reply is about
   * the session, not about the mail (RFC 5321 3.8).
   */
  #learn(outcomes: readonly Outcome[], now: number): void {
    const goodbye = outcomes.find(({ report }) => report.smtpCode === 421);
    if (goodbye) this.#site.pace.refused(goodbye, now);
    else if (outcomes.some(({ kind }) => kind === 'delivered')) this.#site.pace.delivered(now);
  }

  async #leaveWornSession(): Promise<void> {
    if (this.#session && this.#sentMessages >= MESSAGES_PER_CONNECTION) await this.#leave();
  }

  /** Ends the SMTP session once everything that was sent is settled. */
  async #leave(): Promise<void> {
    await Promise.all(this.#unsettled);
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    if (session.smtp.isOpen()) void session.smtp.quit();
    else session.smtp.close();
  }
}

function handedBack(claimed: Claimed, recipients: RecipientRow[], brokeOff: Outcome | undefined): Claimed {
  return { ...claimed, recipients, tries: claimed.tries + 1, brokenOff: brokeOff ?? claimed.brokenOff };
}

function hostsOf(route: Route) {
  if (route.kind !== 'hosts') throw new Error(`${route.site} has no hosts`);
  return route.hosts;
}
