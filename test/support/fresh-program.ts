/**
 * Finds or makes the compiled program. Tests that start the program and its database threads load it several times
 * faster than the sources.
 */
import { execFile } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const COMPILED = join(ROOT, 'dist');

/** Returns the folder of the compiled program; undefined when a source is newer. `bin/postrider` uses the same rule. */
export function freshProgram(): string | undefined {
  const compiledMs = modifiedMs(join(COMPILED, 'main.js'));
  const sources = [...globSync(`${ROOT}/src/**`), join(ROOT, 'node_modules/.package-lock.json')];
  return sources.every((source) => modifiedMs(source) <= compiledMs) ? COMPILED : undefined;
}

/** Compiles the program. When the sources do not compile, the tests report the reason. */
export async function compileProgram(): Promise<void> {
  await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT }).catch((error) => {
    console.error(`The program does not compile:\n${error.stderr}`);
  });
}

function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
