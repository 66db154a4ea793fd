/**
 * Makes data directories for tests. Each has a copy of a database that this process has created once, because the
 * files cost more CPU time than most tests. That database was made in 1970, so that the clock of no test is
 * behind it, and stopped cleanly. It has no master key yet.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { WriterDatabase } from '../../src/db/writer-database.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const FILES = ['postrider.db', 'installation.json'];

let template: string | undefined;

/** Returns the path of a new data directory with an empty database. It is removed when the process ends, if not before. */
export function newDataDirectory(): string {
  template ??= makeTemplate();
  const directory = temporaryDirectory('test');
  for (const file of FILES) copyFileSync(join(template, file), join(directory, file));
  return directory;
}

function makeTemplate(): string {
  const directory = temporaryDirectory('template');
  const file = join(directory, 'postrider.db');
  const installation = { newDatabase: false };
  const options = {
    file,
    nowMs: 0,
    synchronous: 'NORMAL',
    schema: MAIN_SCHEMA,
    installation,
  } as const;
  new WriterDatabase(options, () => {}).close();
  return directory;
}
