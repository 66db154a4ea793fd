import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { updateTemplate } from '../../src/templates/api.ts';
import { MAX_SOURCE_BYTES } from '../../src/templates/schemas.ts';
import { deleteTemplate, findTemplate, replaceTemplate } from '../../src/templates/store.ts';
import { rawMessage, senderOf } from '../emails/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
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
const created = async (more: object = {}) => (await create({ ...WELCOME, ...more })).body;
const patch = (id: string, body: unknown) => world.request('PATCH', `/v1/templates/${id}`, { body });
const get = async (id: string) => (await world.request('GET', `/v1/templates/${id}`)).body;
const variables = (count: number) => Array.from({ length: count }, (_, index) => `{{v${index}}}`).join('');

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

const BAD: [name: string, change: object, param: string][] = [
  ['no name', { name: undefined }, 'name'],
  ['a name that is null', { name: null }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
  ['a name with a line break', { name: 'a\nb' }, 'name'],
  ['a name with a control character', { name: 'a\u007f' }, 'name'],
  ['no subject', { subject: undefined }, 'subject'],
  ['a subject that is null', { subject: null }, 'subject'],
  ['an empty subject', { subject: '' }, 'subject'],
  ['a subject with a line break', { subject: 'a\r\nBcc: b@evil.example' }, 'subject'],
  ['a subject with a lone surrogate', { subject: '\udc00' }, 'subject'],
  ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject'],
  ['no html', { html: undefined }, 'html'],
  ['html that is null', { html: null }, 'html'],
  ['empty html', { html: '' }, 'html'],
  ['html that is a list', { html: ['a'] }, 'html'],
  ['html with a NUL', { html: 'a\0' }, 'html'],
  ['html with a lone surrogate', { html: 'a\ud800b' }, 'html'],
  ['html of more than 1 MiB in UTF-8', { html: 'é'.repeat(MAX_SOURCE_BYTES / 2 + 1) }, 'html'],
  ['10,001 placeholders in html', { html: '{{x}}'.repeat(10_001) }, 'html'],
  ['text with a NUL', { text: '\0' }, 'text'],
  ['text that is a number', { text: 7 }, 'text'],
  ['text of more than 1 MiB', { text: 'x'.repeat(MAX_SOURCE_BYTES + 1) }, 'text'],
  ['10,001 placeholders in text', { text: '{{x}}'.repeat(10_001) }, 'text'],
  ['a loop', { html: '{{#each items}}x{{/each}}' }, 'html'],
  ['a partial in the text', { text: '{{> footer}}' }, 'text'],
  ['a condition without its end', { subject: '{{#if vip}}x' }, 'subject'],
  ['51 variables', { html: variables(50), text: '{{more}}' }, 'html'],
  ['a field in another case', { Subject: 'x' }, 'Subject'],
];
for (const [name, change, param] of BAD) {
  test(`refused with 400: ${name}`, async () => {
    const before = await created();
    const answers = [await create({ ...WELCOME, ...change })];
    const isAbsent = Object.values(change).includes(undefined);
    if (!isAbsent) answers.push(await patch(before.id, { name: 'new', ...change }));
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param]);
    }
    assert.deepEqual(await get(before.id), before);
  });
}

test('a template with conditions shows their variables, and one from an earlier version can be renamed', async () => {
  const { id, variables: found } = await created({
    html: '{{#if vip}}{{url code}}{{else}}{{raw code}}{{/if}}',
  });
  assert.deepEqual(
    found.map(({ name }: { name: string }) => name),
    ['firstName', 'vip', 'code', 'nickname'],
  );
  const row = await findTemplate(world.app.db.read, world.tenantId, id);
  assert.ok(row);
  const old = { ...row, html: '<p>{{#each x}}</p>' };
  assert.ok(
    await world.app.db.commit(replaceTemplate, { after: old, updatedBefore: row.updatedAt, approval: null }),
  );
  assert.equal((await patch(id, { name: 'Other' })).status, 200);
  assert.equal((await patch(id, { html: '<b>{{#each x}}</b>' })).status, 400);
});

test('the largest template is accepted, and comes back whole', async () => {
  const html = variables(50).padEnd(MAX_SOURCE_BYTES, 'x');
  const body = { name: 'x'.repeat(200), subject: 'x'.repeat(998), html, text: 'y'.repeat(MAX_SOURCE_BYTES) };
  const created = await create(body);
  assert.equal(created.status, 201);
  const got = (await world.request('GET', `/v1/templates/${created.body.id}`)).body;
  assert.equal(got.variables.length, 50);
  assert.ok(got.html === body.html && got.text === body.text);
});

test('a change of the content finds its variables anew', async () => {
  const before = await created();
  await clock.advance(1_000);
  const change = { subject: 'Bye {{x}}', html: '<p>{{{y|<b>}}}</p>', text: null };
  const { body } = await patch(before.id, change);
  const variables = [{ name: 'x' }, { name: 'y', fallback: '<b>' }];
  assert.deepEqual(body, { ...before, ...change, variables, updatedAt: new Date(clock.now()).toISOString() });
  assert.deepEqual(await get(before.id), body);
});

test('a change counts the variables of the whole template, and the refusal names the field that adds too many', async () => {
  const { id } = await created({ subject: 's', html: variables(50), text: null });
  for (const field of ['subject', 'text']) {
    const { status, body } = await patch(id, { [field]: '{{one}} more' });
    assert.deepEqual([status, body.error.param], [400, field]);
    assert.match(body.error.message, /50 variables together; they contain 51/);
  }
  assert.equal((await patch(id, { text: '{{v0}}' })).status, 200);
  assert.equal((await patch(id, { html: variables(49), subject: '{{one}} more' })).status, 200);
});

test('two changes at once cannot bring more variables together than one may', async () => {
  const { id } = await created({ subject: 's', html: variables(49), text: null });
  const one = await Promise.all([patch(id, { subject: '{{s}}' }), patch(id, { text: '{{t}}' })]);
  assert.deepEqual(one.map(({ status }) => status).sort(), [200, 400]);
  assert.equal((await get(id)).variables.length, 50);
});

test('a template deleted while it is changed is not found, and not made again', async () => {
  const { id } = await created();
  const db: typeof world.app.db = Object.create(world.app.db);
  db.commit = async (write, input) => {
    await world.app.db.commit(deleteTemplate, { tenantId: world.tenantId, approval: null, id });
    return world.app.db.commit(write, input);
  };
  await assert.rejects(
    updateTemplate(
      { clock, db },
      { tenantId: world.tenantId, keyId: 'key_1', personId: null, approval: null, id },
      { name: 'x' },
    ),
    /Template not found/,
  );
  assert.equal((await world.request('GET', `/v1/templates/${id}`)).status, 404);
});

test('mail that was accepted stays as it was when its template is changed, and when it is deleted', async () => {
  const { id } = await created({ html: '<p>Hi {{b|you}}</p>', text: 'Hi {{c}}' });
  const scheduledAt = new Date(clock.now() + HOUR_MS).toISOString();
  const more = { html: undefined, text: undefined, templateId: id, variables: { b: 'Bob' }, scheduledAt };
  const email = await senderOf(() => world).accepted(more);
  assert.deepEqual([email.html, email.text, email.templateId], ['<p>Hi Bob</p>', 'Hi ', id]);
  const message = await rawMessage(world.app, email.id);
  const unchanged = async (when: string) => {
    assert.deepEqual((await world.request('GET', `/v1/emails/${email.id}`)).body, email, when);
    assert.equal(await rawMessage(world.app, email.id), message, when);
  };
  assert.equal((await patch(id, { html: '<p>Other {{b}}</p>', text: 'other' })).status, 200);
  await unchanged('changed');
  assert.equal((await world.request('DELETE', `/v1/templates/${id}`)).status, 204);
  await unchanged('deleted');
  const refused = await senderOf(() => world).send(more);
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'templateId']);
});

test('the list by name holds the templates of exactly that name, in pages', async () => {
  const { testKey } = await world.addTenant('namer');
  const ids: string[] = [];
  for (const name of ['Welcome', 'welcome', 'Welcome', 'Welcome!', 'Welcome']) {
    await clock.advance(1);
    const { body } = await create({ ...WELCOME, name }, testKey);
    if (name === 'Welcome') ids.unshift(body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/templates?${query}`, { key: testKey });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list('name=Welcome&limit=2'), [ids.slice(0, 2), true, ids[1]]);
  assert.deepEqual(await list(`name=Welcome&limit=2&startingAfter=${ids[1]}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`name=Welcome&limit=1&endingBefore=${ids[2]}`), [[ids[1]], true, ids[1]]);
});
