/**
 * `npm test`: every hermetic test.
 *
 *     npm test -- test/queue test/cli/build.test.ts  only what is there
 *     npm test -- --times                            with the CPU time of the heaviest files
 */
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { unproven } from './specification/unproven.ts';
import { compileProgram, freshProgram } from './support/fresh-program.ts';
import { findMemoryDisk } from './support/memory-disk.ts';
import { oneFilePackages } from './support/one-file-packages.ts';
import { havePassed, heaviest, runFiles } from './support/run-files.ts';

/**
 * More processes than cores gain no time, and each loads the program again: four on two cores took 8 % more CPU time than
 * two. More than four gain nothing, because tests wait for disks and for each other's threads.
 */
const FILES_AT_A_TIME = Math.min(4, availableParallelism());
/** The longest test takes some seconds, the longest file half a minute, on a calm machine. */
const TEST_MS = 2 * 60_000;
const FILE_MS = 5 * 60_000;
/**
 * Test processes load and drop whole applications. A young generation of 4 to 16 MB took 7 % less CPU time for a sample
 * of files than one of 16 to 32 MB, which the system has to fill with pages first, and less than one of 1 to 16 MB.
 * One thread that collects garbage took 15 % less than several.
 */
const HEAP = ['--min-semi-space-size=4', '--max-semi-space-size=16', '--single-threaded-gc'];
/** Compiles JSX, as it does for the program. */
const TYPESCRIPT = new URL('../bin/typescript.ts', import.meta.url).href;
/** The other suites, which need more than npm. */
const APART = ['test/interop/', 'test/faults/', 'test/bench/'];

const { positionals: named, values } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'boolean' } },
});
const places = (named.length > 0 ? named : ['test']).map((path) => resolve(path));
const files = filesIn(places);
const empty = places.filter((place) => !files.some((file) => isIn(resolve(file), place)));
for (const place of empty) console.error(`There is no test in ${place}.`);
// Most named files start no process of the program.
if (named.length === 0 && freshProgram() === undefined) await compileProgram();
const options = {
  nodeArguments: [...HEAP, '--import', TYPESCRIPT, ...(await oneFilePackages(freshProgram()))],
  filesAtATime: FILES_AT_A_TIME,
  testMs: TEST_MS,
  fileMs: FILE_MS,
};
const memoryDisk = findMemoryDisk();
if (memoryDisk !== undefined) process.env['TMPDIR'] ??= memoryDisk;
// Nothing is run when a path is wrong: a slip would pass for the tests that were meant.
const outcomes = empty.length > 0 ? [] : await runFiles(files, options);
const lacking = unproven(outcomes);
if (lacking.length > 0) console.error(['Unproven statements of the specification:', ...lacking].join('\n'));
if (values.times)
  console.log(['CPU time with child processes that have ended:', ...heaviest(outcomes)].join('\n'));
process.exitCode = empty.length === 0 && lacking.length === 0 && havePassed(outcomes) ? 0 : 1;

function filesIn(places: readonly string[]): string[] {
  return globSync('test/**/*.test.{ts,tsx}')
    .filter((file) => !APART.some((folder) => file.startsWith(folder)))
    .filter((file) => places.some((place) => isIn(resolve(file), place)))
    .sort();
}

function isIn(file: string, place: string): boolean {
  return file === place || file.startsWith(`${place}${sep}`);
}
