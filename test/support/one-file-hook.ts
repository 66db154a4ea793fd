/** Given to Node with `--import`: what is bundled in `?directory=` is imported from there, in every thread. */
import { globSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const directory = new URL(import.meta.url).searchParams.get('directory') ?? '';
const bundled = new Map(
  globSync('**/*.mjs', { cwd: fileURLToPath(directory) }).map((file) => [
    file.slice(0, -'.mjs'.length),
    new URL(file, directory).href,
  ]),
);

registerHooks({
  resolve(specifier, context, next) {
    const url = bundled.get(specifier);
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  },
});
