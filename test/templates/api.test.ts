import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { MAX_SOURCE_BYTES } from '../../src/templates/schemas.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const WELCOME = {
  name: 'Welcome',
  subject: 'Hello {{firstName|there}}',
  html: '<p>Hi {{firstName}}, {{{block}}} — {{ company }}</p>',
  text: 'Hi {{nickname}}',
};
const create = (body: unknown, key = world.testKey) => world.request('POST', '/v1/templates', { key, body });

test('a template is created with its whole record, and retrieved the same with either key', async () => {
  const created = await create(WELCOME);
  assert.equal(created.status, 201);
  const { id } = created.body;
  assert.match(id, /^tpl_[0-9a-z]{26}$/);
  const createdAt = new Date(NOW).toISOString();
  assert.deepEqual(created.body, {
    id,
    ...WELCOME,
    variables: [
      { name: 'firstName', fallback: 'there' },
      { name: 'block' },
      { name: 'company' },
      { name: 'nickname' },
    ],
    createdAt,
    updatedAt: createdAt,
  });
  for (const key of [world.testKey, world.liveKey]) {
    const got = await world.request('GET', `/v1/templates/${id}`, { key });
    assert.deepEqual([got.status, got.body], [200, created.body]);
  }
});

test('text may be absent', async () => {
  const { text: _, ...body } = WELCOME;
  for (const given of [body, { ...body, text: null }]) assert.equal((await create(given)).body.text, null);
});

const fiftyOne = Array.from({ length: 51 }, (_, index) => `{{v${index}}}`);
const BAD: [name: string, change: object, param: string][] = [
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
  ['a name with a control character', { name: 'a\u007f' }, 'name'],
  ['no subject', { subject: undefined }, 'subject'],
  ['an empty subject', { subject: '' }, 'subject'],
  ['a subject with a line break', { subject: 'a\r\nBcc: b@evil.example' }, 'subject'],
  ['a subject with a lone surrogate', { subject: '\udc00' }, 'subject'],
  ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject'],
  ['no html', { html: undefined }, 'html'],
  ['empty html', { html: '' }, 'html'],
  ['html that is a list', { html: ['a'] }, 'html'],
  ['html with a NUL', { html: 'a\0' }, 'html'],
  ['html with a lone surrogate', { html: 'a\ud800b' }, 'html'],
  ['html of more than 1 MiB in UTF-8', { html: 'é'.repeat(MAX_SOURCE_BYTES / 2 + 1) }, 'html'],
  ['text with a NUL', { text: '\0' }, 'text'],
  ['text of more than 1 MiB', { text: 'x'.repeat(MAX_SOURCE_BYTES + 1) }, 'text'],
  ['51 variables', { html: fiftyOne.slice(1).join(''), text: fiftyOne[0] }, 'html'],
];
for (const [name, change, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const answer = await create({ ...WELCOME, ...change });
    assert.deepEqual(
      [answer.status, answer.body.error.type, answer.body.error.param],
      [400, 'validation_error', param],
    );
  });
}

test('refused with 400: more placeholders than are ever rendered', async () => {
  const answer = await create({ ...WELCOME, html: '{{x}}'.repeat(10_001) });
  assert.deepEqual([answer.status, answer.body.error.type], [400, 'validation_error']);
});

test('the largest template is accepted, and comes back whole', async () => {
  const html = fiftyOne.slice(1).join('').padEnd(MAX_SOURCE_BYTES, 'x');
  const body = { name: 'x'.repeat(200), subject: 'x'.repeat(998), html, text: 'y'.repeat(MAX_SOURCE_BYTES) };
  const created = await create(body);
  assert.equal(created.status, 201);
  const got = (await world.request('GET', `/v1/templates/${created.body.id}`)).body;
  assert.equal(got.variables.length, 50);
  assert.ok(got.html === body.html && got.text === body.text);
});

test('the list is newest first, in pages, without the bodies, and of this tenant alone', async () => {
  const { testKey } = await world.addTenant('lister');
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    await clock.advance(1);
    ids.unshift((await create(WELCOME, testKey)).body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/templates?${query}`, { key: testKey });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list('limit=2'), [ids.slice(0, 2), true, ids[1]]);
  assert.deepEqual(await list(`limit=2&startingAfter=${ids[1]}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`limit=1&endingBefore=${ids[2]}`), [[ids[1]], true, ids[1]]);
  const { body } = await world.request('GET', '/v1/templates?limit=1', { key: testKey });
  assert.deepEqual(Object.keys(body.data[0]).sort(), ['createdAt', 'id', 'name', 'subject', 'updatedAt']);
});

/** As many rows as that, at once: one by one they would take seconds. */
function fillTemplates(tenantId: string, count: number): void {
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  database
    .prepare(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       INSERT INTO templates (id, tenantId, name, subject, createdAt, updatedAt, html)
       SELECT 'tpl_' || n, ?, 'n', 's', 0, 0, 'h' FROM numbers`,
    )
    .run(count, tenantId);
  database.close();
}

test('a tenant has at most 10,000 templates, another its own', async () => {
  const { tenantId, testKey } = await world.addTenant('collector');
  fillTemplates(tenantId, 9_999);
  assert.equal((await create(WELCOME, testKey)).status, 201);
  const refused = await create(WELCOME, testKey);
  assert.deepEqual([refused.status, refused.body.error.type], [400, 'validation_error']);
  assert.match(refused.body.error.message, /10000 templates/);
  assert.equal((await create(WELCOME)).status, 201);
});

test('a sending key may not see or make templates, a reading key may only see them', async () => {
  const keyWith = async (permission: 'sending_access' | 'read_only') => {
    const key = {
      tenantId: world.tenantId,
      name: permission,
      mode: 'test',
      permission,
      expiresAt: null,
    } as const;
    return (await createApiKey(world.app, key)).token;
  };
  const [sending, reading] = [await keyWith('sending_access'), await keyWith('read_only')];
  const { id } = (await create(WELCOME)).body;
  for (const path of ['/v1/templates', `/v1/templates/${id}`]) {
    assert.equal((await world.request('GET', path, { key: sending })).status, 403);
    assert.equal((await world.request('GET', path, { key: reading })).status, 200);
  }
  for (const key of [sending, reading]) assert.equal((await create(WELCOME, key)).status, 403);
});
