/** Writes `dist/`: the code in one file, because each file costs time when a program starts, and declarations with their comments. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const folder = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
);

export async function build() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [compiler, '-p', folder, '--emitDeclarationOnly'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await esbuild.build({
    entryPoints: [join(folder, 'src/index.ts')],
    outfile: join(folder, 'dist/index.js'),
    bundle: true,
    platform: 'neutral',
    target: 'es2022',
    format: 'esm',
    logLevel: 'warning',
  });
}

/** Builds unless the code, which is written last, is newer than its sources. Suites that run at once then leave each other's files alone. */
export async function buildIfNeeded() {
  const sources = readdirSync(join(folder, 'src'), { recursive: true }).map((file) => join('src', file));
  const newest = Math.max(...['build.mjs', 'tsconfig.json', ...sources].map(modifiedAt));
  if (modifiedAt('dist/index.js') <= newest) await build();
}

function modifiedAt(path) {
  return statSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
