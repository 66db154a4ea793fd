/** Tests of the pages behind an unsubscribe link: a reader can decide there, and nobody else can. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { createLinks } from '../../src/links/links.ts';
import type { Subscription } from '../../src/links/unsubscribe-token.ts';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { type Id, newId } from '../../src/system/ids.ts';
import { insertTopic, MAX_TOPICS } from '../../src/topics/store.ts';
import { openSpool, type Spool } from '../support/spool.ts';

let spool: Spool;
let pages: FastifyInstance;
let audienceId: string;
before(async () => {
  spool = await openSpool();
  pages = createPreferencesApp(spool.app).app;
  await pages.ready();
  audienceId = (await create('/v1/audiences', { name: 'Readers' })).id;
});
after(async () => {
  await pages.close();
  await spool.close();
});

async function create(path: string, body: object) {
  const created = await spool.request('POST', path, { body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body;
}

const addTopic = async (name: string, more: object = {}): Promise<Id<'top'>> =>
  (await create('/v1/topics', { name, defaultOptIn: true, ...more })).id;

let readers = 0;

/** Adds a contact with an address of its own, and returns its link's path, with the contact. */
async function addReader(topicId?: Id<'top'>) {
  const address = `reader${++readers}@rcpt.example`;
  const { id } = await create(`/v1/audiences/${audienceId}/contacts`, { email: address });
  return { address, contactId: id as Id<'ct'>, path: pathOf({ topicId, contactId: id, address }) };
}

function pathOf(subscription: Omit<Subscription, 'tenantId'>): string {
  const url = createLinks(spool.app).unsubscribeUrl({ ...subscription, tenantId: spool.tenantId });
  assert.ok(url.startsWith('https://track.mx.postrider.example/u/'), url);
  return new URL(url).pathname;
}

const FORM = 'application/x-www-form-urlencoded';
const ONE_CLICK = 'List-Unsubscribe=One-Click';

async function post(url: string, payload: string, contentType = FORM) {
  const { statusCode, headers, body } = await pages.inject({
    method: 'POST',
    url,
    payload,
    headers: { 'content-type': contentType },
  });
  return { status: statusCode, headers, body };
}

const get = (url: string, headers: Record<string, string> = {}) =>
  pages.inject({ method: 'GET', url, headers });

async function contactOf(address: string) {
  return (await spool.request('GET', `/v1/audiences/${audienceId}/contacts/${address}`)).body;
}

/** Returns the status that a marketing email to the address gets. */
async function statusOfMail(address: string, topicId: string): Promise<number> {
  const body = { from: 'a@sender.example', to: address, subject: 's', text: 't', type: 'broadcast', topicId };
  return (await spool.request('POST', '/v1/emails', { body })).status;
}

test('a one-click request leaves the topic, at once and once, in both kinds of form', async () => {
  const topicId = await addTopic('News');
  const multipart = `--xx\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--xx--\r\n`;
  for (const [payload, type] of [
    [ONE_CLICK, FORM],
    [multipart, 'multipart/form-data; boundary=xx'],
  ] as const) {
    const { address, path } = await addReader(topicId);
    assert.equal(await statusOfMail(address, topicId), 200);
    for (let times = 0; times < 2; times++) {
      const { status, headers } = await post(path, payload, type);
      assert.deepEqual([status, headers.location, headers['set-cookie']], [200, undefined, undefined]);
    }
    assert.equal(await statusOfMail(address, topicId), 422);
    const contact = await contactOf(address);
    assert.deepEqual(contact.topics, [{ id: topicId, subscription: 'opt_out' }]);
    assert.equal(contact.unsubscribed, false, 'other topics stay');
    assert.equal((await eventsOf(contact.id)).filter((type) => type === 'contact.unsubscribed').length, 1);
  }
  const suppressions = await spool.app.db.read.selectFrom('suppressions').selectAll().execute();
  assert.deepEqual(suppressions, []);
});

async function eventsOf(contactId: string): Promise<string[]> {
  const rows = await spool.app.db.read.selectFrom('events').select(['type', 'data', 'mode']).execute();
  return rows.filter(({ data, mode }) => mode === 'live' && data.includes(contactId)).map(({ type }) => type);
}

test('a one-click request without a body leaves the topic, too', async () => {
  const topicId = await addTopic('Bodyless');
  for (const headers of [
    ...[{}, { 'content-type': FORM }, { 'content-length': '0' }, { 'transfer-encoding': 'chunked' }],
    ...[{ 'content-type': 'application/json' }, { 'content-type': 'text/plain', 'content-length': '0' }],
  ]) {
    const { address, path } = await addReader(topicId);
    const { statusCode } = await pages.inject({ method: 'POST', url: path, headers });
    assert.equal(statusCode, 200, JSON.stringify(headers));
    assert.equal(await statusOfMail(address, topicId), 422);
  }
});

test('a one-click request needs no type, and a line end behind its words does not matter', async () => {
  const topicId = await addTopic('Lenient');
  for (const headers of [{}, { 'content-type': FORM }]) {
    const { address, path } = await addReader(topicId);
    const payload = Buffer.from(`${ONE_CLICK}\r\n`);
    assert.equal((await pages.inject({ method: 'POST', url: path, payload, headers })).statusCode, 200);
    assert.equal(await statusOfMail(address, topicId), 422);
  }
});

test('somebody who has unsubscribed before is told so, when they ask again and when they open the page', async () => {
  const topicId = await addTopic('Twice');
  const { path } = await addReader(topicId);
  assert.match((await post(path, ONE_CLICK)).body, /You will no longer receive mail about “Twice”/);
  assert.match((await post(path, ONE_CLICK)).body, /unsubscribed already: you receive no mail about “Twice”/);
  assert.match(
    (await get(path)).body,
    /<h1>You are unsubscribed<.*unsubscribed already.*Choose what you receive.*value="return"/s,
  );
  assert.doesNotMatch((await get(path)).body, /value="unsubscribe"/);
  assert.match((await post(path, 'action=leave')).body, /You will no longer receive newsletters/);
  assert.match((await post(path, 'action=leave')).body, /unsubscribed already: you receive no newsletters/);
  await post(path, 'action=return');
  assert.match((await get(path)).body, /<h1>Your subscriptions<.*Do you want to stop/s);
  assert.match((await get(path, { 'accept-language': 'de' })).body, /Möchten Sie/);
});

test('a link on the first page leads to the topics, before anything is changed', async () => {
  const topicId = await addTopic('Chosen', { description: 'Every day' });
  const { address, path } = await addReader(topicId);
  const first = (await get(path)).body;
  assert.doesNotMatch(first, /Every day/);
  const query = /<a href="([^"]+)">Choose what you receive<\/a>/.exec(first)?.[1] ?? assert.fail(first);
  const { body } = await get(path + query);
  assert.match(body, /<small dir="auto">Every day<\/small>/);
  assert.match(body, /value="unsubscribe".*value="save".*value="leave"/s);
  assert.equal(await statusOfMail(address, topicId), 200);
  const saved = await post(path + query, 'action=save');
  assert.match(saved.body, /are saved/);
  assert.equal(await statusOfMail(address, topicId), 422);
});

test('a link without a topic leaves all marketing mail', async () => {
  const topicId = await addTopic('Everything');
  const { address, path } = await addReader();
  assert.equal((await post(path, ONE_CLICK)).status, 200);
  assert.equal((await contactOf(address)).unsubscribed, true);
  assert.equal(await statusOfMail(address, topicId), 422);
});

test('reading a page changes nothing, however often and by whatever method', async () => {
  const topicId = await addTopic('Scanned');
  const { address, path } = await addReader(topicId);
  const before = await spool.app.db.read.selectFrom('contactChoices').selectAll().execute();
  for (let times = 0; times < 100; times++)
    for (const method of ['GET', 'HEAD', 'OPTIONS'] as const) await pages.inject({ method, url: path });
  assert.deepEqual(await spool.app.db.read.selectFrom('contactChoices').selectAll().execute(), before);
  assert.equal(await statusOfMail(address, topicId), 200);
});

test('the page asks first, with one button, in the language of the reader, and masks the address', async () => {
  const topicId = await addTopic('Große <b>News</b>');
  const { address, path } = await addReader(topicId);
  const { statusCode, headers, body } = await get(path, { 'accept-language': 'xx, de-AT;q=0.9, en;q=0.1' });
  assert.equal(statusCode, 200);
  assert.equal(body.match(/<button/g)?.length, 1);
  assert.match(body, /<html lang="de">/);
  assert.match(body, /„Große &lt;b>News&lt;\/b>“ mehr an r•••@rcpt\.example/);
  assert.ok(!body.includes(address));
  assert.doesNotMatch(body, /<script|style=/);
  assert.match(String(headers['content-security-policy']), /^default-src 'none'; style-src 'self'/);
  assert.deepEqual(
    [headers['cache-control'], headers['x-robots-tag'], headers['referrer-policy'], headers['set-cookie']],
    ['no-store', 'noindex', 'no-referrer', undefined],
  );
  const style = await get('/preferences.css');
  assert.deepEqual([style.statusCode, style.headers['content-type']], [200, 'text/css; charset=utf-8']);
});

test('after the button come the topics, leaving everything, and coming back', async () => {
  const [topicId, other] = [
    await addTopic('First', { description: 'Once a week' }),
    await addTopic('Second'),
  ];
  const { address, path } = await addReader(topicId);
  const left = await post(path, 'action=unsubscribe');
  assert.equal(left.status, 200);
  assert.match(left.body, /no longer receive mail about “First”/);
  assert.match(left.body, /<small dir="auto">Once a week<\/small>/);
  const isChecked = (body: string, id: string) => new RegExp(`value="${id}" checked`).test(body);
  assert.deepEqual([isChecked(left.body, topicId), isChecked(left.body, other)], [false, true]);

  const saved = await post(path, `action=save&topic=${topicId}`);
  assert.deepEqual([isChecked(saved.body, topicId), isChecked(saved.body, other)], [true, false]);
  assert.deepEqual([await statusOfMail(address, topicId), await statusOfMail(address, other)], [200, 422]);

  await post(path, 'action=leave');
  assert.deepEqual(
    [await statusOfMail(address, topicId), (await contactOf(address)).unsubscribed],
    [422, true],
  );

  const returned = await post(path, 'action=return');
  assert.match(returned.body, /Welcome back/);
  assert.deepEqual(
    [await statusOfMail(address, topicId), (await contactOf(address)).unsubscribed],
    [200, false],
  );
});

test('a reader who leaves after being deleted is remembered, and no import or request brings them back', async () => {
  const topicId = await addTopic('Remembered');
  const { address, path } = await addReader(topicId);
  await spool.request('DELETE', `/v1/audiences/${audienceId}/contacts/${address}`);
  assert.equal((await post(path, ONE_CLICK)).status, 200);
  assert.equal(await statusOfMail(address, topicId), 422);
  const again = await create(`/v1/audiences/${audienceId}/contacts`, {
    email: address.toUpperCase(),
    topics: [{ id: topicId, subscription: 'opt_in' }],
  });
  assert.deepEqual(again.topics, [{ id: topicId, subscription: 'opt_out' }]);
  assert.equal(await statusOfMail(address, topicId), 422);
  // The owner can still subscribe the contact again on purpose, as after any other opt-out.
  const change = { topics: [{ id: topicId, subscription: 'opt_in' }] };
  await spool.request('PATCH', `/v1/audiences/${audienceId}/contacts/${again.id}`, { body: change });
  assert.equal(await statusOfMail(address, topicId), 200);
});

test('a link leaves the mail of its own tenant alone', async () => {
  const topicId = await addTopic('Own');
  const other = await spool.addTenant('other');
  const audience = await spool.request('POST', '/v1/audiences', { key: other.testKey, body: { name: 'a' } });
  const { address, path } = await addReader(topicId);
  const theirs = `/v1/audiences/${audience.body.id}/contacts`;
  await spool.request('POST', theirs, { key: other.testKey, body: { email: address } });
  await post(path, 'action=leave');
  const shown = await spool.request('GET', `${theirs}/${address}`, { key: other.testKey });
  assert.equal(shown.body.unsubscribed, false);
});

test('a form that cannot be read is refused with 400 and changes nothing', async () => {
  const topicId = await addTopic('Malformed');
  const { address, path } = await addReader(topicId);
  for (const [payload, type] of [
    ['action=destroy', FORM],
    ['List-Unsubscribe=Two-Clicks', FORM],
    [`${ONE_CLICK}&pad=${'x'.repeat(1024 * 1024)}`, FORM],
    ['--yy\r\n\r\n--yy--', 'multipart/form-data; boundary=xx'],
    [ONE_CLICK, 'multipart/form-data'],
    [ONE_CLICK, 'text/plain'],
    ['{"List-Unsubscribe":"One-Click"}', 'application/json'],
  ] as const) {
    const { status, body } = await post(path, payload, type);
    assert.equal(status, 400, `${type}: ${body}`);
  }
  assert.equal(await statusOfMail(address, topicId), 200);
});

test('a wrong token, another path and another method lead nowhere', async () => {
  const { path } = await addReader(await addTopic('Tokens'));
  const wrong = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A');
  for (const url of [wrong, `${path}A`, '/u/', '/u/x', '/', '/v1/emails', '/docs', '/metrics']) {
    assert.equal((await get(url)).statusCode, 404, url);
    assert.equal((await post(url, ONE_CLICK)).status, 404, url);
  }
  assert.equal((await pages.inject({ method: 'DELETE', url: path })).statusCode, 405);
});

test('the longest address has a link that works', async () => {
  const address = `${'a'.repeat(64)}@${`${'b'.repeat(59)}.`.repeat(3)}example`;
  assert.equal((await get(pathOf({ topicId: undefined, contactId: undefined, address }))).statusCode, 200);
});

test('the host name chooses between the pages and the API', async () => {
  const api = await spool.openServer();
  await api.listen({ host: '127.0.0.1', port: 0 });
  const { port } = api.server.address() as AddressInfo;
  const ask = (host: string, path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { port, host: '127.0.0.1', path, headers: { host } };
      httpRequest(options, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
  const { path } = await addReader(await addTopic('Hosts'));
  const track = 'track.mx.postrider.example';
  assert.deepEqual([await ask(track, path), await ask(`${track}:443`, '/healthz')], [200, 404]);
  assert.deepEqual(
    [await ask('mx.postrider.example', path), await ask('mx.postrider.example', '/healthz')],
    [404, 200],
  );
});

test('a reader can choose all topics that a tenant may have', async () => {
  const { tenantId } = await spool.addTenant('Many topics');
  const topicIds = Array.from({ length: MAX_TOPICS }, () => newId('top', 0));
  for (const id of topicIds) {
    const topic = { id, tenantId, name: id, description: null, createdAt: 0, updatedAt: 0 };
    await spool.app.db.commit(insertTopic, { ...topic, defaultOptIn: 0 });
  }
  const reader = { tenantId, topicId: undefined, contactId: undefined, address: 'all@rcpt.example' };
  const { pathname } = new URL(createLinks(spool.app).unsubscribeUrl(reader));
  const form = [...topicIds.map((id) => `topic=${id}`), 'action=save'].join('&');
  const saved = await post(pathname, form);
  assert.equal(saved.status, 200, saved.body);
  assert.equal(saved.body.match(/checked/g)?.length, MAX_TOPICS);
});
