/**
 * Data directories that earlier versions wrote, as the starting points of an upgrade. Each version made its fixture
 * itself, over its API. A fixture is one line of JSON, followed by the bytes of its files, compressed with Brotli.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { Mode } from '../../src/db/tables.ts';

/**
 * `previous` has each resource in each state that lasts, and was killed while it delivered, so that its newest commits
 * are in the WAL. `oldest` has one of each resource of that time, and was stopped.
 */
export type FixtureName = 'previous' | 'oldest';

export type PreviousVersion = {
  /** API keys with full access. That of live mode belongs to a tenant of its own; only `previous` has it. */
  keys: Readonly<Record<Mode, string>>;
  /** Ids by kind of resource, and of emails by what became of them. */
  ids: Readonly<Record<string, string>>;
  /** Time at which the version ended, in Unix milliseconds. */
  writtenAt: number;
  /** Answers of the version itself, right before it ended. Only `previous` has them. */
  answers: readonly { key: Mode; path: string; body: unknown }[];
};

type FirstLine = PreviousVersion & { files: readonly { path: string; sizeBytes: number }[] };

const LF = 0x0a;

/** Returns the keys and ids of the data directory, and what its version answered. */
export function previousVersion(name: FixtureName = 'previous'): PreviousVersion {
  return read(name).line;
}

/** Creates `dataDir` as that version left it. */
export function writePreviousVersion(dataDir: string, name: FixtureName = 'previous'): void {
  const { line, bytes } = read(name);
  let at = 0;
  for (const { path, sizeBytes } of line.files) {
    const file = join(dataDir, path);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, bytes.subarray(at, at + sizeBytes), { mode: 0o600, flush: true });
    at += sizeBytes;
  }
}

const OPT_IN = ['optIn', 'consent', 'confirmation'];
/** Fields that the previous version did not show, by the resource of the path. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  emails: ['amp', 'calendar', 'disposition', 'class', 'advice'],
  broadcasts: ['counts', 'failure', 'pace', 'pausedReason', 'scheduleAt', 'startedAt', 'sentAt'],
  audiences: OPT_IN,
  segments: OPT_IN,
  plan: ['storedMegabytes', 'storedBytes'],
  webhooks: ['domainId', 'waitingSince'],
  inbound: ['disabledAt', 'disabledReason', 'failingSince', 'suspendedUntil', 'waitingSince'],
};

/** Optional records of domains that the previous version did not show. */
const ADDED_RECORDS = ['MX'];

/** Tags of the DMARC record that the previous version did not suggest: the policy for missing names, and the address for reports. */
const ADDED_TAGS = /; np=reject; rua=mailto:reports\+\S+$/;

/**
 * Returns an answer to a request for `path` without the fields and records that the previous version did not show, and without
 * the time at which a key was last used: a request with a key changes it.
 */
export function comparable(path: string, body: unknown): unknown {
  const left = ['lastUsedAt', ...(ADDED[/^\/v1\/(\w+)/.exec(path)?.[1] ?? ''] ?? [])];
  return JSON.parse(
    JSON.stringify(body, (name, value) => {
      if (left.includes(name)) return undefined;
      if (typeof value === 'string') return value.replace(ADDED_TAGS, '');
      if (name !== 'optionalRecords') return value;
      return (value as { record: string }[]).filter(({ record }) => !ADDED_RECORDS.includes(record));
    }),
  );
}

function read(name: FixtureName): { line: FirstLine; bytes: Buffer } {
  const whole = brotliDecompressSync(
    readFileSync(new URL(`../fixtures/${name}-version.br`, import.meta.url)),
  );
  const end = whole.indexOf(LF);
  return { line: JSON.parse(whole.toString('utf8', 0, end)), bytes: whole.subarray(end + 1) };
}
