/** The operator sees what was tried for the emails of all tenants, and nothing of what they say. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { openControlSocket } from '../../../src/control-socket.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { openSpool } from '../../support/spool.ts';

const spool = await openSpool();
const control = await openControlSocket(spool.app);
after(async () => {
  await control.close();
  await spool.close();
});

async function email(...args: string[]) {
  const terminal = fakeTerminal({ POSTRIDER_DATA_DIR: spool.dataDir });
  const code = await runProgram(['email', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

const first = await spool.accept(['Ann@one.example', 'bob@two.example'], { subject: 'A secret' });
await spool.deliverDue();
await spool.clock.advance(1);
const second = await spool.accept('cid@two.example', { subject: 'A secret' });
const other = await spool.addTenant('other');

test('the newest emails of all tenants are listed, or those of a tenant or for an address', async () => {
  const ids = async (...args: string[]) =>
    JSON.parse((await email('list', ...args, '--json')).output).emails.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(), [second, first]);
  assert.deepEqual(await ids('--limit', '1'), [second]);
  assert.deepEqual(await ids('--tenant', spool.tenantId), [second, first]);
  assert.deepEqual(await ids('--tenant', other.tenantId), []);
  assert.deepEqual(await ids('--to', 'ann@ONE.example'), [first]);
  assert.match((await email('list', '--tenant', 'nobody')).errors, /Tenant not found/);
});

test('an email is shown with each attempt and the reply, and without its subject and content', async () => {
  const { output } = await email('show', first);
  assert.match(output, /Ann@one\.example +deferred +1 /);
  assert.match(output, /^2026-03-01T12:00:00\.000Z +bob@two\.example +deferred +dns .*NXDOMAIN/m);
  assert.doesNotMatch(output, /secret|Hello/);
  assert.match((await email('show', second)).output, /No attempts\./);
  assert.match((await email('show', 'em_01khq3z5vgxw1r8t6n2m4c9b7d')).errors, /Email not found/);
});
