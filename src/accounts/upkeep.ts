/** Removes regularly what an open account no longer needs (remove-unused.ts). */
import { releaseMemory } from '../db/private-database.ts';
import { DAY_MS, type Timer } from '../system/clock.ts';
import { runForOwner } from '../system/slices.ts';
import type { OpenAccount } from './account.ts';
import { removeUnused, sweepStrayFiles } from './remove-unused.ts';

/** Time between two runs, and between the opening and the first one. Our own. */
const UPKEEP_PERIOD_MS = 600_000;

type Upkeep = {
  /** Ends the runs, waits for the one that is under way, and runs once more. */
  stop(): Promise<void>;
};

/** Starts the upkeep of an account. */
export function startUpkeep(account: OpenAccount): Upkeep {
  const { clock } = account.app;
  let timer: Timer;
  let running = Promise.resolve();
  let sweptAt = Number.NEGATIVE_INFINITY;
  const schedule = () => {
    timer = clock.after(UPKEEP_PERIOD_MS, () => {
      running = run(account, async () => {
        await removeUnused(account);
        await releaseMemory(account.db);
        if (clock.elapsed() - sweptAt < DAY_MS) return;
        sweptAt = clock.elapsed();
        await sweepStrayFiles(account);
      }).then(schedule);
    });
  };
  schedule();
  return {
    async stop() {
      timer.cancel();
      await running;
      timer.cancel();
      await run(account, () => removeUnused(account));
    },
  };
}

/** A failure is logged, since the next run may succeed. Damage of the database is reported by the account itself. */
async function run({ id, app: { log } }: OpenAccount, work: () => Promise<void>): Promise<void> {
  try {
    await runForOwner(id, work);
  } catch (error) {
    log.warn({ err: error, mailbox: id }, 'the upkeep of a mailbox failed');
  }
}
