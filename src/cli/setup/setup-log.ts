/**
 * The file setup.log in the data directory. Beside the lines that were shown it has marks: what a set-up has begun to make, and whose
 * secret it has shown. A secret that was made and never shown, because the process was killed between the two, is made again. The open file
 * is the lock of a set-up, so that two of them at the same time do not make everything twice.
 */
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { SET_UP_MARK_MS, setupLogPath } from '../../domains/set-up.ts';
import { isoTime, realClock, type Timer } from '../../system/clock.ts';
import { CommandError } from '../errors.ts';

type Mark = 'begun' | 'shown';

export type SetupLog = {
  append(line: string): void;
  /** Writes a mark, which is on disk when this returns. */
  mark(kind: Mark, what: string): void;
  has(kind: Mark, what: string): boolean;
  close(): void;
};

/** Links are not followed: root opens the file in a folder of another account. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * Opens the log in a data directory, whose owner it belongs to, and locks it until it is closed.
 * @throws CommandError when another set-up has it
 */
export function openSetupLog(dataDir: string): SetupLog {
  const descriptor = openSync(setupLogPath(dataDir), FLAGS, 0o600);
  lock(descriptor, dataDir);
  const owner = statSync(dataDir);
  if (fstatSync(descriptor).uid !== owner.uid) fchownSync(descriptor, owner.uid, owner.gid);
  const marks = new Set(
    readFileSync(descriptor, 'utf8')
      .split('\n')
      .map((line) => line.replace(/^\S+ /, '')),
  );
  const append = (line: string) => void writeSync(descriptor, `${isoTime(realClock.now())} ${line}\n`);
  const marking = keepFresh(descriptor);
  return {
    append,
    mark(kind, what) {
      append(`mark: ${kind} ${what}`);
      fsyncSync(descriptor);
      marks.add(`mark: ${kind} ${what}`);
    },
    has: (kind, what) => marks.has(`mark: ${kind} ${what}`),
    close() {
      marking.cancel();
      closeSync(descriptor);
    },
  };
}

/** Renews the time of the log while the set-up runs, by which the daemon knows that it does. */
function keepFresh(descriptor: number): Timer {
  const next = () =>
    realClock.after(SET_UP_MARK_MS, () => {
      const now = realClock.now() / 1_000;
      futimesSync(descriptor, now, now);
      timer = next();
    });
  let timer = next();
  return { cancel: () => timer.cancel() };
}

/** Exit code of flock when another process has the lock. */
const IS_LOCKED = 1;

/**
 * Locks an open file. The lock belongs to the file as this process has opened it, so it stays after `flock` has ended, and the kernel frees it
 * when this process ends, however that happens.
 * @throws CommandError
 */
function lock(descriptor: number, dataDir: string): void {
  const { status, error } = spawnSync('flock', ['-n', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status === 0) return;
  closeSync(descriptor);
  if (status === IS_LOCKED)
    throw new CommandError(`another "postrider setup" is running for ${dataDir}; wait until it has ended`);
  throw new CommandError('the set-up needs the program flock (of util-linux), which cannot be run', {
    cause: error,
  });
}
