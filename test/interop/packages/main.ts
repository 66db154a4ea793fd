/** `npm run test:packages`: builds the packages, installs them in a fresh Debian, and runs them. Needs root on Debian. */
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { havePassed, runFiles } from '../../support/run-files.ts';
import { installTools } from './debian-root.ts';

/** The files share the Debian that the first of them makes. */
const FILES_AT_A_TIME = 1;
/** On a calm machine, making the Debian takes a minute, and building a package 15 seconds. */
const TEST_MS = 5 * 60_000;
const FILE_MS = 10 * 60_000;

try {
  installTools();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const named = process.argv.slice(2).map((file) => resolve(file));
const all = globSync('*.test.ts', { cwd: import.meta.dirname })
  .sort()
  .map((file) => join(import.meta.dirname, file));
const files = named.length > 0 ? named : all;
const options = {
  nodeArguments: ['--import', new URL('../../../bin/typescript.ts', import.meta.url).href],
  filesAtATime: FILES_AT_A_TIME,
  testMs: TEST_MS,
  fileMs: FILE_MS,
};
process.exitCode = havePassed(await runFiles(files, options)) ? 0 : 1;
