/**
 * Provides a data directory of the version before the newest migrations, with one resource of each kind, as the
 * starting point of an upgrade. The fixture was made through the API of that version.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const FIXTURE = fileURLToPath(new URL('../fixtures/previous-version', import.meta.url));

export type PreviousVersion = {
  /** The first test key of the tenant, with full access. */
  key: string;
  /** Ids by kind of resource. */
  ids: Readonly<Record<string, string>>;
};

const read = (name: string) => readFileSync(join(FIXTURE, name));

/** Returns the key and the ids of the resources in the data directory. */
export function previousVersion(): PreviousVersion {
  return JSON.parse(read('contents.json').toString());
}

/** Creates `dataDir` as that version left it after a clean stop. */
export function writePreviousVersion(dataDir: string): void {
  const blob = gunzipSync(read('blob.gz'));
  const sha256 = createHash('sha256').update(blob).digest('hex');
  const folder = join(dataDir, 'blobs', sha256.slice(0, 2));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files = {
    [join(dataDir, 'postrider.db')]: gunzipSync(read('postrider.db.gz')),
    [join(dataDir, 'master.key')]: read('master.key'),
    [join(folder, sha256)]: blob,
  };
  for (const [path, bytes] of Object.entries(files)) writeFileSync(path, bytes, { mode: 0o600, flush: true });
}
