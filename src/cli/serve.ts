/**
 * `postrider serve`, and `postrider dev`, which ignores the configuration file: run the daemon in the foreground
 * until SIGTERM or SIGINT. Messages for people are plain text between the JSON lines of the log.
 */
import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { describeFindings } from '../db/installation/report.ts';
import { curlLine } from '../emails/curl.ts';
import type { Daemon } from '../main.ts';
import { collectGarbageOfStart } from '../system/collect-garbage.ts';
import { openServiceManager, type ServiceManager } from '../system/service-manager.ts';
import { unbindThreadsFromFlag } from '../system/thread/young-generation.ts';
import { contextOf, globalOptions } from './context.ts';
import { dataDirWarning } from './data-dir-warning.ts';
import { UsageError } from './errors.ts';
import type { FirstStart } from './first-start.ts';
import { explainStartFailure } from './start-failure.ts';
import type { Terminal } from './terminal.ts';

type ServeOptions = { newDatabase?: boolean };

const NEW_DATABASE =
  'create a new database in a data directory that has lost its own, and keep the other files';

const RESTORED =
  'Warning: this installation was restored from a backup. Nothing leaves it until "postrider restore release", which first shows what would leave.';

const SET_UP = 'Set up the dashboard (the link works once, for 30 minutes):';

/** Adds the commands to the program. */
export function addServeCommands(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('Run the daemon. Without a configuration file, it uses defaults for development.')
    .option('--new-database', NEW_DATABASE)
    .action((options: ServeOptions, command: Command) =>
      serve(terminal, () => contextOf(command, terminal).config, { ...globalOptions(command), ...options }),
    );
  program
    .command('dev')
    .description('Run the daemon without a configuration file, for development.')
    .option('--new-database', NEW_DATABASE)
    .action((options: ServeOptions, command: Command) => {
      if (globalOptions(command).config !== undefined)
        throw new UsageError('dev takes no --config: use serve');
      const { POSTRIDER_CONFIG: _file, ...env } = terminal.env;
      const readConfig = () => contextOf(command, { ...terminal, env }).config;
      return serve(terminal, readConfig, { ...globalOptions(command), ...options });
    });
}

/** Runs the daemon. It resolves when the daemon has drained and stopped. */
async function serve(
  terminal: Terminal,
  readConfig: () => Config,
  { json, newDatabase = false }: ServeOptions & { json?: true },
): Promise<void> {
  const config = readConfig();
  const stopped = terminal.untilStopped();
  const warning = dataDirWarning(config);
  if (warning !== undefined) terminal.complain(warning);
  const daemon = await start(config, { newDatabase });
  const manager = openServiceManager(daemon.app, terminal.env);
  try {
    const { prepareFirstStart } = await import('./first-start.ts');
    const first = await prepareFirstStart(daemon.app, {
      showKey: config.development || terminal.interactive,
    }).catch((error: unknown) => {
      throw explainStartFailure(error, config);
    });
    const { address } = daemon;
    for (const line of describeFindings(daemon.app.db.installation)) terminal.complain(line);
    if (daemon.app.egress.isHeld) terminal.complain(RESTORED);
    const { makeSetUpLink } = await import('../dashboard/people/admin-api.ts');
    // A log keeps what it is told, so the link is shown to people alone.
    const isShown = config.development || terminal.interactive;
    const dashboard = isShown ? await makeSetUpLink(daemon.app, address) : undefined;
    const testKey = first.kind === 'key-made' ? first.testKey : undefined;
    terminal.print(
      json ? JSON.stringify({ address, testKey, dashboard }) : welcome({ address, config, first, dashboard }),
    );
    terminal.onReload(reloader({ daemon, manager, readConfig }));
    manager.reportReady();
    collectGarbageOfStart();
    await stopped;
    manager.reportStopping();
  } finally {
    await daemon.stop();
    manager.close();
  }
}

type Reloaded = { daemon: Daemon; manager: ServiceManager; readConfig: () => Config };

/** Returns what SIGHUP does. A wrong configuration is reported, and changes nothing. Reloads run one after the other. */
function reloader({ daemon, manager, readConfig }: Reloaded): () => void {
  const { log } = daemon.app;
  const run = async () => {
    manager.reportReloading();
    try {
      await daemon.reload(readConfig());
    } catch (error) {
      if (error instanceof ConfigError)
        log.error({ reason: error.message }, 'the configuration is wrong, and nothing has changed');
      else log.error({ err: error }, 'reload failed');
    } finally {
      manager.reportReady();
    }
  };
  let running = Promise.resolve();
  return () => {
    running = running.then(run);
  };
}

async function start(config: Config, options: { newDatabase: boolean }) {
  // This import is deferred, so that the other commands do not wait for it.
  const { startDaemon } = await import('../main.ts');
  unbindThreadsFromFlag();
  try {
    return await startDaemon(config, {}, options);
  } catch (error) {
    throw explainStartFailure(error, config);
  }
}

type Started = { address: string; config: Config; first: FirstStart; dashboard: string | undefined };

function welcome({ address, config, first, dashboard }: Started): string {
  const link = dashboard === undefined ? '' : `\n${SET_UP} ${dashboard}`;
  const listens = `Postrider listens on ${address}${link}`;
  switch (first.kind) {
    case 'not-first':
      return listens;
    case 'no-key':
      return `${listens}\nNo API key exists yet: postrider tenant create NAME, then postrider key create\nA link to the dashboard: postrider person link`;
    case 'key-made':
      return [
        listens,
        `Test key (shown once): ${first.testKey}`,
        `API reference, where you can try every request: ${address}/docs`,
        'Send your first email (nothing leaves this machine):',
        curlLine({
          address,
          key: first.testKey,
          from: `hello@sandbox.${config.hostname}`,
          to: `delivered@simulator.${config.hostname}`,
        }),
      ].join('\n');
  }
}
