/**
 * Given to Node with `--import`: what is bundled in `?directory=` is imported from there, in every thread. With
 * `?compiled=` the database threads of the whole program run its compiled modules from that folder.
 */
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread, workerData } from 'node:worker_threads';

const { searchParams } = new URL(import.meta.url);
const directory = searchParams.get('directory') ?? '';
const compiled = searchParams.get('compiled');
const bundled = new Map(
  globSync('**/*.mjs', { cwd: fileURLToPath(directory) }).map((file) => [
    file.slice(0, -'.mjs'.length),
    new URL(file, directory).href,
  ]),
);

// The operations of a test are no part of the compiled program: their threads run its sources.
const operations = new URL('../../src/operations.ts', import.meta.url).href;
if (compiled !== null && !isMainThread && workerData?.operationsModule === operations) {
  bundled.set(operations, new URL('operations.js', compiled).href);
  for (const thread of ['writer-thread', 'reader-thread']) {
    const source = new URL(`../../src/db/${thread}.ts`, import.meta.url).href;
    bundled.set(source, new URL(`${thread}.js`, compiled).href);
  }
}

registerHooks({
  resolve(specifier, context, next) {
    const url = bundled.get(specifier);
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  },
});
