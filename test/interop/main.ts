/**
 * `npm run test:interop`: compiles the program and installs the real peers where they are missing, then runs every test beside this file, or those
 * that are named. With `--full` the pages of the dashboard are seen in every look.
 */
import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { havePassed, runFiles } from '../support/run-files.ts';
import { installPeers } from './debian.ts';

/** Most of each is waiting for a peer. */
const FILES_AT_A_TIME = 3;
/** A test starts several daemons and peers, or opens each page of the dashboard; on a calm machine a file takes two minutes at most. */
const TEST_MS = 6 * 60_000;
const FILE_MS = 10 * 60_000;
/** The pages of the dashboard in every look take twenty minutes. */
const FULL_MS = 45 * 60_000;

try {
  // Daemons start from compiled code in a third of the time.
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  installPeers();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { full: { type: 'boolean', default: false } },
});
if (values.full) process.env['POSTRIDER_FULL'] = '1';
const named = positionals.map((file) => resolve(file));
const all = globSync('*.test.ts', { cwd: import.meta.dirname })
  .sort()
  .map((file) => join(import.meta.dirname, file));
const files = named.length > 0 ? named : all;
const options = {
  nodeArguments: ['--import', new URL('../../bin/typescript.ts', import.meta.url).href],
  filesAtATime: FILES_AT_A_TIME,
  testMs: values.full ? FULL_MS : TEST_MS,
  fileMs: values.full ? FULL_MS : FILE_MS,
};
process.exitCode = havePassed(await runFiles(files, options)) ? 0 : 1;
