/**
 * Stores the wall time every minute, and notices a clock that was set back: at the start against the stored time, and
 * afterwards against the monotonic clock.
 */
import type { ClockWatch } from '../system/clock-watch.ts';
import { errorMessage } from '../system/errors.ts';
import type { System } from '../system/system.ts';
import type { WakeupName } from '../system/wakeups.ts';
import { periodic, type RunningWork, startWork } from '../system/worker.ts';
import type { Db } from './database.ts';
import type { SetBack } from './due-times.ts';
import { advanceInstallation } from './installation/store.ts';

type ClockApp = Pick<System, 'clock' | 'log' | 'wakeups'> & { db: Db; clockWatch: Pick<ClockWatch, 'check'> };

/** Work of one feature that falls due at stored times. */
export type DueWork = {
  /** Moves the due times with a clock that was set back. */
  move(db: Db, setBack: SetBack): Promise<void>;
  /** Wakes the worker, whose work may have fallen due by the move. */
  wakeup?: WakeupName;
};

/**
 * Period in which the time is stored, in milliseconds. After a kill the stored time is at most this old, so a set-back
 * may be measured too short by this much.
 */
const PERIOD_MS = 60_000;

/**
 * Moves due times when the clock was set back, and then stores the new time. It runs once before the workers start. A
 * start that fails later, such as on a port in use, must not move the due times again when it is repeated.
 */
export async function followClock(app: ClockApp, works: readonly DueWork[]): Promise<void> {
  const setBackMs = app.clockWatch.check();
  if (setBackMs === 0) return;
  app.log.error(
    { setBackMs },
    'the clock was set back: due times of deliveries and retries move with it, scheduled mail waits for its time',
  );
  const setBack = { now: app.clock.now(), setBackMs };
  await Promise.all(works.map(({ move }) => move(app.db, setBack)));
  for (const { wakeup } of works) if (wakeup) app.wakeups.notify(wakeup);
  await app.db.commit(advanceInstallation, { now: setBack.now });
}

/** Starts the periodic check. `stop` stores the time once more. */
export function startInstallationWork(app: ClockApp, works: readonly DueWork[]): RunningWork {
  const advance = () => app.db.commit(advanceInstallation, { now: app.clock.now() });
  const running = startWork(
    app,
    periodic(app.clock, {
      name: 'installation',
      periodMs: PERIOD_MS,
      async run() {
        await followClock(app, works);
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
