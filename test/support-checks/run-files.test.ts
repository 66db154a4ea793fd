import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { RunOptions } from '../support/run-files.ts';

/** Enough for a process to start and pass a test on a busy machine. */
const FILE_MS = 4_000;
const MAIN = join(import.meta.dirname, '../main.ts');
const RUN = join(import.meta.dirname, 'samples', 'run.ts');

/** The lines printed, without times. In a process of its own: a test cannot run tests. */
async function run(samples: string[], options: Partial<RunOptions> = {}, stays = ''): Promise<string[]> {
  const all = { filesAtATime: 2, testMs: 60_000, fileMs: 60_000, ...options };
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, JSON.stringify(all), ...samples], {
    env: { ...process.env, STAYS: stays },
  });
  return stdout.split('\n').map((line) => line.replace(/ \([\d.]+ms\)/, ''));
}

function count(lines: readonly string[], name: string): number {
  return Number(lines.find((line) => line.startsWith(`ℹ ${name} `))?.split(' ')[2]);
}

const directory = mkdtempSync(join(tmpdir(), 'postrider-run-files-'));
after(() => rmSync(directory, { recursive: true }));

/** Together: they mostly wait. */
const runs = {
  passing: run(['passes', 'passes']),
  late: run(['never-ends', 'passes'], { testMs: 500, fileMs: FILE_MS }),
  still: run(['stands-still', 'passes'], { fileMs: FILE_MS }),
  stayingOnce: run(['stays'], { fileMs: FILE_MS }, join(directory, 'ran')),
  staying: run(['stays'], { fileMs: FILE_MS }, 'always'),
  exiting: run(['exits', 'none', 'passes']),
};

test('files are told of in their order, and counted together', async () => {
  const lines = await runs.passing;
  assert.deepEqual(lines.slice(0, 11), [
    '✔ one that passes',
    '﹣ one that is skipped # SKIP',
    '✔ one that passes',
    '﹣ one that is skipped # SKIP',
    'ℹ tests 4',
    'ℹ suites 0',
    'ℹ pass 2',
    'ℹ fail 0',
    'ℹ cancelled 0',
    'ℹ skipped 2',
    'ℹ todo 0',
  ]);
  assert.ok(lines.includes('ok true'));
});

test('a test that is late fails by its name, and the others are told of', async () => {
  const lines = await runs.late;
  assert.ok(lines.includes('✔ one before it'));
  assert.ok(lines.includes('✖ one that never ends'));
  assert.ok(!lines.some((line) => line.endsWith('run again')));
  assert.ok(lines.includes('✔ one that passes'));
  assert.ok(lines.includes('ok false'));
});

test('a process that stands still in a test is ended and has failed', async () => {
  const lines = await runs.still;
  assert.ok(lines.some((line) => line.startsWith('✖') && line.endsWith('stands-still.ts')));
  assert.ok(lines.includes('✔ one that passes'));
  assert.ok(lines.includes('ok false'));
});

test('a process that does not end after its tests is run again, and its tests count once', async () => {
  const lines = await runs.stayingOnce;
  assert.ok(lines.some((line) => line.endsWith('stays.ts passed all its tests and did not end: run again')));
  assert.equal(count(lines, 'tests'), 1);
  assert.ok(lines.includes('ok true'));
});

test('one that does not end the second time either has failed', async () => {
  const lines = await runs.staying;
  assert.equal(count(lines, 'cancelled'), 1);
  assert.ok(lines.includes('ok false'));
});

test('a file whose process ends before its tests, and one without tests, have failed', async () => {
  const lines = await runs.exiting;
  const told = lines.slice(0, lines.indexOf('✖ failing tests:'));
  for (const name of ['exits', 'none']) {
    assert.deepEqual(
      told.filter((line) => line.endsWith(`/${name}.ts`)).map((line) => line[0]),
      ['✖'],
    );
  }
  assert.deepEqual([count(lines, 'pass'), count(lines, 'fail')], [1, 2]);
  assert.ok(lines.includes('ok false'));
});

test('a path without tests is refused, and so is none of which there are any from here', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const root = join(import.meta.dirname, '../..');
  for (const [cwd, paths, place] of [
    [root, ['test/support-checks/samples', 'test/nowhere'], 'nowhere'],
    [directory, [], 'test'],
  ] as const) {
    await assert.rejects(promisify(execFile)(process.execPath, [MAIN, ...paths], { cwd, env }), {
      code: 1,
      stdout: '',
      stderr: new RegExp(`There is no test in /.+/${place}\\.\n$`),
    });
  }
});
