/**
 * Packages of hundreds of small modules, each bundled into one for the tests: loading them is most of what a database
 * thread costs to start (180 and 70 ms of CPU), and the suite starts hundreds. The hook beside this file has them imported.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** What is imported of each. */
const PACKAGES = { kysely: ['kysely'], typebox: ['typebox', 'typebox/value'] };
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/**
 * Returns arguments for Node under which they are used. They are bundled once for each version. `compiledDirectory` is
 * where the compiled program is, if it is newer than its sources.
 */
export async function oneFilePackages(compiledDirectory?: string): Promise<string[]> {
  const versions = Object.keys(PACKAGES).map((name) => {
    const { version } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8'));
    return `${name}-${version}`;
  });
  const directory = join(MODULES, '.cache', `one-file-${versions.join('-')}`);
  if (!existsSync(directory)) await bundle(directory);
  const hook = new URL('one-file-hook.ts', import.meta.url);
  hook.searchParams.set('directory', pathToFileURL(`${directory}/`).href);
  if (compiledDirectory !== undefined) {
    hook.searchParams.set('compiled', pathToFileURL(`${compiledDirectory}/`).href);
  }
  return ['--import', hook.href];
}

/** Made beside it and renamed: other runs may be at it. */
async function bundle(directory: string): Promise<void> {
  mkdirSync(join(MODULES, '.cache'), { recursive: true });
  const making = mkdtempSync(`${directory}-`);
  try {
    await build({
      entryPoints: Object.values(PACKAGES)
        .flat()
        .map((specifier) => ({ in: specifier, out: specifier })),
      bundle: true,
      // What two of them share is in a third file, once.
      splitting: true,
      format: 'esm',
      platform: 'node',
      outExtension: { '.js': '.mjs' },
      outdir: making,
      absWorkingDir: fileURLToPath(new URL('../..', import.meta.url)),
      logLevel: 'error',
    });
    renameSync(making, directory);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
}
