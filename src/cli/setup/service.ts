/**
 * Starts the daemon: by systemd where root has it and the unit is installed, or else as a child of this process, which ends with it.
 * A daemon that runs already is used.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { realClock, sleepInForeground } from '../../system/clock.ts';
import { makeDirectories } from '../../system/make-directories.ts';
import { type ControlClient, connectToDaemon } from '../control-client.ts';
import { CommandError } from '../errors.ts';
import { SYSTEM_FILE } from './configuration.ts';

const run = promisify(execFile);
const { ok, warn } = findingsOf('service');

const UNIT = 'postrider.service';
/** Account that the packages make. */
const ACCOUNT = 'postrider';
/** Maximum time until the daemon answers, in milliseconds. The first start makes the database. */
const START_MS = 90_000;
/** Maximum time in which the daemon ends, in milliseconds: it drains for 30 seconds. */
const STOP_MS = 40_000;
const POLL_MS = 100;
/** Maximum size of the errors of the daemon that are kept, in characters. */
const MAX_ERROR_CHARACTERS = 4_000;

export type Service = {
  control: ControlClient;
  /** `child`: the daemon ends with this command. */
  kind: 'running' | 'systemd' | 'child';
  findings: Finding[];
  close(): Promise<void>;
};

type ServiceOptions = {
  config: Config;
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  /** True when the configuration was changed, which a running daemon has to read again. */
  hasChanged: boolean;
};

/** Makes the data directory, unless it exists. It belongs to the account of the packages, where that exists and root runs this. */
export function makeDataDirectory(dataDir: string): void {
  if (existsSync(dataDir)) return;
  makeDirectories(dataDir, 0o700);
  const account = process.getuid?.() === 0 ? findAccount() : undefined;
  if (account) chownSync(dataDir, account.uid, account.gid);
}

function findAccount(): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((one) => one.startsWith(`${ACCOUNT}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

/** Returns true when a daemon answers. */
export async function isDaemonRunning(dataDir: string): Promise<boolean> {
  const control = await connectToDaemon(dataDir);
  await control?.close();
  return control !== undefined;
}

/**
 * Returns the connection to a daemon, which is started if none runs.
 * @throws CommandError when it does not start
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { config, hasChanged } = options;
  const isManaged = await hasUnit(options.file);
  const running = await connectToDaemon(config.dataDir);
  if (running && !hasChanged) return serviceOf(running, 'running', [ok('daemon', 'it runs')]);
  if (running && !isManaged) {
    const advice = 'stop it and start it again, so that it reads the changed configuration';
    return serviceOf(running, 'running', [warn('daemon', 'it runs with the earlier configuration', advice)]);
  }
  await running?.close();
  return isManaged ? startUnit(config, hasChanged) : startChild(options);
}

function serviceOf(control: ControlClient, kind: Service['kind'], findings: Finding[]): Service {
  return { control, kind, findings, close: () => control.close() };
}

/** Returns true when root can start the unit, which reads the configuration of the system. */
async function hasUnit(file: string): Promise<boolean> {
  if (file !== SYSTEM_FILE || process.getuid?.() !== 0 || !existsSync('/run/systemd/system')) return false;
  return run('systemctl', ['cat', UNIT]).then(
    () => true,
    () => false,
  );
}

/** @throws CommandError */
async function startUnit({ dataDir }: Config, hasChanged: boolean): Promise<Service> {
  try {
    await run('systemctl', ['enable', UNIT]);
    await run('systemctl', [hasChanged ? 'restart' : 'start', UNIT]);
  } catch (error) {
    throw new CommandError(`systemd could not start ${UNIT}: journalctl --unit ${UNIT} shows why`, {
      cause: error,
    });
  }
  const control = await untilItAnswers(dataDir, () => undefined);
  return serviceOf(control, 'systemd', [ok('daemon', `it runs as ${UNIT}`)]);
}

/** Waits until the daemon answers. @throws CommandError when it has ended, or takes too long */
async function untilItAnswers(
  dataDir: string,
  findFailure: () => string | undefined,
): Promise<ControlClient> {
  const until = realClock.elapsed() + START_MS;
  while (realClock.elapsed() < until) {
    const control = await connectToDaemon(dataDir).catch(() => undefined);
    if (control) return control;
    const failure = findFailure();
    if (failure !== undefined) throw new CommandError(`the daemon has not started: ${failure}`);
    await sleepInForeground(POLL_MS);
  }
  throw new CommandError(`the daemon does not answer after ${START_MS / 1_000} seconds`);
}

/** Text of the error of a daemon whose data directory another process has (db/lock.ts). */
const IS_LOCKED = /another Postrider process is using/;

/** @throws CommandError */
async function startChild(options: ServiceOptions): Promise<Service> {
  const until = realClock.elapsed() + STOP_MS;
  for (;;) {
    try {
      return await startChildOnce(options);
    } catch (error) {
      // The daemon of a set-up that was killed drains for a while, and has the data directory until then.
      const isDraining = error instanceof CommandError && IS_LOCKED.test(error.message);
      if (!isDraining || realClock.elapsed() > until) throw error;
    }
  }
}

/** @throws CommandError */
async function startChildOnce(options: ServiceOptions): Promise<Service> {
  const { config, file } = options;
  const child = spawnDaemon(options);
  let errors = '';
  let hasEnded = false;
  child.stderr?.on('data', (part: Buffer) => {
    errors = `${errors}${part.toString()}`.slice(-MAX_ERROR_CHARACTERS);
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ['close', 'error'])
      child.once(event, () => {
        hasEnded = true;
        resolve();
      });
  });
  const lastLine = () => errors.trim().split('\n').at(-1) || 'it has ended without a word';
  const control = await untilItAnswers(config.dataDir, () => (hasEnded ? lastLine() : undefined)).catch(
    (error: unknown) => {
      child.kill('SIGTERM');
      throw error;
    },
  );
  const says = 'it runs until this command ends, because systemd does not manage it here';
  const advice = `afterwards, start it: postrider serve --config ${file}`;
  return {
    control,
    kind: 'child',
    findings: [warn('daemon', says, advice)],
    async close() {
      await control.close();
      child.kill('SIGTERM');
      await Promise.race([ended, sleepInForeground(STOP_MS)]);
      child.kill('SIGKILL');
    },
  };
}

/**
 * Starts the daemon as the account that owns the data, with the one privilege that the unit of systemd gives it. It gets SIGTERM when
 * this process ends, however that ends.
 */
function spawnDaemon({ config, file, env }: ServiceOptions): ChildProcess {
  const { uid, gid } = statSync(config.dataDir);
  const isOther = process.getuid?.() === 0 && uid !== 0;
  const capabilities = ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service'];
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...capabilities];
  const program = [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
  return spawn(
    'setpriv',
    ['--pdeathsig=TERM', ...(isOther ? identity : []), '--', ...program, 'serve', '--config', file],
    { env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
}
