/**
 * Stores the wall time every minute, and notices a clock that was set back: at the start against the stored time, and
 * afterwards against the monotonic clock.
 */
import type { ClockWatch } from '../system/clock-watch.ts';
import { errorMessage } from '../system/errors.ts';
import type { System } from '../system/system.ts';
import { periodic, type RunningWork, startWork } from '../system/worker.ts';
import type { Db } from './database.ts';
import type { SetBack } from './due-times.ts';
import { advanceInstallation } from './installation/store.ts';

type ClockApp = Pick<System, 'clock' | 'log' | 'wakeups'> & { db: Db; clockWatch: Pick<ClockWatch, 'check'> };

/** Moves all due times with a clock that was set back, and wakes the work that may have fallen due by the move. */
type MoveDueTimes = (setBack: SetBack) => Promise<void>;

/**
 * Period in which the time is stored, in milliseconds. After a kill the stored time is at most this old, so a set-back
 * may be measured too short by this much.
 */
const PERIOD_MS = 60_000;

/**
 * Moves due times when the clock was set back, and then stores the new time. It runs once before the workers start. A
 * start that fails later, such as on a port in use, must not move the due times again when it is repeated.
 */
export async function followClock(app: ClockApp, move: MoveDueTimes): Promise<void> {
  const setBackMs = app.clockWatch.check();
  if (setBackMs === 0) return;
  app.log.error(
    { setBackMs },
    'the clock was set back: due times of deliveries and retries move with it, scheduled mail waits for its time',
  );
  const now = app.clock.now();
  await move({ now, setBackMs });
  await app.db.commit(advanceInstallation, { now });
}

/** Starts the periodic check. `stop` stores the time once more. */
export function startInstallationWork(app: ClockApp, move: MoveDueTimes): RunningWork {
  const advance = () => app.db.commit(advanceInstallation, { now: app.clock.now() });
  const running = startWork(
    app,
    periodic(app.clock, {
      name: 'installation',
      periodMs: PERIOD_MS,
      async run() {
        await followClock(app, move);
        await advance();
      },
    }),
  );
  return {
    async stop(graceMs) {
      await running.stop(graceMs);
      await advance().catch((error) =>
        app.log.warn({ reason: errorMessage(error) }, 'the time of the stop could not be stored'),
      );
    },
  };
}
