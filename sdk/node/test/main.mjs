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
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { build } from '../build.mjs';

const TEST_MS = 2 * 60_000;
const folder = fileURLToPath(new URL('..', import.meta.url));
const out = join(folder, '../../node_modules/.cache/sdk-node', process.version);

/** Tests import the client from its sources, as the compiler of types reads them, and run against what is published. */
const published = {
  name: 'published',
  setup({ onResolve }) {
    const path = join(folder, 'dist/index.js');
    onResolve({ filter: /^\.\.\/src\/index\.ts$/ }, () => ({ path, external: true }));
  },
};

await build();
mkdirSync(out, { recursive: true });
const named = process.argv.slice(2).map((path) => basename(path));
const sources = readdirSync(join(folder, 'test')).filter(
  (file) => file.endsWith('.test.ts') && (named.length === 0 || named.includes(file)),
);
await esbuild.build({
  entryPoints: sources.map((file) => join(folder, 'test', file)),
  outdir: out,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  plugins: [published],
  logLevel: 'warning',
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
