/**
 * Sends a broadcast step by step, as a test decides: the workers take single steps, and claims stay in the hands of the
 * test until it delivers them. It keeps what every contact has got.
 */
import type { App } from '../../../src/app.ts';
import { createBroadcastKind } from '../../../src/broadcasts/worker.ts';
import type { Claim } from '../../../src/queue/claim.ts';
import { NO_REPORT, type Outcome, verdictForAll } from '../../../src/queue/outcome/outcome.ts';
import { attemptWith, deliverBy, type Spool } from '../../support/spool.ts';
import { runDueTasks } from '../../support/tasks.ts';

export type Stepper = {
  /** Number of times that each address got the broadcast. */
  got: Map<string, number>;
  /** Claims that are not delivered yet. */
  readonly claims: number;
  /** Takes one step of the broadcasts' work, if one is due. Returns true when there was one. */
  step(): Promise<boolean>;
  /** Claims all copies that are due. Returns their number. */
  claim(): Promise<number>;
  /** Ends the attempt to deliver one claim. By default its message is delivered. */
  deliver(kind?: 'delivered' | 'deferred'): Promise<void>;
  /** Takes steps, claims and delivers until nothing is left to do at this time. */
  drain(): Promise<void>;
};

const report = { ...NO_REPORT, phase: 'data' as const, text: 'As the test says' };
/** Maximum number of rounds, so that a round that achieves nothing fails the test instead of hanging it. */
const MAX_ROUNDS = 5_000;

/** `app` is the application that the workers see, by default that of the spool. */
export function createStepper(spool: Spool, app: App = spool.app): Stepper {
  const kind = createBroadcastKind(app);
  const got = new Map<string, number>();
  const claims: Claim[] = [];

  async function step(): Promise<boolean> {
    return (await runDueTasks(app, kind, 1)).length > 0;
  }

  async function claim(): Promise<number> {
    const claimed = await spool.claim();
    claims.push(...claimed);
    return claimed.length;
  }

  async function deliver(kind: 'delivered' | 'deferred' = 'delivered'): Promise<void> {
    const next = claims.shift();
    if (!next) return;
    await deliverBy(app, next, async ({ recipients }) => {
      const outcome: Outcome = { kind, report };
      if (kind === 'delivered')
        for (const { address } of recipients) got.set(address, (got.get(address) ?? 0) + 1);
      return attemptWith(verdictForAll(next, outcome));
    });
  }

  return {
    got,
    get claims() {
      return claims.length;
    },
    step,
    claim,
    deliver,
    async drain() {
      for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
        const stepped = await step();
        const claimed = await claim();
        const open = claims.length;
        while (claims.length > 0) await deliver();
        if (!stepped && claimed === 0 && open === 0) return;
      }
      throw new Error('the broadcast does not come to rest');
    },
  };
}
