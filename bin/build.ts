/**
 * Writes the compiled program to `dist/`. Each module that a thread or another module starts by its name becomes a file of that name
 * there: the program, the modules of threads and of further processes, which are found by their names, and the operations of the threads of the database.
 */
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ASSETS } from '../src/dashboard/frame/asset-names.ts';
import { compileAsset } from '../src/dashboard/frame/compile-assets.ts';
import { EXTERNAL_PACKAGES } from './external-packages.ts';
import { unlistedOperations } from './unlisted-operations.ts';

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

/**
 * Lists the operations of all features in one module. `src/operations.ts` imports them by the names of their files, so that each would be a
 * file of its own here, with those that it shares with others: 100 more files, and 10 MB more in each of these threads.
 */
const operations: Plugin = {
  name: 'operations',
  setup({ onLoad }) {
    const files = globSync('*/operations.ts', { cwd: SRC }).sort();
    const contents = files.map((file) => `import './${file}';`).join('\n');
    onLoad({ filter: /\/src\/operations\.ts$/ }, () => ({ contents, resolveDir: SRC }));
  },
};

const unlisted = unlistedOperations();
if (unlisted.length > 0)
  throw new Error(`operations.ts of the feature does not import ${unlisted.join(', ')}`);
rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
await build({
  absWorkingDir: ROOT,
  entryPoints: [
    'src/cli/main.ts',
    'src/operations.ts',
    ...globSync('src/**/*-{thread,child}.ts', { cwd: ROOT }).sort(),
  ],
  outdir: 'dist',
  entryNames: '[name]',
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // The compiler makes the files of browsers below, and is not part of the program.
  external: [...EXTERNAL_PACKAGES, 'esbuild'],
  // Packages in the format of CommonJS call `require`.
  banner: { js: "import{createRequire as r_}from'node:module';const require=r_(import.meta.url);" },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [operations],
});

mkdirSync(join(ROOT, 'dist', 'dashboard'));
for (const name of ASSETS) {
  writeFileSync(join(ROOT, 'dist', 'dashboard', name), await compileAsset(name));
}
