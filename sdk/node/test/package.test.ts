/** What is published: small, without other programs, and for browsers too. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { publint } from 'publint';
import { VERSION } from '../src/index.ts';

const folder = process.cwd();
/** Limit of the bundle for browsers, compressed. */
const MAX_BUNDLE_BYTES = 15_000;
/** Limit of the code that is installed. Declarations and their comments are apart: no program loads them. */
const MAX_CODE_BYTES = 100_000;

const CODE = join(folder, 'dist/index.js');

test('the version that requests name is that of the package', () => {
  assert.equal(VERSION, readPackage().version);
});

test('everybody may install it: the registry keeps packages of a scope private by default', () => {
  assert.equal(readPackage().publishConfig?.access, 'public');
});

function readPackage(): { version: string; publishConfig?: { access?: string } } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

test('publint finds nothing to mend in what is published', async () => {
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });
  assert.deepEqual(messages, []);
});

test('the code is small, and uses no module of Node and no Buffer', () => {
  const { size } = statSync(CODE);
  assert.ok(size < MAX_CODE_BYTES && size > 10_000, `${size} bytes`);
  assert.doesNotMatch(readFileSync(CODE, 'utf8'), /\bnode:|\bBuffer\b|\brequire\(|^import /m);
});

test('it is bundled for a browser without a warning, in at most 15 kB', async () => {
  const { outputFiles, warnings, metafile } = await build({
    stdin: { contents: "export * from '@postrider/client';", resolveDir: folder },
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    logLevel: 'silent',
  });
  assert.deepEqual(warnings, []);
  assert.ok(Object.keys(metafile.inputs).some((file) => file.endsWith('dist/index.js')));
  const size = gzipSync(outputFiles[0]?.contents ?? '').length;
  assert.ok(size <= MAX_BUNDLE_BYTES && size > 1000, `${size} bytes`);
  console.log(`bundled for a browser: ${size} bytes compressed`);
});
