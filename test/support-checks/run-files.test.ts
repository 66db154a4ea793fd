import assert from 'node:assert/strict';
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { RunOptions } from '../support/run-files.ts';

/** Enough for a process to start and pass a test on a busy machine. */
const FILE_MS = 10_000;
const MAIN = join(import.meta.dirname, '../main.ts');
const RUN = join(import.meta.dirname, 'samples', 'run.ts');

/** The lines printed, without times. In a process of its own: a test cannot run tests. */
async function run(samples: string[], options: Partial<RunOptions> = {}): Promise<string[]> {
  const all = { filesAtATime: 1, testMs: 60_000, fileMs: 60_000, ...options };
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, JSON.stringify(all), ...samples]);
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
  late: run(['never-ends', 'passes'], { testMs: 500, fileMs: 2 * FILE_MS }),
  still: run(['stands-still', 'passes'], { fileMs: FILE_MS }),
  staying: run(['stays', 'passes'], { fileMs: FILE_MS }),
  stillAtExit: run(['stands-still-at-exit', 'passes']),
  exiting: run(['exits', 'none', 'broken', 'passes']),
  failing: run(['fails', 'rejects', 'throws', 'passes']),
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

test('a file that leaves something open has failed, and what is open is named', async () => {
  const lines = await runs.staying;
  assert.ok(lines.some((line) => line.startsWith('✖') && line.endsWith('/stays.ts')));
  assert.ok(lines.some((line) => /has not ended in time. Its process has open: .*Timeout/.test(line)));
  assert.ok(lines.includes('ok false'));
});

test('a process that stands still after all its files have ended is ended, and they have passed', async () => {
  const lines = await runs.stillAtExit;
  assert.equal(count(lines, 'pass'), 2);
  assert.ok(lines.includes('ok true'));
});

test('a process whose parent has gone ends, whatever its file has left open', async () => {
  const host = fork(join(import.meta.dirname, '../support/test-host.ts'), { serialization: 'advanced' });
  host.send({ file: join(import.meta.dirname, 'samples/stays.ts'), testMs: 60_000 });
  await once(host, 'message');
  host.disconnect();
  const [, signal] = await once(host, 'exit');
  assert.equal(signal, null);
});

test('a file whose process ends before its tests, one without tests and one that does not load have failed', async () => {
  const lines = await runs.exiting;
  const told = lines.slice(0, lines.indexOf('✖ failing tests:'));
  for (const name of ['exits', 'none', 'broken']) {
    assert.deepEqual(
      told.filter((line) => line.endsWith(`/${name}.ts`)).map((line) => line[0]),
      ['✖'],
    );
  }
  assert.ok(lines.some((line) => line.includes('broken while loading')));
  assert.equal(count(lines, 'fail'), 3);
  assert.ok(lines.includes('✔ one that passes'));
  assert.ok(lines.includes('ok false'));
});

test('a failure is told on one screen', async () => {
  const lines = await runs.failing;
  const start = lines.indexOf('✖ one that expects much', lines.indexOf('✖ failing tests:'));
  const end = lines.findIndex((line, index) => index > start && line.startsWith('✖'));
  assert.ok(start > 0 && end - start < 50, `${start} to ${end}`);
  assert.ok(lines.some((line) => line.includes('Expected values to be strictly deep-equal')));
});

test('a rejection that nobody handles fails its file, although its tests have passed', async () => {
  const lines = await runs.failing;
  assert.ok(lines.some((line) => line.startsWith('✖') && line.endsWith('/rejects.ts')));
  assert.ok(lines.some((line) => line.includes('too late')));
  assert.equal(count(lines, 'fail'), 3);
});

test('an error that nothing catches ends its file at once, and is named', async () => {
  const lines = await runs.failing;
  assert.ok(lines.some((line) => line.includes('thrown by a timer')));
  assert.ok(lines.some((line) => line.startsWith('✖') && line.endsWith('/throws.ts')));
  assert.ok(!lines.some((line) => line.endsWith('one whose timer throws')), 'it has not ended by itself');
  assert.ok(lines.includes('✔ one that passes'));
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
