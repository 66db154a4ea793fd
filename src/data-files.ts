/** Reads the data files in config/, which come with the program and are the same for every installation. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the path of a data file. */
export function dataFilePath(name: string): string {
  return fileURLToPath(new URL(`../config/${name}`, import.meta.url));
}

/**
 * Returns the content of a data file in JSON, such as `scanner-networks.json`.
 * @throws the error of the file system, or SyntaxError when the file is not JSON
 */
export function readDataFile(name: string): unknown {
  return JSON.parse(readFileSync(dataFilePath(name), 'utf8'));
}

/** Returns `docs/` in the checkout or the installed folder. */
export function documentationFolder(): string {
  return fileURLToPath(new URL('../docs', import.meta.url));
}

/** Returns `data/` in the checkout or the installed folder, independent of the working directory. */
export function defaultDataDir(): string {
  return fileURLToPath(new URL('../data', import.meta.url));
}
