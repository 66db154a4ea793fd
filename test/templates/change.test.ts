/** PATCH and DELETE of templates, and the list by name. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { deleteTemplate, listTemplates } from '../../src/templates/store.ts';
import { updateTemplate } from '../../src/templates/update.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { rawMessage, senderOf } from '../emails/fixtures.ts';
import { explain } from '../support/explain.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const SEED = 20_261_121;
const clock = createFakeClock(NOW);
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const WELCOME = { name: 'Welcome', subject: 'Hello {{a}}', html: '<p>Hi {{b|you}}</p>', text: 'Hi {{c}}' };
const create = async (more: object = {}) => {
  const { status, body } = await world.request('POST', '/v1/templates', { body: { ...WELCOME, ...more } });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
};
const patch = (id: string, body: unknown, key = world.testKey) =>
  world.request('PATCH', `/v1/templates/${id}`, { body, key });
const get = async (id: string) => (await world.request('GET', `/v1/templates/${id}`)).body;
const variables = (count: number, prefix = 'v') =>
  Array.from({ length: count }, (_, index) => `{{${prefix}${index}}}`).join('');

test('every field can be changed at once, and the template is answered with its variables found anew', async () => {
  const before = await create();
  await clock.advance(1_000);
  const change = { name: 'Goodbye', subject: 'Bye {{x}}', html: '<p>{{{y|<b>}}}</p>', text: null };
  const { status, body } = await patch(before.id, { ...change, unknown: 1 });
  assert.equal(status, 200);
  assert.deepEqual(body, {
    id: before.id,
    ...change,
    variables: [{ name: 'x' }, { name: 'y', fallback: '<b>' }],
    createdAt: before.createdAt,
    updatedAt: new Date(clock.now()).toISOString(),
  });
  assert.deepEqual(await get(before.id), body);
});

test('fields that a change does not name stay, and a change to the present values is none', async () => {
  const before = await create();
  await clock.advance(1_000);
  const after = (await patch(before.id, { subject: 'Hello' })).body;
  assert.deepEqual(after, {
    ...{ ...before, subject: 'Hello', updatedAt: new Date(clock.now()).toISOString() },
    variables: [{ name: 'b', fallback: 'you' }, { name: 'c' }],
  });
  await clock.advance(1_000);
  for (const body of [{}, { subject: 'Hello' }, { ...WELCOME, subject: 'Hello' }, { unknown: 1 }]) {
    const answer = await patch(before.id, body);
    assert.deepEqual([answer.status, answer.body], [200, after], JSON.stringify(body));
  }
});

const REFUSED: [change: object, param: string][] = [
  [{ name: '' }, 'name'],
  [{ name: null }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ subject: null }, 'subject'],
  [{ subject: '' }, 'subject'],
  [{ subject: 'a\r\nBcc: b@evil.example' }, 'subject'],
  [{ subject: 'a\ud800' }, 'subject'],
  [{ subject: '{{x}}'.repeat(200) }, 'subject'],
  [{ html: null }, 'html'],
  [{ html: '' }, 'html'],
  [{ html: 'a\0' }, 'html'],
  [{ html: '\udc00' }, 'html'],
  [{ html: 'é'.repeat(512 * 1024 + 1) }, 'html'],
  [{ html: variables(51) }, 'html'],
  [{ html: '{{x}}'.repeat(10_001) }, 'html'],
  [{ text: 'a\0' }, 'text'],
  [{ text: 'x'.repeat(1024 * 1024 + 1) }, 'text'],
  [{ text: variables(51) }, 'text'],
  [{ text: '{{x}}'.repeat(10_001) }, 'text'],
  [{ text: 7 }, 'text'],
  [{ id: 'tpl_x' }, 'id'],
  [{ variables: [] }, 'variables'],
  [{ createdAt: '2026-01-01T00:00:00Z' }, 'createdAt'],
  [{ updatedAt: null }, 'updatedAt'],
  [{ Subject: 'x' }, 'Subject'],
];
for (const [change, param] of REFUSED) {
  test(`a change is refused, and nothing of it done: ${JSON.stringify(change).slice(0, 60)}`, async () => {
    const before = await create();
    const { status, body } = await patch(before.id, { name: 'new', ...change });
    assert.deepEqual([status, body.error.type, body.error.param], [400, 'validation_error', param]);
    assert.deepEqual(await get(before.id), before);
  });
}

test('a change that is no object or absent is refused', async () => {
  const { id } = await create();
  for (const body of [undefined, null, [], 'x', 7]) assert.equal((await patch(id, body)).status, 400);
});

test('a change counts the variables of the whole template, and the refusal names the field that adds too many', async () => {
  const { id } = await create({ subject: 's', html: variables(50), text: null });
  for (const field of ['subject', 'text']) {
    const { status, body } = await patch(id, { [field]: '{{one}} more' });
    assert.deepEqual([status, body.error.param], [400, field]);
    assert.match(body.error.message, /50 variables together; they contain 51/);
  }
  assert.equal((await patch(id, { text: '{{v0}}' })).status, 200);
  assert.equal((await patch(id, { html: variables(49), subject: '{{one}} more' })).status, 200);
});

test('two changes at once are both made, and what neither would do alone they cannot do together', async () => {
  const first = await create();
  const answers = await Promise.all([patch(first.id, { name: 'new' }), patch(first.id, { subject: 'new' })]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  const both = await get(first.id);
  assert.deepEqual([both.name, both.subject, both.html], ['new', 'new', WELCOME.html]);

  const { id } = await create({ subject: 's', html: variables(49), text: null });
  const one = await Promise.all([patch(id, { subject: '{{s}}' }), patch(id, { text: '{{t}}' })]);
  assert.deepEqual(one.map(({ status }) => status).sort(), [200, 400]);
  assert.equal((await get(id)).variables.length, 50);
});

test('a template deleted while it is changed is not found, and not made again', async () => {
  const { id } = await create();
  const db: typeof world.app.db = Object.create(world.app.db);
  db.commit = async (write, input) => {
    await world.app.db.commit(deleteTemplate, { tenantId: world.tenantId, id });
    return world.app.db.commit(write, input);
  };
  await assert.rejects(
    updateTemplate({ clock, db }, { tenantId: world.tenantId, id }, { name: 'x' }),
    /Template not found/,
  );
  assert.equal((await world.request('GET', `/v1/templates/${id}`)).status, 404);
});

test('a deleted template is gone for everybody, and its place is free', async () => {
  const { id } = await create();
  const gone = await world.request('DELETE', `/v1/templates/${id}`);
  assert.deepEqual([gone.status, gone.body], [204, '']);
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
    const answer = await world.request(method, `/v1/templates/${id}`, { ...(body && { body }) });
    assert.deepEqual([answer.status, answer.body.error.message], [404, 'Template not found'], method);
  }
  const { body } = await world.request('GET', '/v1/templates?limit=100');
  assert.ok(body.data.every((item: { id: string }) => item.id !== id));
});

test('mail that was accepted stays as it was when its template is changed, and when it is deleted', async () => {
  const { id } = await create();
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

test('neither a sending nor a reading key may change or delete a template', async () => {
  const { id } = await create();
  for (const permission of ['sending_access', 'read_only'] as const) {
    const { tenantId } = world;
    const key = { tenantId, name: permission, mode: 'test', permission, expiresAt: null } as const;
    const { token } = await createApiKey(world.app, key);
    assert.equal((await patch(id, { name: 'x' }, token)).status, 403);
    assert.equal((await world.request('DELETE', `/v1/templates/${id}`, { key: token })).status, 403);
  }
  assert.equal((await get(id)).name, WELCOME.name);
});

test('the list by name holds the templates of exactly that name, in pages', async () => {
  const { testKey } = await world.addTenant('namer');
  const ids: string[] = [];
  for (const name of ['Welcome', 'welcome', 'Welcome', 'Welcome!', 'Welcome']) {
    await clock.advance(1);
    const { body } = await world.request('POST', '/v1/templates', {
      key: testKey,
      body: { ...WELCOME, name },
    });
    if (name === 'Welcome') ids.unshift(body.id);
  }
  const list = async (query: string) => {
    const { body } = await world.request('GET', `/v1/templates?${query}`, { key: testKey });
    return [body.data.map(({ id }: { id: string }) => id), body.hasMore, body.nextCursor];
  };
  assert.deepEqual(await list('name=Welcome'), [ids, false, null]);
  assert.deepEqual(await list('name=Welcome&limit=2'), [ids.slice(0, 2), true, ids[1]]);
  assert.deepEqual(await list(`name=Welcome&limit=2&startingAfter=${ids[1]}`), [ids.slice(2), false, null]);
  assert.deepEqual(await list(`name=Welcome&limit=1&endingBefore=${ids[2]}`), [[ids[1]], true, ids[1]]);
  for (const name of ['nobody', '', '%00', "'--", 'Welcom%25']) {
    assert.deepEqual(await list(`name=${name}`), [[], false, null], name);
  }
});

test('every page of templates comes from an index, in order', async () => {
  for (const [name, index] of [
    [undefined, 'templatesByTenant'],
    ['Welcome', 'templatesByName'],
  ] as const) {
    for (const cursor of [{}, { startingAfter: 'tpl_1' }, { endingBefore: 'tpl_1', from: 'tpl_0' }]) {
      const plan = await explain((tx) => listTemplates(tx, 'ten_1', { limit: 10, name, ...cursor }));
      assert.equal(plan.length, 1, plan.join('\n'));
      assert.match(plan[0] ?? '', new RegExp(`^SEARCH templates USING INDEX ${index} `));
    }
  }
});

test('changes add up to the last word on every field, whatever their order', async () => {
  const line = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `x${text.replace(/\p{Cc}/gu, '')}`);
  const change = fc.record(
    { name: line, subject: line, html: line, text: fc.option(line) },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(fc.array(change, { maxLength: 5 }), async (changes) => {
    const { id, variables: _, updatedAt: __, ...wished } = await create();
    let last = '';
    for (const body of changes) {
      Object.assign(wished, body);
      const answer = await patch(id, body);
      assert.equal(answer.status, 200, JSON.stringify(body));
      assert.ok(answer.body.updatedAt >= last, 'time goes on');
      last = answer.body.updatedAt;
    }
    const { variables: ___, updatedAt: ____, ...shown } = await get(id);
    assert.deepEqual(shown, { ...wished, id });
  });
  await fc.assert(property, { seed: SEED, numRuns: 40 });
});
