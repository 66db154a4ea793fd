/** Judges a data directory of the previous version after a start of this one that was cut short. */
import { createHash } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import Sqlite from 'better-sqlite3';
import { createApiServer } from '../../src/api.ts';
import { openApp } from '../../src/app.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { readRows } from '../support/database-rows.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { comparable, previousVersion, writePreviousVersion } from '../support/previous-version.ts';

type Judgement = {
  /** The version of the database that the start left; undefined when it is neither the old nor the new one. */
  state: 'untouched' | 'migrated' | undefined;
  faults: string[];
};

/** Judges a data directory that no process has open, and starts the app on it. */
export type MigrationJudge = (dataDir: string) => Promise<Judgement>;

/**
 * Returns the judge. `complete` is a data directory that was migrated without a fault. Since all others must hold the
 * same rows, only its resources are read over the API.
 * @throws Error when the API does not answer as that of the previous version
 */
export async function createMigrationJudge(complete: string): Promise<MigrationJudge> {
  const migrated = contentOf(complete).rows;
  const old = `${complete}-old`;
  writePreviousVersion(old);
  const untouched = contentOf(old);
  await requireSameAnswers(complete);
  return async (dataDir) => {
    const found = contentOf(dataDir);
    const isOld = isDeepStrictEqual(found.rows, untouched.rows);
    const isMigrated = isDeepStrictEqual(found.rows, migrated);
    const faults: string[] = [];
    if (isOld && found.pages !== untouched.pages) faults.push('pages of the database were changed');
    if (!isOld && !isMigrated) faults.push('the database is neither untouched nor migrated');
    const app = await openApp(configOf(dataDir));
    await app[Symbol.asyncDispose]();
    if (!isDeepStrictEqual(contentOf(dataDir).rows, migrated))
      faults.push('the next start does not migrate the database completely');
    return { state: isOld ? 'untouched' : isMigrated ? 'migrated' : undefined, faults };
  };
}

type Content = {
  rows: ReturnType<typeof readRows>;
  /** Hash of the pages of the database, with those in its WAL. */
  pages: string;
};

/** Reads a copy of the database, because SQLite may write to what it opens. */
function contentOf(dataDir: string): Content {
  const copy = `${dataDir}-copy`;
  cpSync(dataDir, copy, { recursive: true, filter: (path) => !/-shm$|\.sock$|\/blobs/.test(path) });
  const database = new Sqlite(join(copy, 'postrider.db'));
  try {
    const check = database.pragma('integrity_check', { simple: true });
    if (check !== 'ok') throw new Error(`the database is damaged: ${check}`);
    const orphans = database.pragma('foreign_key_check') as unknown[];
    if (orphans.length > 0) throw new Error(`${orphans.length} rows name others that do not exist`);
    const pages = createHash('sha256').update(database.serialize()).digest('hex');
    return { rows: readRows(database), pages };
  } finally {
    database.close();
    rmSync(copy, { recursive: true });
  }
}

async function requireSameAnswers(dataDir: string): Promise<void> {
  const { keys, answers, writtenAt } = previousVersion();
  await using app = await openApp(configOf(dataDir), { clock: createFakeClock(writtenAt) });
  const server = await createApiServer(app);
  for (const { key, path, body } of answers) {
    const headers = { authorization: `Bearer ${keys[key]}` };
    const response = await server.inject({ url: path, headers });
    const isJson = response.headers['content-type']?.toString().includes('json');
    const shown = isJson ? comparable(response.json()) : response.body;
    if (response.statusCode !== 200 || !isDeepStrictEqual(shown, comparable(body)))
      throw new Error(`GET ${path} answers ${response.statusCode}, not as the previous version did`);
  }
  await server.close();
}

function configOf(dataDir: string): Config {
  return loadConfig({
    env: {
      POSTRIDER_DATA_DIR: dataDir,
      POSTRIDER_HOSTNAME: 'mail.test',
      POSTRIDER_LOG_LEVEL: 'silent',
    },
  });
}
