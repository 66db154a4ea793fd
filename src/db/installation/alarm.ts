/** A finding that a database and its data directory do not fit, as every start reports it while it matters. */

/**
 * `older-copy`: the database lacks what was written after the copy was made. `wal-missing`, `wal-cut`: the last stop was
 * not clean, and the WAL that must be there is not, or has lost its end. `new-database`: made because the operator said so.
 */
export type Finding = 'older-copy' | 'wal-missing' | 'wal-cut' | 'new-database';

export type Alarm = {
  findings: readonly Finding[];
  /** Until this time no file is removed, and each start reports the findings again. */
  keepFilesUntil: number;
  /** Wall time that the database stored last, before the start that found this. */
  databaseUsedAt: number;
  /** Time of the last change that `installation.json` recorded until then. Absent when there was no such file. */
  directoryUsedAt?: number | undefined;
};

/** Time for which files that the database does not name are kept when it may be the wrong one. */
const KEEP_FILES_MS = 7 * 86_400_000;

type Start = {
  findings: readonly Finding[];
  nowMs: number;
  databaseUsedAt: number;
  directoryUsedAt: number | undefined;
};

/** Returns the alarm after a start: a new one with what the previous one still reports, the previous one, or none. */
export function nextAlarm(
  previous: Alarm | undefined,
  { findings, nowMs, databaseUsedAt, directoryUsedAt }: Start,
): Alarm | undefined {
  const current = previous && previous.keepFilesUntil > nowMs ? previous : undefined;
  if (findings.length === 0) return current;
  return {
    findings: [...new Set([...findings, ...(current?.findings ?? [])])],
    keepFilesUntil: nowMs + KEEP_FILES_MS,
    databaseUsedAt,
    directoryUsedAt,
  };
}
