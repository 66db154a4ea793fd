/** Writes `dist/`: JavaScript without comments, and declarations with them. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));
const compiler = join(
  dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
  'bin',
  'tsc',
);

export function build() {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile('--removeComments', '--declaration', 'false');
  compile('--emitDeclarationOnly');
}

function compile(...options) {
  execFileSync(process.execPath, [compiler, '-p', folder, ...options], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
