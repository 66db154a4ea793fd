/** Versions of templates: each content is kept, once, within limits, and can come back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { MAX_FORMER_BYTES, MAX_VERSIONS, maxFormerBytes } from '../../src/templates/versions-store.ts';
import { execute } from '../support/execute.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const world = await openTestApp({ system: { clock } });
after(() => world.close());

const FIRST = { name: 'Letter', subject: 'First', html: '<p>one</p>', text: 'one' };

async function create(more: object = {}): Promise<string> {
  const { status, body } = await world.request('POST', '/v1/templates', { body: { ...FIRST, ...more } });
  assert.equal(status, 201);
  return body.id;
}

async function change(id: string, body: object, key = world.testKey): Promise<void> {
  await clock.advance(1_000);
  const changed = await world.request('PATCH', `/v1/templates/${id}`, { body, key });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
}

type Summary = { id: string; subject: string; keyId: string | null; createdAt: string };
const list = async (id: string): Promise<Summary[]> =>
  (await world.request('GET', `/v1/templates/${id}/versions?limit=100`)).body.data;
const get = (id: string, version: string) => world.request('GET', `/v1/templates/${id}/versions/${version}`);

/** Returns the contents of all versions as `subject html text`, newest first, as the API shows each of them. */
async function contents(id: string): Promise<string[]> {
  const shown: string[] = [];
  for (const version of await list(id)) {
    const { body } = await get(id, version.id);
    shown.push(`${body.subject} ${body.html} ${body.text}`);
  }
  return shown;
}

/** Returns the texts that are stored beside the versions, in their order. */
async function storedTexts(templateId: string): Promise<string[]> {
  const rows = await world.app.db.read
    .selectFrom('templateTexts')
    .select('content')
    .where('templateId', '=', templateId as `tpl_${string}`)
    .orderBy('content')
    .execute();
  return rows.map(({ content }) => content);
}

test('each change of the content makes a version, with its time and the key that made it', async () => {
  const id = await create();
  await change(id, { subject: 'Second' }, world.liveKey);
  await change(id, { html: '<p>three</p>', text: null });
  assert.deepEqual(await contents(id), [
    'Second <p>three</p> null',
    'Second <p>one</p> one',
    'First <p>one</p> one',
  ]);
  const [third, second, first] = await list(id);
  assert.ok(first && second && third);
  assert.deepEqual(
    [third, second, first].map(({ createdAt }) => Date.parse(createdAt) - Date.parse(first.createdAt)),
    [2_000, 1_000, 0],
  );
  assert.match(first.id, /^tpv_/);
  assert.match(String(first.keyId), /^key_/);
  assert.equal(third.keyId, first.keyId);
  assert.notEqual(second.keyId, first.keyId, 'another key has made the second one');
});

test('a new name, and a change that changes nothing, make no version', async () => {
  const id = await create();
  await change(id, { name: 'Other' });
  await change(id, { subject: FIRST.subject, html: FIRST.html });
  assert.equal((await list(id)).length, 1);
});

test('HTML and text are stored once, however many versions have them', async () => {
  const id = await create();
  await change(id, { subject: 'Second' });
  await change(id, { subject: 'Third' });
  assert.deepEqual(await storedTexts(id), [], 'the template itself has them');
  await change(id, { html: '<p>two</p>' });
  assert.deepEqual(await storedTexts(id), ['<p>one</p>']);
  await change(id, { html: '<p>three</p>' });
  await change(id, { html: '<p>one</p>' });
  assert.deepEqual(await storedTexts(id), ['<p>three</p>', '<p>two</p>']);
  assert.deepEqual(await contents(id), [
    'Third <p>one</p> one',
    'Third <p>three</p> one',
    'Third <p>two</p> one',
    'Third <p>one</p> one',
    'Second <p>one</p> one',
    'First <p>one</p> one',
  ]);
});

test('HTML that equals the text of another version is not taken for it', async () => {
  const id = await create({ html: 'same', text: 'other' });
  await change(id, { html: 'other', text: 'same' });
  await change(id, { html: 'x', text: 'y' });
  assert.deepEqual(await contents(id), ['First x y', 'First other same', 'First same other']);
});

test('a version is restored by a change like any other', async () => {
  const id = await create();
  await change(id, { subject: 'Second', html: '<p>{{name}}</p>', text: null });
  await change(id, { name: 'Renamed' });
  const [, first] = await list(id);
  assert.ok(first);
  await clock.advance(1_000);
  const path = `/v1/templates/${id}/versions/${first.id}/restore`;
  const { status, body } = await world.request('POST', path, { key: world.liveKey });
  assert.equal(status, 200);
  assert.deepEqual(body, (await world.request('GET', `/v1/templates/${id}`)).body);
  const { name, subject, html, text, variables } = body;
  assert.deepEqual([name, subject, html, text, variables], ['Renamed', 'First', '<p>one</p>', 'one', []]);
  assert.equal(body.updatedAt, new Date(clock.now()).toISOString());
  const versions = await list(id);
  assert.equal(versions.length, 3);
  assert.notEqual(versions[0]?.keyId, first.keyId, 'the key that restored has made it');
  assert.equal((await world.request('POST', path)).status, 200);
  assert.equal((await list(id)).length, 3, 'the content was the current one');
});

test('a version that no template may have any more is not restored', async () => {
  const id = await create();
  await change(id, { html: '<p>two</p>' });
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  const former = '<p>{{#each items}}</p>';
  database.prepare('UPDATE templateTexts SET content = ? WHERE templateId = ?').run(former, id);
  database.close();
  const [, first] = await list(id);
  const { status, body } = await world.request('POST', `/v1/templates/${id}/versions/${first?.id}/restore`);
  assert.deepEqual([status, body.error.param], [400, 'html']);
  assert.equal((await list(id)).length, 2);
});

test('a template keeps a bounded number of versions, the newest ones', async () => {
  const id = await create();
  const [first] = await list(id);
  assert.ok(first);
  for (let number = 2; number <= MAX_VERSIONS; number++) await change(id, { html: `<p>${number}</p>` });
  assert.equal((await get(id, first.id)).status, 200);
  await change(id, { html: '<p>last</p>' });
  assert.equal((await list(id)).length, MAX_VERSIONS);
  assert.equal((await get(id, first.id)).status, 404);
  const stored = await storedTexts(id);
  assert.equal(stored.length, MAX_VERSIONS - 1);
  assert.ok(!stored.includes(FIRST.html), 'its HTML went with it');
});

test('former contents of a template take a bounded number of bytes', async () => {
  const id = await create({ text: null });
  const size = 900_000;
  for (const letter of 'abcdefgh') await change(id, { html: letter.repeat(size) });
  const stored = await storedTexts(id);
  const kept = Math.floor(MAX_FORMER_BYTES / size);
  assert.deepEqual(
    stored.map((content) => content.slice(0, 1)),
    [...'abcdefgh'].slice(-1 - kept, -1),
  );
  assert.equal((await list(id)).length, kept + 1);
});

test('the templates of a tenant share what their former contents may take', async () => {
  assert.deepEqual([1, 128, 256, 4_096, 10_000].map(maxFormerBytes), [
    MAX_FORMER_BYTES,
    MAX_FORMER_BYTES,
    MAX_FORMER_BYTES / 2,
    128 * 1024,
    128 * 1024,
  ]);
  const { tenantId, liveKey } = await world.addTenant('crowd');
  const body = { ...FIRST, html: 'a'.repeat(900_000), text: null };
  const { id } = (await world.request('POST', '/v1/templates', { body, key: liveKey })).body;
  const many = JSON.stringify(Array.from({ length: 999 }, (_, index) => `tpl_${1_000 + index}`));
  execute(
    world,
    `INSERT INTO templates (id, tenantId, name, subject, html, createdAt, updatedAt)
       SELECT value, '${tenantId}', value, 'S', 'H', 0, 0 FROM json_each('${many}')`,
  );
  for (const letter of 'bc') await change(id, { html: letter.repeat(900_000) }, liveKey);
  assert.deepEqual(await storedTexts(id), [], 'neither fits into half a MiB');
  await change(id, { html: 'small' }, liveKey);
  await change(id, { html: 'smaller' }, liveKey);
  assert.deepEqual(await storedTexts(id), ['small']);
});

test('the content of a template from before versions becomes its first one with the next change', async () => {
  const id = await create();
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  database.prepare('DELETE FROM templateVersions WHERE templateId = ?').run(id);
  database.close();
  const { createdAt } = (await world.request('GET', `/v1/templates/${id}`)).body;
  assert.deepEqual(await list(id), []);
  await change(id, { subject: 'Second' });
  assert.deepEqual(await contents(id), ['Second <p>one</p> one', 'First <p>one</p> one']);
  const former = (await list(id))[1];
  assert.deepEqual([former?.keyId, former?.createdAt], [null, createdAt]);
});

test('changes at the same time each make a version, and none is lost', async () => {
  const id = await create();
  const subjects = ['a', 'b', 'c', 'd'];
  const patch = (subject: string) => world.request('PATCH', `/v1/templates/${id}`, { body: { subject } });
  for (const { status } of await Promise.all(subjects.map(patch))) assert.equal(status, 200);
  const found = (await list(id)).map(({ subject }) => subject);
  assert.deepEqual(found.toSorted(), [...subjects, 'First'].toSorted());
  assert.equal((await world.request('GET', `/v1/templates/${id}`)).body.subject, found[0]);
});

test('versions are found at their own template and tenant alone, and go with the template', async () => {
  const [id, other] = [await create(), await create()];
  await change(id, { html: '<p>two</p>' });
  const [, first] = await list(id);
  assert.ok(first);
  const { liveKey: stranger } = await world.addTenant('stranger');
  for (const [template, key] of [
    [other, world.testKey],
    [id, stranger],
  ] as const) {
    const path: string = `/v1/templates/${template}/versions/${first.id}`;
    assert.equal((await world.request('GET', path, { key })).status, 404);
    assert.equal((await world.request('POST', `${path}/restore`, { key })).status, 404);
  }
  assert.equal((await world.request('GET', `/v1/templates/${id}/versions`, { key: stranger })).status, 404);
  assert.equal((await world.request('DELETE', `/v1/templates/${id}`)).status, 204);
  assert.deepEqual(await storedTexts(id), []);
  const left = await world.app.db.read.selectFrom('templateVersions').select('templateId').execute();
  assert.ok(left.every(({ templateId }) => templateId !== id));
});

test('a key that only reads sees versions and restores none', async () => {
  const id = await create();
  await change(id, { subject: 'Second' });
  const [, first] = await list(id);
  const key = await world.newKey({ permission: 'read_only' });
  const path = `/v1/templates/${id}/versions/${first?.id}`;
  assert.equal((await world.request('GET', path, { key })).status, 200);
  assert.equal((await world.request('POST', `${path}/restore`, { key })).status, 403);
});
