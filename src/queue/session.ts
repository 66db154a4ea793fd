/**
 * One session with a site: it takes delivery after delivery and carries each there, until nothing more comes.
 * With mail servers it keeps a session open across messages, and hands the next one over before the last is answered.
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
import { DELIVERY_DEADLINE_MS, type Turn, transact } from './transact.ts';

/** engine.md 4, connection lifecycle: 5 to 30 s. Short, because an idle connection counts against the peer's limits. */
const IDLE_MS = 5_000;
/** On one connection; large providers ask for no more (engine.md 2). */
const MESSAGES_PER_CONNECTION = 100;
/** Deliveries of one session whose outcome is not on disk yet. A crash sends no more than these twice. */
const MAX_UNSETTLED = 8;

/** Permits a session to continue while other mail waits for connections. */
export type SessionPermit = {
  slot: Slot;
  /** Returns true when a peer that makes us wait is to be given up early (mail/smtp/client/timeouts.ts). */
  isPressed(): boolean;
  /**
   * Is called after each delivery. Returns false when others need the connection more; the session then ends once it
   * has delivered what is claimed. `isConnected` is true when the session can continue without connecting again.
   */
  shouldContinue(isConnected: boolean): boolean;
};

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

const ITS_TURN_CAME_TOO_LATE: Outcome = {
  kind: 'deferred',
  report: { ...NO_REPORT, phase: 'local', text: 'Not tried: mail before it took too long' },
};

const CONNECTION_NEEDED_ELSEWHERE: Outcome = {
  kind: 'deferred',
  report: {
    ...NO_REPORT,
    phase: 'local',
    text: 'Not tried: the host did not answer while it was sent another email, and other mail needed the connection',
  },
};

type Judgement = ReturnType<typeof verdictForAll>;

/** For what needs no connection. */
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
  #carried = 0;
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
   * Returns the next delivery. A session that has to give up its connection first delivers what is claimed, or defers
   * it if the peer hangs.
   */
  async #next(): Promise<Claimed | undefined> {
    const { slot, shouldContinue, isPressed } = this.#permit;
    const isConnected = this.#session?.smtp.isOpen() ?? false;
    if (this.#session && !isConnected) this.#isLost = true;
    if (shouldContinue(isConnected)) return this.#site.take(this.#session ? IDLE_MS : 0, slot);
    const mustLeave = this.#isLost && isPressed();
    let claimed = await this.#site.takeLast(slot);
    while (claimed && mustLeave) {
      await this.#settle(claimed, CONNECTION_NEEDED_ELSEWHERE);
      claimed = await this.#site.takeLast(slot);
    }
    return claimed;
  }

  async #settle(claimed: Claimed, outcome: Outcome): Promise<void> {
    const verdicts = verdictForAll(claimed, outcome);
    await deliver(this.#app, claimed, async () => ({ verdicts, signature: null }));
    this.#permit.slot.settled();
  }

  /** Resolves when the next delivery may be taken, which is before this one is answered and settled. */
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
    this.#carried++;
    this.#site.sending.add(claimed);
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = {
      isFirst: this.#carried === 1,
      onReady: resolve,
      isPressed: this.#permit.isPressed,
    };
    const done = deliver(this.#app, claimed, () => this.#send(session, claimed, turn))
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

  /** A verdict that stands without sending, or that comes of the session that could not be had. */
  async #beforeSending(claimed: Claimed): Promise<Outcome | undefined> {
    const { random, clock } = this.#app;
    // Somebody slow was before it. To begin now would end the session of others, or outlast the lease (claim.ts).
    if (clock.elapsed() >= claimed.claimedAt + DELIVERY_DEADLINE_MS) return ITS_TURN_CAME_TOO_LATE;
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
    this.#carried = 0;
    return undefined;
  }

  async #send(session: OpenSession, claimed: Claimed, turn: Turn) {
    const { verdicts, signature, undecided, brokeOff } = await transact(this.#app, session, claimed, turn);
    const now = this.#app.clock.elapsed();
    if (brokeOff) {
      this.#site.addresses.avoid(session.peer.address, now);
      this.#site.pace.brokeOff();
    }
    if (undecided.length > 0) this.#site.putBack(again(claimed, undecided, brokeOff));
    this.#learn(
      [...verdicts.values()].map(({ outcome }) => outcome),
      now,
    );
    return { verdicts, signature };
  }

  /** Of the transaction as a whole, however many recipients it had. RFC 5321 3.8: a 421 is about the session, not about
   * the mail. */
  #learn(outcomes: readonly Outcome[], now: number): void {
    const goodbye = outcomes.find(({ report }) => report.smtpCode === 421);
    if (goodbye) this.#site.pace.refused(goodbye, now);
    else if (outcomes.some(({ kind }) => kind === 'delivered')) this.#site.pace.delivered(now);
  }

  async #leaveWornSession(): Promise<void> {
    if (this.#session && this.#carried >= MESSAGES_PER_CONNECTION) await this.#leave();
  }

  /** Says goodbye once everything sent has been answered. */
  async #leave(): Promise<void> {
    await Promise.all(this.#unsettled);
    const session = this.#session;
    this.#session = undefined;
    if (!session) return;
    if (session.smtp.isOpen()) void session.smtp.quit();
    else session.smtp.close();
  }
}

function again(claimed: Claimed, recipients: RecipientRow[], brokeOff: Outcome | undefined): Claimed {
  return { ...claimed, recipients, tries: claimed.tries + 1, brokenOff: brokeOff ?? claimed.brokenOff };
}

function hostsOf(route: Route) {
  if (route.kind !== 'hosts') throw new Error(`${route.site} has no hosts`);
  return route.hosts;
}
