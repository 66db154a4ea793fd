/** Reports a database that may not be the right one: to the log, and in plain words to the operator. */
import { isoTime } from '../../system/clock.ts';
import type { Log } from '../../system/log.ts';
import type { Finding } from './judge.ts';
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

export function reportInstallation(log: Pick<Log, 'error'>, installation: StartedInstallation): void {
  const { findings, wallAt, directoryUsedAt, keepFilesUntil } = installation;
  for (const finding of findings) {
    log.error(
      {
        finding,
        databaseUsedAt: isoTime(wallAt),
        directoryUsedAt: directoryUsedAt === undefined ? undefined : isoTime(directoryUsedAt),
        filesAreKeptUntil: keepFilesUntil === null ? undefined : isoTime(keepFilesUntil),
      },
      MESSAGES[finding],
    );
  }
}

/** Returns lines for the terminal; none when everything is as the last stop left it. */
export function describeFindings({ findings, wallAt, keepFilesUntil }: StartedInstallation): string[] {
  if (findings.length === 0) return [];
  return [
    ...findings.map((finding) => `Warning: ${MESSAGES[finding]}.`),
    `The database was last used ${isoTime(wallAt)}. If you have the right one: stop, put it back, start again. Until ${
      keepFilesUntil === null ? 'then' : isoTime(keepFilesUntil)
    } no file in blobs/ is removed.`,
  ];
}
