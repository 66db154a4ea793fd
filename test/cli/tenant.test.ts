/** The operator stops tenants and deletes them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { createDeletionKind } from '../../src/tenant-control/delete.ts';
import { emailBody } from '../emails/fixtures.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const control = await openControlSocket(daemon.app);
const tasks = startTasks(daemon.app, [createDeletionKind(daemon.app)]);
after(async () => {
  await tasks.stop(1_000);
  await control.close();
  await daemon.close();
});

async function runIn(dataDir: string, args: readonly string[], person = {}) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: dataDir }, person);
  const code = await runProgram(['tenant', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}
const run = (...args: string[]) => runIn(daemon.dataDir, args);

test('a tenant is suspended and resumed, by its name or its id', async () => {
  assert.match((await run('suspend', 'default')).output, /^Tenant ten_\w+ "default" is suspended/);
  assert.match((await run('list')).output, /^ten_\w+ +default +unlimited +suspended /m);
  assert.match((await run('resume', daemon.tenantId)).output, /^Tenant ten_\w+ "default" is active/);
  const unknown = await run('suspend', 'nobody');
  assert.deepEqual([unknown.code, unknown.errors], [1, 'error: Tenant not found\n']);
});

test('a deletion asks with the numbers of what goes, and shows what is left until the tenant is gone', async () => {
  const other = await daemon.addTenant('acme & sons');
  for (let index = 0; index < 3; index++)
    await daemon.request('POST', '/v1/emails', { key: other.testKey, body: emailBody() });
  const alone = await run('delete', 'acme & sons');
  assert.deepEqual([alone.code, alone.errors], [2, 'error: this cannot be undone: add --yes\n']);
  const no = await runIn(daemon.dataDir, ['delete', 'acme & sons'], { interactive: true, answer: 'n' });
  assert.deepEqual([no.code, no.errors], [2, 'error: nothing was changed\n']);
  const deleted = await run('delete', 'acme & sons', '--yes');
  assert.equal(deleted.code, 0, deleted.errors);
  assert.match(deleted.errors, /^Deleting "acme & sons" with 2 API keys, 3 emails$/m);
  assert.match(deleted.output, /^Tenant ten_\w+ "acme & sons" was deleted with everything that it owned\n$/);
  assert.doesNotMatch((await run('list')).output, /acme/);
  const again = await run('delete', 'acme & sons', '--yes');
  assert.deepEqual([again.code, again.errors], [1, 'error: There is no tenant "acme & sons"\n']);
});

test('without a daemon a deletion only begins', async () => {
  const dataDir = temporaryDirectory('cli');
  await runIn(dataDir, ['create', 'acme']);
  const { output } = await runIn(dataDir, ['delete', 'acme', '--yes']);
  assert.match(output, /is deleted while the daemon runs, which it does not now/);
  assert.match((await runIn(dataDir, ['list'])).output, /^ten_\w+ +acme +unlimited +deleting /m);
});
