/** Runs the operator's program that copies a backup off this host. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../system/clock.ts';
import { errorMessage } from '../system/errors.ts';

/** Maximum number of characters of what the program has printed that are shown. */
const MAX_SHOWN_CHARACTERS = 500;
/** Time that a program has to end by itself after SIGTERM, in milliseconds, such as to remove a lock on the other side. */
const GRACE_MS = 10_000;
const STOPPED = 'the daemon has stopped';
/** The program finds other programs here. It inherits nothing from the daemon. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

type Running = {
  clock: Pick<Clock, 'after'>;
  command: readonly string[];
  /** Path of the backup, which the program finds in the variable BACKUP_PATH. */
  backup: string;
  timeoutMs: number;
  /** Ends the program. */
  signal: AbortSignal;
};

/**
 * Runs the program, without a shell, and returns why it has failed; null when it has ended with 0. It has a process group of its
 * own, which is ended with it: the programs that it has started do not go on.
 */
export function runCopyCommand({
  clock,
  command,
  backup,
  timeoutMs,
  signal,
}: Running): Promise<string | null> {
  if (signal.aborted) return Promise.resolve(STOPPED);
  const [program = '', ...args] = command;
  const env = { PATH, BACKUP_PATH: backup };
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    let why: string | undefined;
    const settle = (reason: string | null) => {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      signalGroup(child, 'SIGKILL');
      child.stderr.destroy();
      resolve(reason === null || said.trim() === '' ? reason : `${reason}: ${said.trim()}`);
    };
    const end = (reason: string) => {
      why ??= reason;
      signalGroup(child, 'SIGTERM');
      timer.cancel();
      timer = clock.after(GRACE_MS, () => settle(reason));
    };
    const onAbort = () => end(STOPPED);
    let timer = clock.after(timeoutMs, () =>
      end(`${program} was ended, because it took longer than ${timeoutMs / 60_000} minutes`),
    );
    signal.addEventListener('abort', onAbort);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MAX_SHOWN_CHARACTERS);
    });
    child.once('error', (error) => settle(errorMessage(error)));
    // A program that it has started may keep its output open.
    child.once('exit', () => signalGroup(child, 'SIGKILL'));
    child.once('close', (code, killedBy) => {
      if (code === 0 && why === undefined) settle(null);
      else settle(why ?? `${program} has ended with ${code ?? killedBy}`);
    });
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended, or its programs run as another user (sudo), who alone can end them.
  }
}
