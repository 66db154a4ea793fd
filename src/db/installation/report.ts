/** Reports a database that may not be the right one: to the log, and in plain words to the operator. */
import { isoTime } from '../../system/clock.ts';
import type { Log } from '../../system/log.ts';
import type { Finding } from './alarm.ts';
import type { StartedInstallation } from './session.ts';

const MESSAGES: Readonly<Record<Finding, string>> = {
  'older-copy':
    'postrider.db is an older copy: it does not hold what was accepted, sent or changed after the copy was made, and mail that was delivered since may be delivered again',
  'wal-missing':
    'postrider.db-wal is missing although the last stop was not clean: changes that were not yet copied into postrider.db are lost, unless an SQLite tool has copied them since',
  'wal-cut':
    'postrider.db-wal is shorter than it was although the last stop was not clean: the changes at its end are lost',
  'new-database': 'a new database was made in a data directory that was in use',
};

/** Logs each finding of this start or an earlier one as an error. */
export function reportInstallation(
  log: Pick<Log, 'error'>,
  { alarm }: Pick<StartedInstallation, 'alarm'>,
): void {
  if (!alarm) return;
  const { findings, databaseUsedAt, directoryUsedAt, keepFilesUntil } = alarm;
  for (const finding of findings) {
    log.error(
      {
        finding,
        databaseUsedAt: isoTime(databaseUsedAt),
        directoryUsedAt: directoryUsedAt === undefined ? undefined : isoTime(directoryUsedAt),
        filesAreKeptUntil: isoTime(keepFilesUntil),
      },
      MESSAGES[finding],
    );
  }
}

/** Returns lines for the terminal. The list is empty when nothing was found within the last week. */
export function describeFindings({ alarm }: Pick<StartedInstallation, 'alarm'>): string[] {
  if (!alarm) return [];
  const { findings, databaseUsedAt, keepFilesUntil } = alarm;
  return [
    ...findings.map((finding) => `Warning: ${MESSAGES[finding]}.`),
    `That database was last used ${isoTime(databaseUsedAt)}. If you have the right one: stop, put it back, start again. Until ${isoTime(keepFilesUntil)} no file in blobs/ is removed.`,
  ];
}
