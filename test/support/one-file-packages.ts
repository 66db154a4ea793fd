/**
 * Bundles packages that consist of hundreds of small modules, each into one file. Loading them takes most of the start
 * of a database thread (180 and 70 ms of CPU time), and the test suite starts hundreds of threads. The hook in
 * one-file-hook.ts makes Node import the bundles.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The imported modules of each package. */
const PACKAGES = { kysely: ['kysely'], typebox: ['typebox', 'typebox/value'] };
const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/**
 * Returns the arguments with which Node uses the bundles. Each version of a package is bundled once.
 * `compiledDirectory` is the folder of the compiled program, when it is newer than the sources.
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

/** Bundles into a temporary folder and renames it, because another run may bundle at the same time. */
async function bundle(directory: string): Promise<void> {
  mkdirSync(join(MODULES, '.cache'), { recursive: true });
  const making = mkdtempSync(`${directory}-`);
  try {
    await build({
      entryPoints: Object.values(PACKAGES)
        .flat()
        .map((specifier) => ({ in: specifier, out: specifier })),
      bundle: true,
      // Code that several bundles need is written to a shared file.
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
