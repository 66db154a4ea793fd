/**
 * Runs the tests of this library on the Node that runs this file, against the compiled package:
 *
 *     node test/main.mjs [FILE…]
 *
 * It prints a line for each test that failed, and at last the counts as JSON. With the variables of `npm run test:sdks` the cases of
 * the contract are among the tests.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { buildIfNeeded } from '../build.mjs';
import { bundleTests, cache, folder } from './bundle.mjs';

const TEST_MS = 2 * 60_000;
const out = join(cache, process.version);

await buildIfNeeded();
mkdirSync(out, { recursive: true });
const named = process.argv.slice(2).map((path) => basename(path));
const sources = readdirSync(join(folder, 'test')).filter(
  (file) => file.endsWith('.test.ts') && (named.length === 0 || named.includes(file)),
);
await bundleTests({
  entryPoints: sources.map((file) => join(folder, 'test', file)),
  outdir: out,
  outExtension: { '.js': '.mjs' },
});

const counts = { tests: 0, pass: 0, fail: 0 };
const files = sources.map((file) => join(out, file.replace(/ts$/, 'mjs')));
const events = run({ files, concurrency: 1, timeout: TEST_MS });
events.on('test:pass', (event) => count(event, 'pass'));
events.on('test:fail', (event) => count(event, 'fail'));
events.on('test:stdout', ({ message }) => process.stderr.write(message));
events.on('test:stderr', ({ message }) => process.stderr.write(message));
for await (const _ of events);
console.log(JSON.stringify(counts));
process.exitCode = counts.fail === 0 && counts.tests > 0 ? 0 : 1;

function count({ name, details, skip, file }, outcome) {
  // Node 20 counts a file as a test that contains the others, and one that ends early is only seen by it.
  const isFile = files.includes(name) || files.some((path) => path.endsWith(name));
  if (skip !== undefined || (isFile && outcome === 'pass')) return;
  counts.tests += 1;
  counts[outcome] += 1;
  if (outcome === 'fail') console.log(`${basename(file ?? name)}: ${name}: ${reason(details?.error)}`);
}

function reason(error) {
  const cause = error?.cause ?? error;
  return String(cause?.message ?? cause)
    .replaceAll(/\s*\n\s*/g, ' | ')
    .slice(0, 600);
}
