/** The commands `postrider backup` make, list, verify and remove backups. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CopiedBackup } from '../backups/backups.ts';
import type { MadeBackup } from '../backups/create.ts';
import { isoTime, realClock } from '../system/clock.ts';
import { contextOf, withControl } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { addBackupRestore, folderOption, identitiesOf, identityOption } from './restore.ts';
import { counted, formatList } from './table.ts';
import type { Terminal } from './terminal.ts';

const BYTES_PER_MEGABYTE = 1024 * 1024;

type VerifyOptions = { folder?: string; identity?: string; dir?: string };

/** Adds the commands to the program. */
export function addBackupCommands(program: Command, terminal: Terminal): void {
  const backup = program
    .command('backup')
    .description(
      'Back up the data directory while the daemon runs. "postrider backup restore" puts a backup back.',
    );
  backup
    .command('create')
    .description('Make a backup now. The daemon goes on; without one, the command makes it by itself.')
    .addOption(folderOption())
    .action(({ folder }: { folder?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const query = folder === undefined ? '' : `?folder=${encodeURIComponent(resolve(folder))}`;
        const made = await control.startWork<CopiedBackup>(`/backups${query}`);
        show(made, () => `${made.path}\n${describe(made)}`);
        if (made.copyFailure !== null)
          throw new CommandError(`the backup was made, and not copied off this host: ${made.copyFailure}`);
      }),
    );
  backup
    .command('list')
    .description('List the backups, the oldest first.')
    .addOption(folderOption())
    .action(async ({ folder }: { folder?: string }, command: Command) => {
      const { config, show } = contextOf(command, terminal);
      const { backupFolder, isEncrypted, listBackups } = await import('../backups/format.ts');
      const found = await listBackups(folder ?? backupFolder(config));
      const rows = found.map(({ name, facts }) => [
        name,
        isoTime(facts.takenAt),
        facts.version,
        megabytes(facts.bytes),
        String(facts.mailboxes),
        isEncrypted(facts) ? 'encrypted' : '',
      ]);
      show(found, () =>
        formatList(['backup', 'taken at', 'version', 'size', 'mailboxes', ''], rows, 'There is no backup.'),
      );
    });
  addBackupVerify(backup, terminal);
  addBackupRestore(backup, terminal);
  backup
    .command('prune')
    .description('Remove all backups of this installation but the newest ones.')
    .addOption(folderOption())
    .option('--keep <number>', 'number of backups to keep (default: backup.keep)')
    .action(async ({ folder, keep }: { folder?: string; keep?: string }, command: Command) => {
      const { config, show } = contextOf(command, terminal);
      const { backupFolder } = await import('../backups/format.ts');
      const { pruneBackups } = await import('../backups/prune.ts');
      const { readInstallationFile } = await import('../db/installation/file.ts');
      const installation = readInstallationFile(config.dataDir)?.id;
      if (installation === undefined)
        throw new CommandError(`${config.dataDir} has no installation whose backups could be removed`);
      const removed = await pruneBackups({
        folder: folder ?? backupFolder(config),
        keep: readKeep(keep) ?? config.backup.keep,
        installation,
        now: realClock.now(),
      });
      show({ removed: removed.map(({ path }) => path) }, () =>
        removed.length === 0
          ? 'No backup was removed.'
          : removed.map(({ path }) => `removed ${path}`).join('\n'),
      );
    });
}

function addBackupVerify(backup: Command, terminal: Terminal): void {
  backup
    .command('verify')
    .description(
      'Read a backup completely: compare each file with its hash, and check the databases. Of an encrypted backup, only the hash of the archive is compared without --identity. The newest one unless a path is given.',
    )
    .argument('[backup]', 'path of the backup')
    .addOption(folderOption())
    .addOption(identityOption())
    .option(
      '--dir <directory>',
      'directory in which an encrypted backup is unpacked meanwhile (default: dataDir)',
    )
    .action(async (path: string | undefined, { folder, identity, dir }: VerifyOptions, command: Command) => {
      const { config, show } = contextOf(command, terminal);
      const { backupFolder, newestBackup } = await import('../backups/format.ts');
      const { verifyBackup } = await import('../backups/verify.ts');
      const found = path ?? (await newestBackup(config.dataDir, folder ?? backupFolder(config)));
      const unpacking =
        identity === undefined
          ? undefined
          : { identities: await identitiesOf(identity), directory: dir ?? config.dataDir };
      const { facts, findings, isOpened } = await verifyBackup(found, unpacking);
      if (findings.length > 0) {
        const lines = findings.map(({ path: file, problem }) => `${file}: ${problem}`);
        throw new CommandError(`${found} is damaged: ${lines.join('; ')}`);
      }
      show({ path: found, facts, isOpened }, () =>
        isOpened
          ? `${found} is undamaged: ${describe({ facts })}`
          : `The archive of ${found} is the one that was written. It is encrypted: give --identity to verify what is in it.`,
      );
    });
}

function readKeep(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new UsageError('--keep is a number from 1 to 9999');
  return Number(text);
}

function describe({ facts }: Pick<MadeBackup, 'facts'>): string {
  const { files, bytes, mailboxes, damagedMailboxes, takenAt, tookMs } = facts;
  const damaged = damagedMailboxes.length === 0 ? '' : ` Damaged mailboxes: ${damagedMailboxes.join(', ')}.`;
  return `${counted(files, 'file')}, ${megabytes(bytes)}, ${counted(mailboxes, 'mailbox', 'mailboxes')}, taken at ${isoTime(takenAt)} in ${(tookMs / 1_000).toFixed(1)} s.${damaged}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / BYTES_PER_MEGABYTE).toFixed(1)} MB`;
}
