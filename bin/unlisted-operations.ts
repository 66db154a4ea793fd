/** Finds operations that the threads of the database would not know. The build and a test check that there are none. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SRC = join(import.meta.dirname, '../src');
/** Threads of the database import the operations of `db/` themselves, and threads of accounts have their own. */
const ELSEWHERE = /^(?:db|accounts)\//;

/** Returns the modules that define operations for the main database, as paths below `src/`. */
export function definingModules(): string[] {
  return globSync('**/*.ts', { cwd: SRC }).filter(
    (file) => !ELSEWHERE.test(file) && /= define(?:Write|Read)\b/.test(read(file)),
  );
}

/** Returns those that `operations.ts` of their feature does not import. */
export function unlistedOperations(): string[] {
  return definingModules().filter((file) => {
    const [feature = ''] = file.split('/');
    const [list] = globSync(`${feature}/operations.ts`, { cwd: SRC });
    return list === undefined || !read(list).includes(`'.${file.slice(feature.length)}'`);
  });
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}
