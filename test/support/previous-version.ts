/**
 * The data directory of an earlier version, commit e1b0e1d0, as the starting point of an upgrade. That version made it itself, over its
 * API. The file is one line of JSON, followed by the bytes of the files, compressed with Brotli.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import Sqlite, { type Database } from 'better-sqlite3';
import type { Mode } from '../../src/db/tables.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/**
 * The directory has each resource in each state that lasts, work of each kind that waits, and work that was being done: the version
 * was killed, so that its newest commits are in the WAL.
 */
export type PreviousVersion = {
  /** API keys with full access. That of live mode belongs to a tenant of its own. */
  keys: Readonly<Record<Mode, string>>;
  /** Ids by kind of resource, and of emails by what became of them. */
  ids: Readonly<Record<string, string>>;
  /** Time at which the version ended, in Unix milliseconds. */
  writtenAt: number;
  /** Answers of the version itself, right before it ended. */
  answers: readonly { key: Mode; path: string; body: unknown }[];
};

type FirstLine = PreviousVersion & { files: readonly { path: string; sizeBytes: number }[] };

const LF = 0x0a;

/** Returns the keys and ids of the data directory, and what its version answered. */
export function previousVersion(): PreviousVersion {
  return read().line;
}

/** Creates `dataDir` as that version left it. */
export function writePreviousVersion(dataDir: string): void {
  const { line, bytes } = read();
  let at = 0;
  for (const { path, sizeBytes } of line.files) {
    const file = join(dataDir, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytes.subarray(at, at + sizeBytes), { mode: 0o600, flush: true });
    at += sizeBytes;
  }
}

/** Opens a copy of the database of the previous version, in which rows need not refer to each other. The caller closes it. */
export function openPreviousDatabase(): Database {
  const directory = temporaryDirectory('previous');
  writePreviousVersion(directory);
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  return database;
}

/** Fields that the previous version did not show. */
const ADDED = [
  ...['waitingSince', 'dkimKeys', 'ed25519'],
  ...['passwordRecovery', 'timeZone', 'contrast', 'mailboxId'],
  ...['apiKeyId', 'format'],
  ...['approval', 'requiresApproval', 'holdReason', 'nextAttemptAt', 'waiting'],
];
/** Optional records of a domain that the previous version did not show. */
const ADDED_RECORDS = /^(?:DKIM_NEXT|MTA_STS|MTA_STS_ID|TLS_RPT)$/;

/**
 * Returns an answer without the fields that the previous version did not show, and without the time at which a key was last used: a
 * request with a key changes it.
 */
export function comparable(body: unknown): unknown {
  const left = ['lastUsedAt', ...ADDED];
  return JSON.parse(
    JSON.stringify(body, (name, value) => {
      if (name === 'optionalRecords')
        return value.filter(({ record }: { record: string }) => !ADDED_RECORDS.test(record));
      return left.includes(name) ? undefined : value;
    }),
  );
}

function read(): { line: FirstLine; bytes: Buffer } {
  const whole = brotliDecompressSync(
    readFileSync(new URL('../fixtures/previous-version.br', import.meta.url)),
  );
  const end = whole.indexOf(LF);
  return { line: JSON.parse(whole.toString('utf8', 0, end)), bytes: whole.subarray(end + 1) };
}
