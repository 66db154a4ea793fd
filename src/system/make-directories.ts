/**
 * Makes a directory with the directories above it. Node's own recursive `mkdir` never returns where the file system
 * refuses new directories with ENOENT, as `/proc` does: the process then uses a whole core and no signal reaches it.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from './errors.ts';

/**
 * Makes the directory unless it exists. Directories above it that are made on the way have the same mode.
 * @throws the error of the file system for the first directory that cannot be made
 */
export function makeDirectories(path: string, mode = 0o777): void {
  for (const directory of missingDirectories(resolve(path))) {
    try {
      mkdirSync(directory, { mode });
    } catch (error) {
      // It exists, or another process has made it meanwhile.
      if (errorCode(error) !== 'EEXIST' || !isDirectory(directory)) throw error;
    }
  }
}

/** Returns the path itself, after the directories above it that do not exist, outermost first. */
function missingDirectories(path: string): string[] {
  const missing = [path];
  for (let at = dirname(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  return missing;
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
