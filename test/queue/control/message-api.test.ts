/** The operator sees what was tried for the emails of all tenants, and nothing of what they say. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runProgram } from '../../../src/cli/program.ts';
import { createControlServer, openControlSocket } from '../../../src/control-socket.ts';
import type { ShownMessages } from '../../../src/queue/control/message-api.ts';
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

test('each page goes on behind the last email of the one before, of all tenants and of one', async () => {
  const server = await createControlServer(spool.app);
  for (const filter of [{}, { tenant: spool.tenantId }, { tenant: spool.tenantId, to: 'cid@two.example' }]) {
    const page = async (more: Record<string, string>): Promise<ShownMessages> =>
      (await server.inject({ url: `/emails?${new URLSearchParams({ ...filter, ...more })}` })).json();
    const all = (await page({})).emails.map(({ id }) => id);
    const { emails, next, hasMore } = await page({ limit: '1' });
    assert.deepEqual([emails[0]?.id, hasMore], [all[0], all.length > 1]);
    if (next === null) continue;
    const second = await page({ limit: '1', after: next });
    assert.deepEqual([second.emails[0]?.id, second.next], [all[1], null]);
  }
  await server.close();
});

test('an email is shown with each attempt and the reply, and without its subject and content', async () => {
  const { output } = await email('show', first);
  assert.match(output, /Ann@one\.example +deferred +1 /);
  assert.match(output, /^2026-03-01T12:00:00\.000Z +bob@two\.example +deferred +dns .*NXDOMAIN/m);
  assert.doesNotMatch(output, /secret|Hello/);
  assert.match((await email('show', second)).output, /No attempts\./);
  assert.match((await email('show', 'em_01khq3z5vgxw1r8t6n2m4c9b7d')).errors, /Email not found/);
});
