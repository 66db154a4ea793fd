/**
 * A hook for imports, which Node loads with `--import` in every thread. Packages that are bundled in `?directory=` are
 * imported from there. With `?compiled=`, the threads of the program run its compiled modules in that folder.
 */
import { globSync, readdirSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, workerData } from 'node:worker_threads';

const { searchParams } = new URL(import.meta.url);
const directory = searchParams.get('directory') ?? '';
const compiled = searchParams.get('compiled');
const bundled = new Map(
  readdirSync(fileURLToPath(directory), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.mjs'))
    .map((file) => [file.slice(0, -'.mjs'.length), new URL(file, directory).href]),
);

/** Modules of the threads of the database, and what they run. */
const DATABASE = ['operations', 'db/writer-thread', 'db/reader-thread'];
const source = (path: string) => new URL(`../../src/${path}.ts`, import.meta.url).href;

if (compiled !== null && !isMainThread) {
  // Threads of the database with operations that a test defines run the sources, because the compiled program does not
  // contain those operations.
  const ownOperations = workerData?.operationsModule !== source('operations');
  const threads = globSync('**/*-thread.ts', { cwd: fileURLToPath(new URL('../../src', import.meta.url)) });
  for (const path of [...threads.map((file) => file.slice(0, -'.ts'.length)), 'operations']) {
    if (DATABASE.includes(path) && ownOperations) continue;
    bundled.set(source(path), new URL(`${basename(path)}.js`, compiled).href);
  }
}

/** Modules that replace a module of Node, by the end of the importing module's URL. */
const KEPT = [
  { builtin: 'node:worker_threads', importer: /\/src\/db\/thread\.ts$/, module: './kept-worker.ts' },
  { builtin: 'node:worker_threads', importer: /-thread\.[jt]s(\?start=\d+)$/, module: './kept-port.ts' },
  {
    builtin: 'node:worker_threads',
    importer: /\/src\/system\/killable-threads\.ts$/,
    module: './kept-job-thread.ts',
  },
  { builtin: 'node:crypto', importer: /\/src\/mail\/dkim\/key\.ts$/, module: './kept-keys.ts' },
  { builtin: 'node:crypto', importer: /\/src\/certificates\/new-key\.ts$/, module: './kept-keys.ts' },
  {
    builtin: 'node:crypto',
    importer: /\/src\/mailboxes\/passwords\/hash\.ts$/,
    module: './kept-hashes.ts',
  },
];

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('node:'))
      return next(keptModule(specifier, context.parentURL) ?? specifier, context);
    const [name = '', query] = specifier.split('?');
    const url = bundled.get(name);
    if (url === undefined) return besides(specifier, context.parentURL) ?? next(specifier, context);
    return { url: query === undefined ? url : `${url}?${query}`, format: 'module', shortCircuit: true };
  },
});

/**
 * Resolves the import of a source beside the importing one. Node would look at files and folders for each of the tens of thousands of
 * such imports.
 */
function besides(specifier: string, importer: string | undefined) {
  if (importer === undefined || !/^\.\.?\/.*\.ts$/.test(specifier)) return undefined;
  return { url: new URL(specifier, importer).href, format: 'module-typescript', shortCircuit: true };
}

function keptModule(specifier: string, importer = ''): string | undefined {
  for (const { builtin, importer: pattern, module } of KEPT) {
    const [found, start = ''] = pattern.exec(importer) ?? [];
    if (builtin === specifier && found !== undefined)
      return new URL(`${module}${start}`, import.meta.url).href;
  }
  return undefined;
}
