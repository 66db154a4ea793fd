/**
 * Compiles the program if its sources are newer, so that the tests which start it do not each wait for a loader. It is
 * what `npm ci` leaves behind; `bin/postrider` decides in the same way which of the two it runs.
 */
import { execFile } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

/** A source that does not compile is left to the tests to report. */
export async function freshProgram(): Promise<void> {
  const compiledMs = modifiedMs(join(ROOT, 'dist/main.js'));
  const sources = [...globSync(`${ROOT}/src/**`), join(ROOT, 'node_modules/.package-lock.json')];
  if (sources.every((source) => modifiedMs(source) <= compiledMs)) return;
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT }).catch((error) => {
    console.error(`The program does not compile:\n${error.stderr}`);
  });
}

function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
