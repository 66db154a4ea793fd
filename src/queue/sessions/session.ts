/**
 * A session with a site takes one claim after another and delivers each, until no more mail comes. It may begin the
 * next claim before the last one is settled.
 */
import { findSimulatorReply } from '../../simulator/store.ts';
import type { Claim } from '../claim.ts';
import { deliver } from '../deliver.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import { NO_REPORT, type Outcome, verdictForAll } from '../outcome/outcome.ts';
import type { Site } from '../site/site.ts';
import type { Slot } from '../site/slots.ts';
import { notSent, type Transport } from '../transport.ts';
import { createDecidedTransport, deadEndOutcome, simulateDelivery } from './decided-transport.ts';
import { createLocalTransport } from './local-transport.ts';
import { SmtpTransport } from './smtp-transport.ts';

/**
 * Maximum number of claims of one session whose outcome is not stored yet. Those of a session with a host are at most two,
 * because a message ends only when the outcomes before it are stored.
 */
const MAX_UNSETTLED = 8;

/** Permits a session to continue while other mail waits for connections. */
export type SessionPermit = {
  slot: Slot;
  /** Returns true when a peer that delays its answer is abandoned early (mail/smtp/client/timeouts.ts). */
  isPressed(): boolean;
  /**
   * Is called after each claim. Returns false when others need the connection more; the session then ends once it has
   * delivered what is claimed. `isConnected` is true when the session can continue without connecting again.
   */
  shouldContinue(isConnected: boolean): boolean;
};

/** Runs a session with the site. Resolves when the session has ended and all its claims are settled. */
export function runSession(app: DeliveryApp, site: Site, permit: SessionPermit): Promise<void> {
  return new Session(app, site, { permit, transport: transportTo(app, site, permit) }).run();
}

function transportTo(app: DeliveryApp, site: Site, { isPressed }: SessionPermit): Transport {
  const { route } = site;
  switch (route.kind) {
    case 'simulator':
      return createDecidedTransport(app.clock, site, (claim) => simulateClaim(app, claim));
    case 'dead-end':
      return createDecidedTransport(app.clock, site, (claim) =>
        verdictForAll(claim, deadEndOutcome(route.domain, route.plan, claim)),
      );
    case 'local':
      return createLocalTransport(app, site, app.receiveLocally);
    case 'hosts':
      return new SmtpTransport(app, site, isPressed);
  }
}

/** Simulates the delivery of a claim. A reply that the tenant has chosen is for its test mail alone. */
async function simulateClaim({ config, db, replies }: DeliveryApp, claim: Claim) {
  const { tenantId, mode } = claim.message;
  const reply = mode === 'test' ? await findSimulatorReply(db.read, tenantId) : undefined;
  return simulateDelivery(config, claim, reply && { reply, replies });
}

const CONNECTION_GIVEN_UP: Outcome = {
  kind: 'deferred',
  report: {
    ...NO_REPORT,
    phase: 'local',
    fact: 'network',
    text: 'Not tried: the host did not answer while it was sent another email, and other mail needed the connection',
  },
};

/** Transport of a session that has given up its connection. */
const GIVEN_UP: Pick<Transport, 'open' | 'transact'> = {
  open: async () => CONNECTION_GIVEN_UP,
  transact: async (claim) => notSent(claim, CONNECTION_GIVEN_UP),
};

class Session {
  readonly #app: DeliveryApp;
  readonly #site: Site;
  readonly #permit: SessionPermit;
  readonly #transport: Transport;
  readonly #putBack = (undecided: Claim): void => this.#site.putBack(undecided);
  readonly #unsettled = new Set<Promise<void>>();
  /** True when other mail needs the connection and the peer hangs: what is claimed is deferred. */
  #isGivenUp = false;

  constructor(app: DeliveryApp, site: Site, options: { permit: SessionPermit; transport: Transport }) {
    this.#app = app;
    this.#site = site;
    this.#permit = options.permit;
    this.#transport = options.transport;
  }

  async run(): Promise<void> {
    try {
      let claim = await this.#site.take(0, this.#permit.slot);
      while (claim) {
        await this.#start(claim);
        await this.#transport.closeWhenFull();
        claim = await this.#next();
      }
    } finally {
      await Promise.all(this.#unsettled);
      await this.#transport.close();
    }
  }

  /**
   * Returns the next claim. A session that must give up its connection first delivers the claimed mail. If its peer
   * hangs, the session defers that mail instead.
   */
  #next(): Promise<Claim | undefined> {
    const { slot, shouldContinue, isPressed } = this.#permit;
    const { isConnected, isLost, idleMs } = this.#transport;
    if (!this.#isGivenUp && shouldContinue(isConnected)) return this.#site.take(idleMs, slot);
    this.#isGivenUp ||= isLost && isPressed();
    return this.#site.takeLast(slot);
  }

  /**
   * Starts the delivery of a claim. Resolves when the session may take the next claim, which can be before this one is
   * settled. The site learns that the claim has ended, whatever its outcome is.
   */
  async #start(claim: Claim): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const done = deliver(this.#app, claim, {
      transport: this.#isGivenUp ? GIVEN_UP : this.#afterOutcomes(),
      onReady: ready.resolve,
      putBack: this.#putBack,
    })
      .catch((error) =>
        this.#app.log.error({ err: error, messageId: claim.message.id }, 'an outcome could not be stored'),
      )
      .finally(() => {
        this.#unsettled.delete(done);
        this.#site.settled(claim.id);
        ready.resolve();
      });
    this.#unsettled.add(done);
    await ready.promise;
    if (this.#unsettled.size >= MAX_UNSETTLED) await Promise.race(this.#unsettled);
  }

  /**
   * Returns the transport for the next claim. The message ends once the outcomes of those before it are stored, so that a
   * crash leaves one message of the session in doubt at most.
   */
  #afterOutcomes(): Pick<Transport, 'open' | 'transact'> {
    const transport = this.#transport;
    const before = [...this.#unsettled];
    const mayEnd = () => (before.length > 0 ? Promise.all(before) : undefined);
    return {
      open: (claim) => transport.open(claim),
      transact: (claim, onReady) => transport.transact(claim, onReady, mayEnd),
    };
  }
}
