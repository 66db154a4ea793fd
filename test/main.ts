/**
 * `npm test`: every hermetic test.
 *
 *     npm test -- test/queue test/config.test.ts     only what is there
 */
import { globSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { oneFilePackages } from './support/one-file-packages.ts';
import { runFiles } from './support/run-files.ts';

/** Tests wait for disks and for each other's threads: more than four files at a time gain nothing on four cores. */
const FILES_AT_A_TIME = 4;
/** The longest test takes some seconds, the longest file half a minute, on a calm machine. */
const TEST_MS = 2 * 60_000;
const FILE_MS = 5 * 60_000;
/** The other suites, which need more than npm. */
const APART = ['test/interop/', 'test/faults/', 'test/bench/'];

const files = filesIn(process.argv.slice(2).map((path) => resolve(path)));
if (files.length === 0) console.error('There is no test there.');
const options = {
  nodeArguments: await oneFilePackages(),
  filesAtATime: FILES_AT_A_TIME,
  testMs: TEST_MS,
  fileMs: FILE_MS,
};
process.exitCode = files.length > 0 && (await runFiles(files, options)) ? 0 : 1;

function filesIn(places: readonly string[]): string[] {
  return globSync('test/**/*.test.ts')
    .filter((file) => !APART.some((folder) => file.startsWith(folder)))
    .filter((file) => places.length === 0 || places.some((place) => isIn(resolve(file), place)))
    .sort();
}

function isIn(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}${sep}`);
}
