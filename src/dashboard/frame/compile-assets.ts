/**
 * Makes the files that browsers load, of packages and of the sources. The build calls it once, and so does the dashboard when the sources run.
 * Nothing else imports it, because it needs a compiler.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { AssetName } from './asset-names.ts';

const { resolve } = createRequire(import.meta.url);
const BROWSER = join(import.meta.dirname, '..', 'browser');

/** Returns the content of a file. */
export function compileAsset(name: AssetName): Promise<string> {
  return SOURCES[name]();
}

const SOURCES: Record<AssetName, () => Promise<string>> = {
  async 'page.css'() {
    const pico = await readFile(resolve('@picocss/pico/css/pico.min.css'), 'utf8');
    return pico + (await compile(join(import.meta.dirname, 'style.css')));
  },
  async 'page.js'() {
    const htmx = await readFile(resolve('htmx.org/dist/htmx.min.js'), 'utf8');
    return `${htmx}\n${await compile(join(BROWSER, 'page.ts'))}`;
  },
  'chart.css': () => readFile(resolve('uplot/dist/uPlot.min.css'), 'utf8'),
  'live.js': () => compile(join(BROWSER, 'live.ts')),
  'chart.js': () => compile(join(BROWSER, 'chart.ts')),
  'passkeys.js': () => compile(join(BROWSER, 'passkeys.ts')),
};

/** Returns one minified file with everything that a file imports. */
async function compile(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return outputFiles[0]?.text ?? '';
}
