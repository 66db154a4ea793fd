import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { imports } from '../../src/imports/feature.ts';
import { importHandlers } from '../imports/jobs.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { runDueTasks } from '../support/tasks.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
after(async () => {
  await control.close();
  await daemon.close();
});

async function run(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: daemon.dataDir });
  const code = await runProgram(['suppression', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

test('an address is suppressed, listed and removed', async () => {
  assert.equal((await run('add', 'Ann@Rcpt.Example')).output, 'ann@rcpt.example is suppressed (manual)\n');
  const again = await run('add', 'ann@rcpt.example', '--reason', 'complaint');
  assert.equal(again.output, 'ann@rcpt.example was suppressed already (complaint)\n');
  assert.match((await run('list')).output, /^sup_\w+ +ann@rcpt\.example +complaint +\d{4}-/m);
  assert.equal((await run('list', '--reason', 'bounce')).output, 'No address is suppressed.\n');
  assert.equal(
    (await run('remove', 'ANN@rcpt.example')).output,
    'ann@rcpt.example is not suppressed any more\n',
  );
  const gone = await run('remove', 'ann@rcpt.example');
  assert.deepEqual([gone.code, gone.output], [1, '']);
  assert.match((await run('add', 'nobody')).errors, /`email` must/);
});

test('a file of another service is imported', async () => {
  const file = join(temporaryDirectory('suppressions'), 'bounces.csv');
  writeFileSync(file, 'email,reason\r\nbob@rcpt.example,bounce\r\neve@rcpt.example,\r\n');
  const made = await run('import', file, '--reason', 'unsubscribe');
  assert.match(made.output, /^Import imp_\w+ waits; /);
  for (const create of imports.tasks)
    await runDueTasks(daemon.app, create({ ...daemon.app, importHandlers }));
  assert.match((await run('imports')).output, /^imp_\w+ +completed +2 +2 +0 +0 +0$/m);
  assert.match((await run('list')).output, /eve@rcpt\.example +unsubscribe/);
  assert.match((await run('list', '--email', 'bob@rcpt.example')).output, /bob@rcpt\.example +bounce/);
  assert.match((await run('import', '/none.csv')).errors, /^error: \/none\.csv cannot be read: /);
});

test('with several tenants the owner is named', async () => {
  await daemon.addTenant('acme');
  assert.match((await run('list')).errors, /--tenant/);
  assert.equal((await run('list', '--tenant', 'acme')).output, 'No address is suppressed.\n');
});
