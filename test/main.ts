/**
 * `npm test`: every hermetic test.
 *
 *     npm test -- test/queue test/config.test.ts     only what is there
 */
import { globSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { compileProgram, freshProgram } from './support/fresh-program.ts';
import { oneFilePackages } from './support/one-file-packages.ts';
import { havePassed, runFiles } from './support/run-files.ts';

/** Tests wait for disks and for each other's threads: more than four files at a time gain nothing on four cores. */
const FILES_AT_A_TIME = 4;
/** The longest test takes some seconds, the longest file half a minute, on a calm machine. */
const TEST_MS = 2 * 60_000;
const FILE_MS = 5 * 60_000;
/** The other suites, which need more than npm. */
const APART = ['test/interop/', 'test/faults/', 'test/bench/'];

const named = process.argv.slice(2);
const places = (named.length > 0 ? named : ['test']).map((path) => resolve(path));
const files = filesIn(places);
const empty = places.filter((place) => !files.some((file) => isIn(resolve(file), place)));
for (const place of empty) console.error(`There is no test in ${place}.`);
// Most named files start no process of the program.
if (named.length === 0 && freshProgram() === undefined) await compileProgram();
const options = {
  nodeArguments: await oneFilePackages(freshProgram()),
  filesAtATime: FILES_AT_A_TIME,
  testMs: TEST_MS,
  fileMs: FILE_MS,
};
// Nothing is run then, or a slip would pass for the tests that were meant.
process.exitCode = empty.length === 0 && havePassed(await runFiles(files, options)) ? 0 : 1;

function filesIn(places: readonly string[]): string[] {
  return globSync('test/**/*.test.ts')
    .filter((file) => !APART.some((folder) => file.startsWith(folder)))
    .filter((file) => places.some((place) => isIn(resolve(file), place)))
    .sort();
}

function isIn(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}${sep}`);
}
