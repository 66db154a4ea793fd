/** The command `postrider upgrade --check`, which tries the migrations of this version on a copy of the database. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Rehearsal } from '../db/rehearse-migrations.ts';
import { realClock } from '../system/clock.ts';
import { VERSION } from '../version.ts';
import { contextOf } from './context.ts';
import { UsageError } from './errors.ts';
import { explainStartFailure } from './start-failure.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to the program. */
export function addUpgradeCommand(program: Command, terminal: Terminal): void {
  program
    .command('upgrade')
    .description(
      'Try the migrations of this version on a copy of the database, and show how long they take. The daemon of the old version may run. Nothing is changed.',
    )
    .option('--check', 'required: the upgrade itself is made by the first start of the new version')
    .option('--dir <directory>', 'directory of the copy (default: dataDir)')
    .action(async ({ check, dir }: { check?: true; dir?: string }, command: Command) => {
      if (!check)
        throw new UsageError(
          'give --check: the upgrade itself is made by the first start of the new version',
        );
      const { config, show } = contextOf(command, terminal);
      const { rehearseMigrations } = await import('../db/rehearse-migrations.ts');
      const { MAIN_SCHEMA } = await import('../db/main-schema.ts');
      const { statDisk } = await import('../system/disk-space.ts');
      try {
        const rehearsal = await rehearseMigrations(
          { clock: realClock, statDisk },
          {
            directory: config.dataDir,
            scratchIn: resolve(dir ?? config.dataDir),
            schema: MAIN_SCHEMA,
          },
        );
        show({ version: VERSION, ...rehearsal }, () => describe(rehearsal));
      } catch (error) {
        throw explainStartFailure(error, config);
      }
    });
}

function describe({ bytes, copyMs, migrations, migrationMs }: Rehearsal): string {
  const copied = `The database (${(bytes / 2 ** 20).toFixed(1)} MB) was copied in ${seconds(copyMs)}, and the copy is removed.`;
  if (migrations.length === 0)
    return `Version ${VERSION} has no migrations for this database: an upgrade takes no longer than a restart.\n${copied}`;
  return [
    formatTable(
      ['migration', 'time'],
      migrations.map(({ id, tookMs }) => [id, seconds(tookMs)]),
    ),
    copied,
    `The first start of version ${VERSION} takes about ${seconds(migrationMs)} longer than a restart. Before it, the old version stops within 30 s.`,
    'Each mailbox is migrated when it is next opened, and no other waits for it.',
  ].join('\n');
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 9_950 ? 2 : 0)} s`;
}
