import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openSetupLog } from '../../../src/cli/setup/setup-log.ts';
import { isSetUpRunning } from '../../../src/domains/set-up.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const MODULE = new URL('../../../src/cli/setup/setup-log.ts', import.meta.url).href;

test('a second set-up is refused while one runs, and not after it', () => {
  const dataDir = temporaryDirectory('setup');
  const first = openSetupLog(dataDir);
  assert.throws(() => openSetupLog(dataDir), {
    name: 'CommandError',
    message: `another "postrider setup" is running for ${dataDir}; wait until it has ended`,
  });
  first.mark('begun', 'mailbox you@example.com');
  first.close();
  const second = openSetupLog(dataDir);
  assert.ok(second.has('begun', 'mailbox you@example.com'));
  second.close();
});

test('the log stays fresh while a set-up runs, and not after it', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const dataDir = temporaryDirectory('setup');
  const log = openSetupLog(dataDir);
  const file = join(dataDir, 'setup.log');
  const isRunningAfter = (elapsedMs: number) => {
    utimesSync(file, 0, 0);
    t.mock.timers.tick(elapsedMs);
    return isSetUpRunning(dataDir, Date.now());
  };
  assert.deepEqual([isRunningAfter(20_000), isRunningAfter(20_000)], [true, true]);
  log.close();
  assert.equal(isRunningAfter(60_000), false);
});

test('a set-up that was killed keeps no other one out', async () => {
  const dataDir = temporaryDirectory('setup');
  const program = `
    const { openSetupLog } = await import(${JSON.stringify(MODULE)});
    openSetupLog(process.argv[1]);
    process.stdout.write('open');
    setInterval(() => {}, 60_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  assert.throws(() => openSetupLog(dataDir), /is running for/);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  openSetupLog(dataDir).close();
});

test('a link in the place of the log is not followed', () => {
  const dataDir = temporaryDirectory('setup');
  const target = join(temporaryDirectory('setup'), 'elsewhere');
  symlinkSync(target, join(dataDir, 'setup.log'));
  assert.throws(() => openSetupLog(dataDir), { code: 'ELOOP' });
  assert.throws(() => readFileSync(target), { code: 'ENOENT' });
});
