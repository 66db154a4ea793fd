/**
 * Makes data directories for tests. Each has a copy of a database that this process has migrated once, because the
 * migrations cost a third of the CPU time of a start. That database was made in 1970, so that the clock of no test is
 * behind it, and stopped cleanly. It has no master key yet.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN_MIGRATIONS } from '../../src/db/main-migrations.ts';
import { WriterDatabase } from '../../src/db/writer-database.ts';

const FILES = ['postrider.db', 'installation.json'];

let template: string | undefined;

/** Returns the path of a new data directory with an empty database. The caller removes it. */
export function newDataDirectory(): string {
  template ??= makeTemplate();
  const directory = newDirectory();
  for (const file of FILES) copyFileSync(join(template, file), join(directory, file));
  return directory;
}

function makeTemplate(): string {
  const directory = newDirectory();
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'postrider.db');
  const installation = { newDatabase: false };
  const options = {
    file,
    nowMs: 0,
    synchronous: 'NORMAL',
    migrations: MAIN_MIGRATIONS,
    installation,
  } as const;
  new WriterDatabase(options, () => {}).close();
  return directory;
}

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'postrider-test-'));
}
