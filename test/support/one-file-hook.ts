/**
 * Given to Node with `--import`: what is bundled in `?directory=` is imported from there, in every thread. With
 * `?compiled=` the threads of the whole program run its compiled modules from that folder.
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

if (compiled !== null && !isMainThread) {
  const source = new URL('../../src/webhooks/webhook-thread.ts', import.meta.url).href;
  bundled.set(source, new URL('webhook-thread.js', compiled).href);
}
// The operations of a test are no part of the compiled program: their threads run its sources.
const operations = new URL('../../src/operations.ts', import.meta.url).href;
if (compiled !== null && !isMainThread && workerData?.operationsModule === operations) {
  bundled.set(operations, new URL('operations.js', compiled).href);
  for (const thread of ['writer-thread', 'reader-thread']) {
    const source = new URL(`../../src/db/${thread}.ts`, import.meta.url).href;
    bundled.set(source, new URL(`${thread}.js`, compiled).href);
  }
}

/** Where `node:worker_threads` is another module, by the end of the importer's address. */
const KEPT = [
  { importer: /\/src\/db\/thread\.ts$/, module: './kept-worker.ts' },
  { importer: /-thread\.[jt]s(\?start=\d+)$/, module: './kept-port.ts' },
];

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node:worker_threads') return next(keptModule(context.parentURL) ?? specifier, context);
    const [name = '', query] = specifier.split('?');
    const url = bundled.get(name);
    if (url === undefined) return next(specifier, context);
    return { url: query === undefined ? url : `${url}?${query}`, format: 'module', shortCircuit: true };
  },
});

function keptModule(importer = ''): string | undefined {
  for (const { importer: pattern, module } of KEPT) {
    const [found, start = ''] = pattern.exec(importer) ?? [];
    if (found !== undefined) return new URL(`${module}${start}`, import.meta.url).href;
  }
  return undefined;
}
