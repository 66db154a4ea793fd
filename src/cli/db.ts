/** `postrider db`: maintains the database while no daemon runs. */
import type { Command } from 'commander';
import { pino } from 'pino';
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
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
      const { compactDatabase, showMegabytes } = await import('../db/compact.ts');
      const { beforeBytes, afterBytes } = await withOpenApp(config, async (app) => {
        await app[Symbol.asyncDispose]();
        return await compactDatabase(app, config.dataDir);
      });
      show(
        { beforeBytes, afterBytes },
        () => `postrider.db: ${showMegabytes(beforeBytes)} before, ${showMegabytes(afterBytes)} after`,
      );
    });
  db.command('restored')
    .description(
      'Mark a data directory that was restored by other means, such as tar or a snapshot: nothing leaves it until "postrider restore release", and the folders of all mailboxes get new UIDVALIDITYs. Stop the daemon first.',
    )
    .action(async (_: object, command: Command) => {
      const { config, show } = contextOf(command, terminal);
      const { recordRestored } = await import('../db/installation/store.ts');
      const { recordRestoration } = await import('../mailboxes/store.ts');
      const mailboxes = await withOpenApp(config, async (opened) => {
        await using app = opened;
        await app.db.commit(recordRestored, { now: app.clock.now() });
        return await app.db.commit(recordRestoration, null);
      });
      show(
        { mailboxes },
        () =>
          `${mailboxes} mailboxes get new UIDVALIDITYs when they are next opened. Nothing leaves this installation until "postrider restore release"`,
      );
    });
}

/** Opens the database, which no daemon uses, for work that closes it. */
async function withOpenApp<Result>(
  config: Config,
  work: (app: App & AsyncDisposable) => Promise<Result>,
): Promise<Result> {
  const { openApp } = await import('../app.ts');
  const log = pino({ level: 'error', base: null }, pino.destination({ fd: 2, sync: true }));
  try {
    return await work(await openApp(config, { log }));
  } catch (error) {
    throw explainFailure(error, config.dataDir) ?? explainStartFailure(error, config);
  }
}

function explainFailure(error: unknown, dataDir: string): CommandError | undefined {
  if (!(error instanceof Error) || error.name !== 'LockedError') return undefined;
  return new CommandError(
    `a daemon or another command is using ${dataDir}: stop it, run this command again, and start it again`,
    { cause: error },
  );
}
