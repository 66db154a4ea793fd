/** Bundles tests, which import the client from its sources, as the compiler of types reads them, and run against what is published. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

export const folder = fileURLToPath(new URL('..', import.meta.url));
export const cache = join(folder, '../../node_modules/.cache/sdk-node');

/** Bundles with options of esbuild. `runner` is a module that takes the place of the test runner of Node.js. */
export async function bundleTests({ runner, ...options }) {
  const paths = {
    name: 'paths',
    setup({ onResolve }) {
      const path = join(folder, 'dist/index.js');
      onResolve({ filter: /^\.\.\/src\/index\.ts$/ }, () => ({ path, external: true }));
      if (runner !== undefined) onResolve({ filter: /^node:test$/ }, () => ({ path: runner }));
    },
  };
  await esbuild.build({
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    plugins: [paths],
    logLevel: 'warning',
    ...options,
  });
}
