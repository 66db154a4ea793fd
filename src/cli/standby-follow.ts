/** The commands `postrider standby follow` and `postrider standby promote` of a host that is ready to take the place of a primary. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import type { Follower, FollowOptions, FollowState } from '../standby/follow/follower.ts';
import type { Promoted } from '../standby/follow/promote.ts';
import { isoTime, parseTimestamp, realClock, sleepInForeground } from '../system/clock.ts';
import { createLog, type Log, textDestination } from '../system/log.ts';
import { contextOf, globalOptions } from './context.ts';
import { UsageError } from './errors.ts';
import { identitiesOf } from './restore.ts';
import { explainStartFailure } from './start-failure.ts';
import { counted } from './table.ts';
import type { Terminal } from './terminal.ts';

type FollowFlags = { store?: string; identity: string; folder: string; installation?: string };
type PromoteFlags = FollowFlags & { at?: string; to?: string; replace?: true };

/** Time between two lines of a host that follows without a change, in milliseconds. */
const REPORT_MS = 60_000;
/** Time in which the program notices that it may end, in milliseconds. */
const HOLD_MS = 200;

/** Adds the commands to `postrider standby`. */
export function addStandbyFollow(standby: Command, terminal: Terminal): void {
  withStore(standby.command('follow'))
    .description(
      'Keep a copy of the installation that ships to a store, seconds behind, until this command is stopped.',
    )
    .action((flags: FollowFlags, command: Command) => follow(flags, command, terminal));
  withStore(standby.command('promote'))
    .description(
      'Take the place of the primary: put the copy into the data directory. Stop "standby follow" first. Nothing leaves before "postrider restore release". Prints which mail may have left since.',
    )
    .option('--at <time>', 'go back to the last cut at or before this time, such as 2026-11-30T15:53:01Z')
    .option('--to <directory>', 'data directory to put the copy into (default: dataDir)')
    .option('--replace', 'replace the content of the data directory, which is kept beside the copy')
    .action((flags: PromoteFlags, command: Command) => promoteCopy(flags, command, terminal));
}

function withStore(command: Command): Command {
  return command
    .requiredOption(
      '--identity <file>',
      'file with the secret key (AGE-SECRET-KEY-1…) that opens what is shipped',
    )
    .requiredOption('--folder <folder>', 'folder of the copy')
    .option('--store <url>', 'URL of the store (default: standby.store)')
    .option('--installation <id>', 'installation to follow, when the store has several');
}

async function follow(flags: FollowFlags, command: Command, terminal: Terminal): Promise<void> {
  const { config } = contextOf(command, terminal);
  const log = createLog('info', globalOptions(command).json ? undefined : textDestination());
  const stopping = new AbortController();
  const stopped = terminal.untilStopped().finally(() => stopping.abort());
  await withFollowOptions({ flags, config, signal: stopping.signal }, async (options) => {
    const { Follower: Following } = await import('../standby/follow/follower.ts');
    const { lockDirectory } = await import('../db/lock.ts');
    const { openServiceManager } = await import('../system/service-manager.ts');
    const lock = lockDirectory(options.folder);
    const manager = openServiceManager({ clock: realClock, log }, terminal.env);
    try {
      const follower: Follower = new Following(options);
      await follower.open();
      log.info({ installation: options.remote.installation, folder: options.folder }, 'follows the store');
      manager.reportReady();
      await follower.run(reporter(log));
      manager.reportStopping();
      log.info('stopped: the next start goes on from here');
    } finally {
      manager.close();
      lock.release();
    }
  });
  await stopped;
}

/**
 * Returns a function that logs each change of generation, each problem, when the copy has caught up after either, and the position once a
 * minute.
 */
function reporter(log: Log): (state: FollowState) => void {
  let last: FollowState | undefined;
  let isBehind = false;
  let reportAt = 0;
  return (state) => {
    const { generation, fetching, problem, currentAt } = state;
    const isNew = generation !== last?.generation || fetching !== last?.fetching;
    const isNewProblem = problem !== null && problem !== last?.problem;
    const hasCaughtUp = isBehind && problem === null && currentAt !== null;
    const facts = { ...state, takenAt: timeOf(state.takenAt), currentAt: timeOf(currentAt) };
    if (isNewProblem) log.error(facts, 'the copy does not go on; it is tried again');
    else if (hasCaughtUp) log.info(facts, 'the copy has all that the store has');
    else if (isNew || realClock.elapsed() >= reportAt) log.info(facts, 'the copy has the state of this cut');
    else return;
    isBehind = !hasCaughtUp && (isBehind || isNew || isNewProblem);
    reportAt = realClock.elapsed() + REPORT_MS;
    last = state;
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

async function promoteCopy(flags: PromoteFlags, command: Command, terminal: Terminal): Promise<void> {
  const { config: configured, show } = contextOf(command, terminal);
  const config = { ...configured, dataDir: resolve(flags.to ?? configured.dataDir) };
  const at = readTime(flags.at);
  const { signal } = new AbortController();
  const promoted = await withFollowOptions({ flags, config, signal }, async (options) => {
    const { openApp } = await import('../app.ts');
    const { promote } = await import('../standby/follow/promote.ts');
    const log = createLog('error');
    return promote({
      config,
      now: realClock.now(),
      open: (staged) => openApp(staged, { log }),
      crashPoint: options.crashPoint,
      follow: options,
      at,
      isReplacing: flags.replace === true,
    });
  }).catch((error: unknown) => {
    throw explainStartFailure(error, config);
  });
  show(promoted, () => describe(promoted));
}

function readTime(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text);
  if (time === undefined) throw new UsageError('--at is a time with its zone, such as 2026-11-30T15:53:01Z');
  return time;
}

type Opening = { flags: FollowFlags; config: Config; signal: AbortSignal };

/** Opens the store, and runs work with the options of those who follow it. */
async function withFollowOptions<T>(
  { flags, config, signal }: Opening,
  work: (options: FollowOptions) => Promise<T>,
): Promise<T> {
  const identities = await identitiesOf(flags.identity);
  const { storeSettings } = await import('../standby/store-settings.ts');
  const { openStore } = await import('../objects/open-store.ts');
  const { createSystem } = await import('../system/system.ts');
  const { systemOptions } = await import('../app.ts');
  const { findInstallation, Remote } = await import('../standby/follow/remote.ts');
  const { makeDirectories } = await import('../system/make-directories.ts');
  const url = flags.store ?? config.standby.store;
  if (url === '') throw new UsageError('--store is needed, because standby.store is empty');
  const system = createSystem(systemOptions(config));
  const store = openStore(system, storeSettings({ standby: { ...config.standby, store: url } }));
  const folder = resolve(flags.folder);
  if (folder === resolve(config.dataDir))
    throw new UsageError(
      '--folder is a folder of its own: the data directory gets the copy when it is promoted',
    );
  const release = holdProcess();
  try {
    makeDirectories(folder, 0o700);
    const installation = flags.installation ?? (await findInstallation(store));
    const remote = new Remote(store, installation);
    const { clock, crashPoint } = system;
    return await work({ remote, folder, identities, clock, crashPoint, signal });
  } finally {
    release();
    await store.close();
  }
}

/** Keeps the process from ending while it waits for the store, until the function that it returns is called. */
function holdProcess(): () => void {
  let isHeld = true;
  void (async () => {
    while (isHeld) await sleepInForeground(HOLD_MS);
  })();
  return () => {
    isHeld = false;
  };
}

function describe({ dataDir, position, mail, list, removedAccounts, problem, replaced }: Promoted): string {
  const { in_flight: inFlight, ready, due_since: dueSince, first } = mail;
  const all = inFlight + ready + dueSince;
  const more = all - first.length;
  return [
    `${dataDir} has the state of ${isoTime(position.takenAt)} (cut ${position.sequence} of ${position.generation}).`,
    ...(problem === null ? [] : [`Later segments of the store were not applied: ${problem}.`]),
    ...(replaced === null ? [] : [`The data that was there is in ${replaced}.`]),
    ...(removedAccounts === 0
      ? []
      : [
          `${counted(removedAccounts, 'account was', 'accounts were')} removed that this state does not have yet.`,
        ]),
    `Mail to ${counted(all, 'recipient')} may have left after that: ${inFlight} in flight, ${ready} ready, and ${dueSince} that became due since.`,
    ...(all === 0 ? [] : [`All of them are in ${list}${more > 0 ? '. The first:' : ':'}`]),
    ...first.map(({ id, address, messageId, doubt }) => `  ${id} ${address} ${messageId} ${doubt}`),
    'Nothing leaves this installation until "postrider restore release", which first shows what would leave. Make sure before that the old primary never starts again.',
  ].join('\n');
}
