/** Makes a backup every day at the configured time, and removes old ones. */
import type { App } from '../app.ts';
import { DAY_MS } from '../system/clock.ts';
import type { Work } from '../system/worker.ts';
import type { Backups } from './backups.ts';
import { backupFolder, listOwnBackups } from './format.ts';
import { pruneBackups } from './prune.ts';

/** Time after which a backup that has failed is tried again, in milliseconds. */
const RETRY_MS = 3_600_000;
/** Time after which a restored installation, which makes no backups by itself, is looked at again, in milliseconds. */
const HELD_MS = 60_000;

type NightlyApp = Pick<App, 'clock' | 'config' | 'egress' | 'log'> & {
  backups: Pick<Backups, 'create'>;
};

/**
 * Returns the daily backup as work. A backup that was missed, because the daemon did not run at its time, is made at the next
 * start.
 */
export function createDailyBackup({ clock, config, egress, log, backups }: NightlyApp): Work<'run'> {
  const folder = backupFolder(config);
  /** Time of the monotonic clock until which no backup is tried: the wall clock may be set back. */
  let restsUntil = 0;
  return {
    name: 'daily backup',
    async lease() {
      const { time } = config.backup;
      if (time === '') return { items: [], nextDueAt: undefined };
      const now = clock.now();
      if (egress.isHeld) return { items: [], nextDueAt: now + HELD_MS };
      const restMs = restsUntil - clock.elapsed();
      if (restMs > 0) return { items: [], nextDueAt: now + restMs };
      const plannedAt = lastTime(time, now);
      // A folder that cannot be read has no backup to rely on. Making one says why it fails, and not each second.
      const found = await listOwnBackups(config.dataDir, folder).catch(() => []);
      // A backup from the future was made before the clock was set back, and says nothing about today.
      const isMade = found.some(({ facts: { takenAt } }) => takenAt >= plannedAt && takenAt <= now);
      if (isMade) return { items: [], nextDueAt: plannedAt + DAY_MS };
      restsUntil = clock.elapsed() + RETRY_MS;
      return { items: ['run'], nextDueAt: now + RETRY_MS };
    },
    async run() {
      try {
        const { keep } = config.backup;
        const { installation } = (await backups.create()).facts;
        const removed = await pruneBackups({ folder, keep, installation, now: clock.now() });
        if (removed.length > 0) log.info({ removed: removed.length, keep }, 'old backups were removed');
      } catch (error) {
        log.error({ err: error, retryInMs: RETRY_MS }, 'the daily backup failed');
      }
    },
  };
}

/** Returns the last time before now that is this time of day in UTC. */
function lastTime(time: string, now: number): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const today = Math.floor(now / DAY_MS) * DAY_MS + (hours * 60 + minutes) * 60_000;
  return today <= now ? today : today - DAY_MS;
}
