/**
 * Tells whether `postrider setup` is at work on this installation. It has the daemon look names up once it has seen their records, so that no
 * resolver remembers that a record is missing which the operator is about to publish (RFC 2308).
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';

/** Time after the last line of a set-up in which another one may come, in milliseconds. Afterwards the daemon goes on by itself. */
export const SET_UP_MS = 3_600_000;

/** Returns the path of the log that a set-up writes. */
export function setupLogPath(dataDir: string): string {
  return join(dataDir, 'setup.log');
}

/** Returns true while a set-up is at work. `now` is in Unix milliseconds. */
export function isBeingSetUp(dataDir: string, now: number): boolean {
  const log = statSync(setupLogPath(dataDir), { throwIfNoEntry: false });
  return log !== undefined && Math.abs(now - log.mtimeMs) < SET_UP_MS;
}

/** Time after which a running set-up marks its log, in milliseconds. */
export const SET_UP_MARK_MS = 20_000;

/** Returns true while a set-up runs, which also waits for the operator and for DNS. `now` is in Unix milliseconds. */
export function isSetUpRunning(dataDir: string, now: number): boolean {
  const log = statSync(setupLogPath(dataDir), { throwIfNoEntry: false });
  // A busy machine may be late with one mark.
  // The clock may have been set back since.
  return log !== undefined && Math.abs(now - log.mtimeMs) < 3 * SET_UP_MARK_MS;
}
