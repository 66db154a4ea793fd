/** A backup that is made or verified while others look on, or how the last one has ended. */
import type { Clock } from '../system/clock.ts';

/** Times are Unix milliseconds. */
export type BackupRun = {
  /** Name of the backup; null while it is made, and when it could not be made. */
  backup: string | null;
  startedAt: number;
  endedAt: number | null;
  /** Reasons of a failure, or the damage that was found. */
  problems: readonly string[];
  /** False for an encrypted backup, of which the hash of the archive alone was compared. */
  isOpened: boolean;
};

/** Returns a run that begins now. */
export function beginRun(clock: Pick<Clock, 'now'>): BackupRun {
  return { backup: null, startedAt: clock.now(), endedAt: null, problems: [], isOpened: true };
}

/** Returns true for a run that has not ended. */
export function isRunning(run: BackupRun | null): boolean {
  return run !== null && run.endedAt === null;
}
