/** Remembers how the last copy of a backup off this host has ended, in a file, so that `postrider doctor` knows it without the daemon. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { writeFlushed } from '../system/write-flushed.ts';

/** Name of the file in the data directory. */
const LAST_COPY_FILE = 'backup-copy.json';

const lastCopySchema = Type.Object({
  /** Name of the backup. */
  backup: Type.String(),
  /** Times in Unix milliseconds; `endedAt` is null while the copy runs, and after a kill of the daemon. */
  startedAt: Type.Integer(),
  endedAt: Type.Union([Type.Integer(), Type.Null()]),
  /** Reason why the copy has failed; null when it has not. */
  failure: Type.Union([Type.String(), Type.Null()]),
});

export type LastCopy = Type.Static<typeof lastCopySchema>;

/** Returns undefined when there was none, or when the file cannot be read. */
export function readLastCopy(dataDir: string): LastCopy | undefined {
  try {
    const copy: unknown = JSON.parse(readFileSync(join(dataDir, LAST_COPY_FILE), 'utf8'));
    return Value.Check(lastCopySchema, copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}

/** @throws errors of the file system */
export function writeLastCopy(dataDir: string, copy: LastCopy): void {
  writeFlushed(join(dataDir, LAST_COPY_FILE), `${JSON.stringify(copy)}\n`);
}
