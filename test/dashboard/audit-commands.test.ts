/** The lines of the audit log for the commands of the operator. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorUser } from '../../src/cli/operator-user.ts';
import { createControlServer } from '../../src/control-socket.ts';
import { READING } from '../../src/dashboard/audit/commands.ts';
import { beginAudit } from '../../src/dashboard/audit/store.ts';
import { auditActions as german } from '../../src/dashboard/texts/de/audit-actions.ts';
import { auditActions as english } from '../../src/dashboard/texts/en/audit-actions.ts';
import type { AuditRow } from '../../src/db/people-tables.ts';
import { newId } from '../../src/system/ids.ts';
import { logIn } from '../support/browser.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { readRoutes } from '../support/printed-routes.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp = await openTestApp({ system: { clock } });
const { app } = testApp;
const server = await createControlServer(app);
after(async () => {
  await server.close();
  await testApp.close();
});

/** Returns the lines of commands, the oldest first. */
function lines(): Promise<AuditRow[]> {
  const commands = app.db.read.selectFrom('auditEntries').selectAll().where('action', 'like', 'command %');
  return commands.orderBy('id').execute();
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

async function command(method: Method, url: string, payload?: object, user = 'ada'): Promise<number> {
  await clock.advance(1);
  const headers = { 'x-operator-user': user };
  const { statusCode } = await server.inject({ method, url, headers, ...(payload && { payload }) });
  return statusCode;
}

test('every command that changes something has a sentence in each language', () => {
  const changing = readRoutes(server.printRoutes({ commonPrefix: false }))
    .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    .map(({ method, path }) => `${method} ${path}`);
  assert.ok(changing.length > 45, `${changing.length} routes`);
  const recorded = changing.filter((route) => !READING.includes(route)).map((route) => `command ${route}`);
  for (const sentences of [english, german])
    assert.deepEqual(
      Object.keys(sentences)
        .filter((action) => action.startsWith('command '))
        .sort(),
      recorded.sort(),
    );
});

test('a line says who has done what to which, with which values, and how it has ended', async () => {
  assert.equal(await command('POST', '/tenants', { name: 'acme' }, 'j%C3%BCrgen'), 200);
  assert.equal(await command('POST', '/tenants', { name: 'acme' }, '%'), 409);
  assert.equal(await command('POST', '/tenants', { name: 7, unknown: [] }), 400);
  assert.equal(await command('POST', '/tenants/acme/suspend'), 200);
  assert.equal(await command('GET', '/tenants'), 200);
  assert.equal(await command('POST', '/queue/count', { verb: 'hold', all: true }), 200);
  const shown = (await lines()).map(({ actor, action, target, details, outcome }) => [
    ...[actor, action, target, JSON.parse(details), outcome],
  ]);
  assert.deepEqual(shown, [
    ['jürgen', 'command POST /tenants', '', { name: 'acme', plan: 'unlimited' }, 'done'],
    ['%', 'command POST /tenants', '', { name: 'acme', plan: 'unlimited' }, 'refused'],
    ['ada', 'command POST /tenants/:tenant/suspend', 'acme', {}, 'done'],
  ]);
});

test('secrets and contents are not kept', async () => {
  const route = { hosts: ['relay.example'], user: 'u', password: 'very-secret' };
  await command('PUT', '/outbound-routes/relay', route);
  await command('POST', '/emails', {
    tenant: 'acme',
    mode: 'test',
    subject: 'very-secret',
    from: 'a@acme.example',
    to: ['b@x.example'],
    html: 'very-secret',
  });
  const all = (await lines()).slice(-2);
  assert.deepEqual(
    all.map(({ action }) => action),
    ['command PUT /outbound-routes/:name', 'command POST /emails'],
  );
  assert.doesNotMatch(JSON.stringify(all), /very-secret/);
});

test('a page has the line of its own action alone, and shows the lines of commands to operators', async () => {
  const before = (await lines()).length;
  const browser = await logIn(testApp, { email: 'operator@people.example', isOperator: true });
  await browser.open('/operator/tenants');
  await browser.submit('create', { name: 'from-a-page' });
  assert.equal((await lines()).length, before);
  const { html } = await browser.open('/operator/audit');
  assert.match(html, /jürgen/);
  assert.match(html, /Suspended a tenant/);
});

test('no number of commands is refused, and a day of them has a bounded number of lines', async () => {
  const row = (target: string) => ({
    ...{ id: newId('adt', clock.now()), at: clock.now(), tenantId: null, personId: null, mailboxId: null },
    ...{
      actor: 'root',
      address: '',
      action: 'command DELETE /suppressions/:key',
      target,
      mode: null,
      details: '{}',
    },
  });
  for (let number = 0; number < 1_100; number++) await app.db.commit(beginAudit, row(`${number}@x.example`));
  const beyond = (await lines()).filter(({ action, target }) => action.endsWith('/:key') && target === '');
  assert.equal(beyond.length, 1);
  assert.ok((beyond[0]?.times ?? 0) > 100);
  assert.equal(await command('DELETE', '/suppressions/nobody%40x.example?tenant=acme'), 404);
});

test('the user of the command is the one who has become root', () => {
  assert.equal(operatorUser({ SUDO_USER: 'ada' }), 'ada');
  assert.ok(operatorUser({}).length > 0);
});
