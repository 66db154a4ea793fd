/** The command `postrider backup restore`, and the commands `postrider restore`, which show and release what a restored installation keeps back. */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Restoration } from '../backups/release.ts';
import type { Restored } from '../backups/restore.ts';
import type { Config } from '../config/config.ts';
import { isoTime, realClock } from '../system/clock.ts';
import { confirm } from './confirm.ts';
import { contextOf, requestAction, withControl } from './context.ts';
import { explainStartFailure } from './start-failure.ts';
import { counted } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Returns the option of all commands that look for backups. */
export const folderOption = () =>
  new Option(
    '--folder <folder>',
    'folder of the backups (default: backup.folder, or backups/ in the data directory)',
  );

/** Returns the option of the commands that open encrypted backups. */
export const identityOption = () =>
  new Option(
    '--identity <file>',
    'file with the secret key (AGE-SECRET-KEY-1…) that opens an encrypted backup',
  );

/** Reads the secret keys of that file; none without one. */
export async function identitiesOf(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  const { readIdentities } = await import('../backups/identities.ts');
  return readIdentities(file);
}

/** Adds `backup restore` to the commands of backups. */
export function addBackupRestore(backup: Command, terminal: Terminal): void {
  backup
    .command('restore')
    .description(
      'Put a backup into the data directory, whose content is kept beside it. Stop the daemon first. Nothing leaves the restored installation until "postrider restore release". The newest backup unless a path is given.',
    )
    .argument('[backup]', 'path of the backup')
    .addOption(folderOption())
    .option('--to <directory>', 'data directory to restore into (default: dataDir)')
    .addOption(identityOption())
    .action(
      async (
        path: string | undefined,
        { folder, to, identity }: { folder?: string; to?: string; identity?: string },
        command: Command,
      ) => {
        const { config, show } = contextOf(command, terminal);
        const { backupFolder, newestBackup } = await import('../backups/format.ts');
        const found = path ?? (await newestBackup(config.dataDir, folder ?? backupFolder(config)));
        const restored = await restoreInto(
          { ...config, dataDir: resolve(to ?? config.dataDir) },
          { backup: resolve(found), identities: await identitiesOf(identity) },
        );
        show(restored, () => describeRestored(restored));
      },
    );
}

async function restoreInto(
  config: Config,
  source: { backup: string; identities: readonly string[] },
): Promise<Restored> {
  const { default: pino } = await import('pino');
  const { openApp } = await import('../app.ts');
  const { restoreBackup } = await import('../backups/restore.ts');
  const { createCrashPoint } = await import('../system/crash-point.ts');
  const log = pino({ level: 'error', base: null }, pino.destination({ fd: 2, sync: true }));
  try {
    return await restoreBackup({
      ...source,
      config,
      now: realClock.now(),
      open: (staged) => openApp(staged, { log }),
      crashPoint: createCrashPoint(config.faults.crashAt),
    });
  } catch (error) {
    throw explainStartFailure(error, config);
  }
}

function describeRestored({ dataDir, facts, mailboxes, replaced }: Restored): string {
  return [
    `${dataDir} has the state of ${isoTime(facts.takenAt)}.`,
    ...(replaced === null
      ? []
      : [`The data that was there is in ${replaced}; remove it when you no longer need it.`]),
    `${counted(mailboxes, 'mailbox gets', 'mailboxes get')} new UIDVALIDITYs when next opened, so that mail programs read them anew.`,
    'Nothing leaves this installation until "postrider restore release", which first shows what would leave.',
  ].join('\n');
}

/** Adds the commands `restore` to the program. */
export function addRestoreCommands(program: Command, terminal: Terminal): void {
  const restore = program
    .command('restore')
    .description(
      'Release a restored installation, from which nothing leaves before. "postrider backup restore" restores one.',
    );
  restore
    .command('status')
    .description('Show whether this installation was restored, and what would leave it.')
    .action(requestAction<Restoration>(terminal, { request: 'GET /restoration', text: describe }));
  restore
    .command('release')
    .description(
      'Let leave what was kept back: mail, webhooks, posts to routes, DNS updates, orders of certificates, rotations of keys and backups. Make sure first that the installation which this one is a copy of never starts again.',
    )
    .option('--yes', 'do not ask')
    .action(({ yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const found = await control.request<Restoration>('GET', '/restoration');
        if (found.restoredAt !== null && !yes) {
          terminal.complain(describe(found));
          await confirm(terminal, 'Let all this leave');
        }
        const released = await control.request<Restoration>('POST', '/restoration/release');
        show(released, () =>
          released.restoredAt === null ? describe(released) : `Released. ${describeWaiting(released)}`,
        );
      }),
    );
}

function describe(found: Restoration): string {
  if (found.restoredAt === null)
    return 'Nothing is kept back: this installation was not restored, or was released.';
  return `Restored at ${isoTime(found.restoredAt)}, and not released. ${describeWaiting(found)}`;
}

/** Words for kinds of tasks whose names do not say what leaves. */
const KINDS: Readonly<Record<string, string>> = {
  'certificate-orders': ' (orders and renewals of certificates)',
  'domain-keys': ' (rotations of DKIM keys)',
};

function describeWaiting({ mail: { due, later, oldestDueAt }, tasks, ...config }: Restoration): string {
  const since = oldestDueAt === null || due === 0 ? '' : `, the oldest since ${isoTime(oldestDueAt)}`;
  const lines = tasks.map(({ kind, waiting }) => `  ${kind}${KINDS[kind] ?? ''}: ${waiting}`);
  const begins = describeBeginning(config);
  return [
    `Mail to ${counted(due, 'recipient')} is due${since}; mail to ${later} more is due later.`,
    ...(lines.length === 0 ? [] : ['Background work that waits:', ...lines]),
    ...(begins.length === 0 ? [] : ['Work that goes on from the release:', ...begins]),
  ].join('\n');
}

function describeBeginning({
  dnsUpdates,
  dailyBackup,
  copyCommand,
}: Pick<Restoration, 'dnsUpdates' | 'dailyBackup' | 'copyCommand'>): string[] {
  return [
    ...(dnsUpdates ? [`  DNS updates of ${dnsUpdates.zones.join(', ')} at ${dnsUpdates.server}`] : []),
    ...(dailyBackup ? [`  a backup in ${dailyBackup.folder} daily at ${dailyBackup.time} UTC`] : []),
    ...(copyCommand ? [`  a copy of each backup by ${copyCommand.join(' ')}`] : []),
  ];
}
