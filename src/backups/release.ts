/** Shows what a restored installation keeps back, and releases it. */
import type { App } from '../app.ts';
import { findRestoredAt, recordReleased } from '../db/installation/store.ts';
import { sumWaiting, type WaitingMail } from '../queue/due-store.ts';
import { countTasks } from '../tasks/read-store.ts';
import { backupFolder } from './format.ts';
import { type LastRestore, readLastRestore } from './last-restore.ts';

export type Restoration = {
  /** Time of the restoration in Unix milliseconds; null when nothing is kept back. */
  restoredAt: number | null;
  /** Result of the last restoration; null when there was none, or when something other than `restore` has restored the data. */
  last: LastRestore | null;
  /** Recipients whose mail waits. */
  mail: WaitingMail;
  /** Background work that waits, by kind. Broadcasts and confirmations make mail, and webhooks and routes are posted. */
  tasks: { kind: string; waiting: number }[];
  /** Dynamic updates of DNS, which begin with the release; null without a server in the configuration. */
  dnsUpdates: { server: string; zones: readonly string[] } | null;
  /** The daily backup, which begins with the release, into a folder that the other installation may use; null without one. */
  dailyBackup: { time: string; folder: string } | null;
  /** Command that copies each backup off this host from the release on; null without one. */
  copyCommand: readonly string[] | null;
};

type ReleaseApp = Pick<App, 'clock' | 'config' | 'db' | 'egress' | 'log' | 'wakeups'>;

/** Returns what would leave. With a maximum, each number of recipients is at most one more than it. */
export async function findRestoration(
  { config, db, clock }: Pick<ReleaseApp, 'clock' | 'config' | 'db'>,
  maximum: number | null = null,
): Promise<Restoration> {
  const [restoredAt, mail, tasks] = await Promise.all([
    findRestoredAt(db.read),
    db.query(sumWaiting, { now: clock.now(), maximum }),
    db.query(countTasks, undefined),
  ]);
  const waiting = tasks
    .filter((one) => one.waiting > 0)
    .map(({ kind, waiting: count }) => ({ kind, waiting: count }));
  const last = readLastRestore(config.dataDir) ?? null;
  return { restoredAt, last, mail, tasks: waiting, ...beginningOf(config) };
}

/** Returns what begins with the release by the configuration, and waits in no table. */
function beginningOf(config: App['config']): Pick<Restoration, 'dnsUpdates' | 'dailyBackup' | 'copyCommand'> {
  const { server, zones } = config.dns.update;
  const { time, command } = config.backup;
  return {
    dnsUpdates: server === '' ? null : { server, zones },
    dailyBackup: time === '' ? null : { time, folder: backupFolder(config) },
    copyCommand: command.length === 0 ? null : command,
  };
}

/** Lets everything leave that was kept back, and returns what that is. Running it again changes nothing. */
export async function releaseRestored(app: ReleaseApp): Promise<Restoration> {
  const found = await findRestoration(app);
  if (found.restoredAt === null) return found;
  await app.db.commit(recordReleased, null);
  app.egress.release();
  app.wakeups.notify('queue');
  app.wakeups.notify('tasks');
  app.log.warn({ recipients: found.mail.due + found.mail.later }, 'the restored installation was released');
  return found;
}
