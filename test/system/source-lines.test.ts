import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = temporaryDirectory('source-lines');
const bundle = join(root, 'dist');
let sample: typeof import('./log-sample.ts');

/** Line of the first line of a file that contains this text. */
function lineOf(path: string, text: string): number {
  const lines = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split('\n');
  return lines.findIndex((line) => line.includes(text)) + 1;
}

/** The sample is bundled as `npm run build` bundles the program, in an installation of its own. */
before(async () => {
  for (const folder of ['src', 'test', 'node_modules'])
    symlinkSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url)), join(root, folder));
  await build({
    absWorkingDir: root,
    entryPoints: ['test/system/log-sample.ts'],
    entryNames: '[name]',
    outdir: bundle,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    sourcemap: true,
    sourcesContent: false,
    preserveSymlinks: true,
    banner: {
      js: "import{createRequire as r_}from'node:module';const require=r_(import.meta.url);",
    },
    logLevel: 'error',
  });
  sample = await import(pathToFileURL(join(bundle, 'log-sample.js')).href);
});

test('an error that the bundle logs names the line of its source, and so does its cause', () => {
  const stack = sample.stackOfSource();
  const thrown = lineOf('src/system/killable-threads/serve.ts', "throw new Error('serveJobs");
  const called = lineOf('test/system/log-sample.ts', 'serveJobs(() =>');
  const wrapped = lineOf('test/system/log-sample.ts', "new Error('failed outside'");
  assert.match(
    stack,
    new RegExp(`at serveJobs\\w* \\(src/system/killable-threads/serve\\.ts:${thrown}:\\d+\\)`),
  );
  assert.match(stack, new RegExp(`at Module.stackOfSource \\(test/system/log-sample\\.ts:${called}:\\d+\\)`));
  assert.match(
    stack,
    new RegExp(`at Module.stackOfSource \\(test/system/log-sample\\.ts:${wrapped}:\\d+\\)`),
  );
  assert.ok(!stack.includes('/dist/'), stack);
});

test('an error from a worker thread of the bundle names the line of its source', async () => {
  const line = lineOf('test/system/log-sample.ts', "throw new Error('failed in the sample");
  assert.match(
    await sample.stackOfWorker(),
    new RegExp(`at failHere \\(test/system/log-sample\\.ts:${line}:\\d+\\)`),
  );
});

test('a frame of a file outside the bundle stays as it is, although it has a map beside it', () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  for (const name of ['log-sample.js', 'log-sample.js.map'])
    writeFileSync(join(outside, name), readFileSync(join(bundle, name)));
  const lines = readFileSync(join(bundle, 'log-sample.js'), 'utf8').split('\n');
  const position = `log-sample.js:${lines.findIndex((line) => line.includes('failed in the sample')) + 1}:5`;
  for (const folder of [outside, `${bundle}/../outside`]) {
    const frame = `file://${folder}/${position}`;
    assert.equal(sample.stackOfForeignFrame(frame), `Error: foreign\n    at ${frame}`);
  }
  assert.match(sample.stackOfForeignFrame(`file://${bundle}/${position}`), /at test.system.log-sample\.ts:/);
});

test('an error is logged with its own stack when the map is damaged or missing', () => {
  const map = join(bundle, 'log-sample.js.map');
  const frames = [31, 32].map((line) => `file://${bundle}/log-sample.js:${line}:5`);
  writeFileSync(map, '{"mappings": 1}');
  assert.equal(sample.stackOfForeignFrame(frames[0] ?? ''), `Error: foreign\n    at ${frames[0]}`);
  rmSync(map);
  assert.equal(sample.stackOfForeignFrame(frames[1] ?? ''), `Error: foreign\n    at ${frames[1]}`);
});

test('a message of 2 MB that looks like frames is logged as it is, in time that grows with its length alone', () => {
  for (const part of ['file://', 'file://x.js:1:', 'file://x.js:1:1 ', 'a (', ' at ', '.js:1']) {
    const frame = part.repeat(Math.ceil(2_000_000 / part.length));
    assert.ok(sample.stackOfForeignFrame(frame) === `Error: foreign\n    at ${frame}`, part);
  }
});

test('a value that is no error is logged as it is, and is not changed', () => {
  const value = Object.freeze({ stack: 'Error: a\n    at b (file:///c.js:1:2)' });
  assert.equal(sample.stackOf(value), value.stack);
});
