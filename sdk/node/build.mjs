/** Writes `dist/`: the code in one file, because each file costs time when a program starts, and declarations with their comments. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
