/** `postrider db`: maintains the database while no daemon runs. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { contextOf } from './context.ts';
import { CommandError } from './errors.ts';
import { explainStartFailure } from './start-failure.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addDbCommands(program: Command, terminal: Terminal): void {
  const db = program.command('db').description('Maintain the database, postrider.db in the data directory.');
  db.command('compact')
    .description('Rewrite the database without its free space. Stop the daemon first.')
    .action(async (_: object, command: Command) => {
      const { config, show } = contextOf(command, terminal);
      // These imports are deferred because they load the database code.
      const { openApp } = await import('../app.ts');
      const { compactDatabase, showMegabytes } = await import('../db/compact.ts');
      const log = pino({ level: 'error', base: null }, pino.destination({ fd: 2, sync: true }));
      try {
        const app = await openApp(config, { log });
        await app[Symbol.asyncDispose]();
        const compaction = await compactDatabase(app, config.dataDir);
        const { beforeBytes, afterBytes } = compaction;
        show(
          compaction,
          () => `postrider.db: ${showMegabytes(beforeBytes)} before, ${showMegabytes(afterBytes)} after`,
        );
      } catch (error) {
        throw explainFailure(error, config.dataDir) ?? explainStartFailure(error, config);
      }
    });
}

function explainFailure(error: unknown, dataDir: string): CommandError | undefined {
  if (!(error instanceof Error) || error.name !== 'LockedError') return undefined;
  return new CommandError(
    `a daemon or another command is using ${dataDir}: stop it, compact, and start it again`,
    { cause: error },
  );
}
