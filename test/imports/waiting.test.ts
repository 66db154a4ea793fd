/** An import that waits: its file is uploaded once, looked at with several mappings, and imported when somebody starts it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { contactImport } from '../../src/audiences/csv/import.ts';
import type { JobRow } from '../../src/db/marketing-tables.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { lease, newAudience, runImport, sendCsv } from './jobs.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const open = await openTestApp({ system: { clock } });
after(() => open.close());
const FILE = 'Mail,Level\nada@example.com,pro\nbob@example.com,free\n';

async function waiting(file = FILE, key = open.testKey) {
  const audienceId = await newAudience(open);
  const imports = `/v1/audiences/${audienceId}/contacts/imports`;
  const { status, body } = await sendCsv({ ...open, testKey: key }, `${imports}?wait=true`, file);
  assert.deepEqual([status, body.status], [202, 'waiting'], JSON.stringify(body));
  return { audienceId, id: body.id, path: `${imports}/${body.id}` };
}

const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) =>
  open.request(method, path, body ? { body } : {});

async function run() {
  for (const job of await lease(open)) await runImport(open.app, contactImport, job);
}

test('nothing is imported before the start, and then with the mapping that was chosen', async () => {
  const { audienceId, id, path } = await waiting();
  await run();
  assert.equal((await ask('GET', `/v1/imports/${id}`)).body.status, 'waiting');
  const mapping = JSON.stringify({ Level: 'properties.tier' });
  const shown = await ask('POST', `${path}/preview`, { mapping });
  assert.deepEqual(
    shown.body.columns.map(({ field }: { field: string }) => field),
    ['email', 'properties.tier'],
  );
  const again = await ask('POST', `${path}/preview`);
  assert.equal(again.body.columns[1].field, 'properties.Level', 'a preview stores nothing');
  const started = await ask('POST', `${path}/start`, { mapping });
  assert.deepEqual([started.status, started.body.status], [200, 'queued']);
  await run();
  assert.equal((await ask('GET', `/v1/imports/${id}`)).body.created, 2);
  const { body } = await ask('GET', `/v1/audiences/${audienceId}/contacts?email=ada%40example.com`);
  assert.deepEqual(body.data[0].properties, { tier: 'pro' });
  assert.equal((await ask('POST', `${path}/start`, {})).body.error.type, 'invalid_state');
  assert.equal((await ask('POST', `${path}/preview`)).body.error.type, 'invalid_state');
});

test('a file whose headings say nothing waits, shows its columns, and starts once a mapping names the address', async () => {
  const { id, path } = await waiting('Contact,Level\nada@example.com,pro\n');
  const { status, body } = await ask('POST', `${path}/preview`);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.columns.map(({ heading, field }: Record<string, unknown>) => [heading, field]),
    [
      ['Contact', null],
      ['Level', null],
    ],
  );
  assert.match(body.warnings[0], /The heading line has no `email`/);
  assert.equal((await ask('POST', `${path}/start`)).status, 400, 'nothing starts without an address');
  const mapping = '{"1":"email"}';
  assert.equal((await ask('POST', `${path}/preview`, { mapping })).body.columns[0].field, 'email');
  assert.equal((await ask('POST', `${path}/start`, { mapping })).status, 200);
  await run();
  assert.equal((await ask('GET', `/v1/imports/${id}`)).body.created, 1);
});

test('imports that nobody starts leave room for those that run', async () => {
  const left = [];
  for (let count = 0; count < 10; count++) left.push(await waiting());
  const [first] = left;
  const imports = `/v1/audiences/${first?.audienceId}/contacts/imports`;
  const refused = await sendCsv(open, `${imports}?wait=true`, FILE);
  assert.match(refused.body.error.message, /start or delete one of them/);
  assert.equal((await sendCsv(open, imports, FILE)).status, 202);
  await run();
  for (const { id } of left) assert.equal((await ask('DELETE', `/v1/imports/${id}`)).status, 204);
});

test('a mapping that cannot be used is refused, and the import still waits', async () => {
  const { id, path } = await waiting();
  const refused = await ask('POST', `${path}/start`, { mapping: '{"Mail":null,"Level":null}' });
  assert.equal(refused.status, 400);
  assert.equal((await ask('GET', `/v1/imports/${id}`)).body.status, 'waiting');
  assert.equal((await ask('DELETE', `/v1/imports/${id}`)).status, 204);
  await run();
});

test('an import that nobody starts within a day has failed, and its file is gone', async () => {
  const { audienceId, id } = await waiting();
  await clock.advance(DAY_MS);
  await run();
  const { status, error } = (await ask('GET', `/v1/imports/${id}`)).body;
  assert.deepEqual([status, /not started within a day/.test(error)], ['failed', true]);
  assert.equal((await ask('GET', `/v1/audiences/${audienceId}`)).body.contactCount, 0);
});

test('an import that waits is found in its own audience alone, and by its own tenant', async () => {
  const { id, path } = await waiting();
  const other = await newAudience(open, 'Others');
  assert.equal((await ask('POST', `/v1/audiences/${other}/contacts/imports/${id}/preview`)).status, 404);
  const stranger = await open.addTenant('stranger');
  for (const [method, verb] of [
    ['POST', 'preview'],
    ['POST', 'start'],
  ] as const)
    assert.equal((await open.request(method, `${path}/${verb}`, { key: stranger.testKey })).status, 404);
});

test('confirmation mail of an import asks for approval for the key that has uploaded or started it and requires one', async () => {
  const body = { name: 'intern', permission: 'full_access', requiresApproval: 'broadcasts_and_emails' };
  const intern = (await open.request('POST', '/v1/api-keys', { body })).body;
  const askerOf = async (id: string) => {
    const jobs = open.app.db.read.selectFrom('jobs').select('options');
    const { options } = await jobs.where('id', '=', id as JobRow['id']).executeTakeFirstOrThrow();
    return JSON.parse(options).requester.askedBy;
  };
  for (const [uploader, starter, asker] of [
    [open.testKey, open.testKey, null],
    [open.testKey, intern.token, intern.id],
    [intern.token, open.testKey, intern.id],
  ]) {
    const { id, path } = await waiting(FILE, uploader);
    const started = await open.request('POST', `${path}/start`, { key: starter, body: {} });
    assert.equal(started.status, 200, JSON.stringify(started.body));
    assert.equal(await askerOf(id), asker);
  }
  await run();
});
