/**
 * The file setup.log in the data directory. Beside the lines that were shown it has marks: what a set-up has begun to make, and whose
 * secret it has shown. A secret that was made and never shown, because the process was killed between the two, is made again.
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isoTime, realClock } from '../../system/clock.ts';

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

/** Opens the log in a data directory, whose owner it belongs to. */
export function openSetupLog(dataDir: string): SetupLog {
  const descriptor = openSync(join(dataDir, 'setup.log'), FLAGS, 0o600);
  const owner = statSync(dataDir);
  if (fstatSync(descriptor).uid !== owner.uid) fchownSync(descriptor, owner.uid, owner.gid);
  const marks = new Set(
    readFileSync(descriptor, 'utf8')
      .split('\n')
      .map((line) => line.replace(/^\S+ /, '')),
  );
  const append = (line: string) => void writeSync(descriptor, `${isoTime(realClock.now())} ${line}\n`);
  return {
    append,
    mark(kind, what) {
      append(`mark: ${kind} ${what}`);
      fsyncSync(descriptor);
      marks.add(`mark: ${kind} ${what}`);
    },
    has: (kind, what) => marks.has(`mark: ${kind} ${what}`),
    close: () => closeSync(descriptor),
  };
}
