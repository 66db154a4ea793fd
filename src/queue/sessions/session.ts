/**
 * A session with a site takes one claim after another and delivers each, until no more mail comes. It may begin the
 * next claim before the last one is settled.
 */
import { findSimulatorReply } from '../../simulator/store.ts';
import type { Claim } from '../claim.ts';
import { deliver } from '../deliver.ts';
import type { DeliveryApp } from '../delivery-app.ts';
import { NO_REPORT, type Outcome, verdictForAll } from '../outcome/outcome.ts';
import { notSent, type Transport } from '../transport.ts';
import { createDecidedTransport, deadEndOutcome, simulateDelivery } from './decided-transport.ts';
import { createLocalTransport } from './local-transport.ts';
import type { NextClaim, SessionContext } from './session-context.ts';
import { SmtpTransport } from './smtp-transport.ts';

/**
 * Maximum number of claims of one session whose outcome is not stored yet. Those of a session with a host are at most two,
 * because a message ends only when the outcomes before it are stored.
 */
const MAX_UNSETTLED = 8;

/** A session that runs. */
export type RunningSession = Pick<Transport, 'connection' | 'cut'> & {
  /** Resolves when the session has ended and all its claims are settled. */
  readonly ended: Promise<void>;
};

/** Starts a session with a site. */
export function startSession(app: DeliveryApp, context: SessionContext): RunningSession {
  const transport = transportTo(app, context);
  const ended = new Session(app, context, transport).run();
  return {
    ended,
    get connection() {
      return transport.connection;
    },
    cut: () => transport.cut(),
  };
}

function transportTo(app: DeliveryApp, context: SessionContext): Transport {
  const { route } = context;
  switch (route.kind) {
    case 'simulator':
      return createDecidedTransport(context, (claim) => simulateClaim(app, claim));
    case 'dead-end':
      return createDecidedTransport(context, (claim) =>
        verdictForAll(claim, deadEndOutcome(route.domain, route.plan, claim)),
      );
    case 'local':
      return createLocalTransport(app, context, app.receiveLocally);
    case 'hosts':
      return new SmtpTransport(app, context);
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
  open: async (claim) => notSent(claim, CONNECTION_GIVEN_UP),
  transact: async (claim) => notSent(claim, CONNECTION_GIVEN_UP),
};

class Session {
  readonly #app: DeliveryApp;
  readonly #context: SessionContext;
  readonly #transport: Transport;
  readonly #unsettled = new Set<Promise<void>>();

  constructor(app: DeliveryApp, context: SessionContext, transport: Transport) {
    this.#app = app;
    this.#context = context;
    this.#transport = transport;
  }

  async run(): Promise<void> {
    try {
      for (let next = await this.#next(); next; next = await this.#next()) {
        await this.#start(next);
        await this.#transport.closeWhenFull();
      }
    } finally {
      await Promise.all(this.#unsettled);
      await this.#transport.close();
    }
  }

  #next(): Promise<NextClaim | undefined> {
    const { isConnected, isLost, idleMs } = this.#transport;
    return this.#context.next({ isConnected, isLost, idleMs });
  }

  /**
   * Starts the delivery of a claim. Resolves when the session may take the next claim, which can be before this one is
   * settled. The schedule learns that the claim has ended, whatever its outcome is.
   */
  async #start({ claim, isGivenUp }: NextClaim): Promise<void> {
    const ready = Promise.withResolvers<void>();
    const done = deliver(this.#app, claim, {
      transport: isGivenUp ? GIVEN_UP : this.#afterOutcomes(),
      onReady: ready.resolve,
      putBack: this.#context.putBack,
    })
      .catch((error) =>
        this.#app.log.error({ err: error, messageId: claim.message.id }, 'an outcome could not be stored'),
      )
      .finally(() => {
        this.#unsettled.delete(done);
        this.#context.settled(claim.id);
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
