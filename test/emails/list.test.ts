import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { newId } from '../../src/system/ids.ts';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { emailBody, SANDBOX, SIMULATOR } from './fixtures.ts';

const EMAILS = 25;

/** Newest first. */
const ids: string[] = [];
const spool = await openSpool();
for (let index = 0; index < EMAILS; index++) {
  ids.unshift(await send({ subject: `Number ${index}` }));
  await spool.clock.advance(1);
}
after(() => spool.close());

async function send(more: Record<string, unknown>, key = spool.testKey): Promise<string> {
  const { status, body } = await spool.request('POST', '/v1/emails', { key, body: emailBody(more) });
  assert.equal(status, 200, JSON.stringify(body));
  return body.id;
}

async function list(query: Record<string, string>, key = spool.testKey) {
  const { status, body } = await spool.request('GET', `/v1/emails?${new URLSearchParams(query)}`, { key });
  assert.equal(status, 200, JSON.stringify(body));
  const found = body.data.map(({ id }: { id: string }) => id) as string[];
  return { ids: found, hasMore: body.hasMore as boolean, nextCursor: body.nextCursor as string | null };
}

async function refused(query: string, param: string) {
  const { status, body } = await spool.request('GET', `/v1/emails?${query}`);
  assert.equal(status, 400, `${query}: ${JSON.stringify(body)}`);
  assert.deepEqual([body.error.type, body.error.param], ['validation_error', param], query);
}

/** As a crash or a stop may leave all recipients of an email. */
function setState(emailId: string, state: string, attempts: number): void {
  const database = new Sqlite(join(spool.dataDir, 'postrider.db'));
  const set = "UPDATE recipients SET state = ?, attempts = ?, runId = 'x' WHERE messageId = ?";
  database.prepare(set).run(state, attempts, emailId);
  database.close();
}

/** A tenant of its own for a test that counts. */
async function stranger(name: string) {
  return (await spool.addTenant(name)).testKey;
}

test('a list starts with the 20 newest, each with six fields', async () => {
  const page = await list({});
  assert.deepEqual(page, { ids: ids.slice(0, 20), hasMore: true, nextCursor: ids[19] });
  const { body } = await spool.request('GET', '/v1/emails');
  assert.deepEqual(Object.keys(body.data[0]).sort(), ['createdAt', 'from', 'id', 'status', 'subject', 'to']);
  assert.deepEqual(Object.keys(body).sort(), ['data', 'hasMore', 'nextCursor']);
});

test('an empty list is a list', async () => {
  const { status, body } = await spool.request('GET', '/v1/emails', { key: await stranger('empty') });
  assert.deepEqual([status, body], [200, { data: [], hasMore: false, nextCursor: null }]);
});

test('a cursor whose email does not exist, or is another tenant’s, is a position', async () => {
  const start = Date.parse('2020-01-01');
  assert.deepEqual((await list({ startingAfter: newId('em', start) })).ids, []);
  assert.deepEqual((await list({ startingAfter: newId('em', spool.clock.now() + 1) })).ids, ids.slice(0, 20));
  const foreign = await send({}, await stranger('cursor'));
  assert.deepEqual((await list({ startingAfter: foreign })).ids, ids.slice(0, 20));
});

test('filters: sender by address or by domain, whatever the case', async () => {
  const key = spool.liveKey;
  const ada = await send({ from: `Ada <Ada@${SENDER_DOMAIN}>` }, key);
  const eve = await send({ from: `eve@${SENDER_DOMAIN}` }, key);
  const sandbox = await send({ from: `ada@${SANDBOX}`, to: `delivered@${SIMULATOR}` }, key);
  assert.deepEqual((await list({ from: `ADA@Sender.Example` }, key)).ids, [ada]);
  assert.deepEqual(new Set((await list({ from: 'SENDER.example' }, key)).ids), new Set([ada, eve]));
  assert.deepEqual((await list({ from: SANDBOX }, key)).ids, [sandbox]);
  assert.deepEqual((await list({ from: `Ada Lovelace <ada@${SENDER_DOMAIN}>` }, key)).ids, [ada]);
  for (const from of ['example', 'ada', '', `%`, `_da@${SENDER_DOMAIN}`, "' OR 1=1 --"]) {
    assert.deepEqual((await list({ from }, key)).ids, [], from);
  }
});

test('filters: recipient in any field, whatever the case and the script', async () => {
  const key = await stranger('recipients');
  const to = await send({ to: ['x@rcpt.example', 'Bob <BOB@rcpt.example>'] }, key);
  const cc = await send({ cc: 'bob@Rcpt.Example' }, key);
  const bcc = await send({ bcc: 'bob@rcpt.example' }, key);
  const idn = await send({ to: 'a@bücher.example' }, key);
  const found = (await list({ to: 'bOb@rcpt.EXAMPLE' }, key)).ids;
  assert.deepEqual(new Set(found), new Set([to, cc, bcc]));
  assert.deepEqual((await list({ to: 'x@rcpt.example' }, key)).ids, [to]);
  assert.deepEqual((await list({ to: 'a@BÜCHER.example' }, key)).ids, [idn]);
  assert.deepEqual((await list({ to: 'rcpt.example' }, key)).ids, []);
});

test('filters: a tag, by its key and its value', async () => {
  const key = await stranger('tags');
  const spring = await send({ tags: { campaign: 'spring', team: 'a' } }, key);
  const autumn = await send({ tags: { campaign: 'autumn', team: 'a' } }, key);
  const url = await send({ tags: { 'a:b': 'c', a: 'b:c' } }, key);
  await send({}, key);
  assert.deepEqual((await list({ tag: 'campaign:spring' }, key)).ids, [spring]);
  assert.deepEqual(new Set((await list({ tag: 'team:a' }, key)).ids), new Set([spring, autumn]));
  assert.deepEqual(
    (await list({ tag: 'a:b:c' }, key)).ids,
    [url],
    'once, though it answers to both readings',
  );
  assert.deepEqual((await list({ tag: 'a:b:c', to: 'bob@rcpt.example' }, key)).ids, [url]);
  for (const tag of ['campaign:summer', 'Campaign:spring', 'team:A', 'spring:campaign']) {
    assert.deepEqual((await list({ tag }, key)).ids, [], tag);
  }
  assert.deepEqual((await list({ tag: 'campaign:spring' }, spool.testKey)).ids, [], 'another tenant');
  for (const tag of ['', 'campaign', ':', 'a:', ':b']) await refused(`tag=${tag}`, 'tag');
});

test('filters: the API key that has sent it, which the email shows', async () => {
  const key = await spool.newKey({ name: 'shop' });
  const {
    body: { data: keys },
  } = await spool.request('GET', '/v1/api-keys?limit=100');
  const { id: apiKeyId } = keys.find(({ name }: { name: string }) => name === 'shop');
  const sent = await send({ tags: { a: 'b' } }, key);
  const batch = { emails: [emailBody({})] };
  const { body: answer } = await spool.request('POST', '/v1/emails/batch', { key, body: batch });
  const [{ id: batched }] = answer.data;
  const other = await send({});
  assert.deepEqual(new Set((await list({ apiKeyId })).ids), new Set([sent, batched]));
  assert.deepEqual((await list({ apiKeyId, tag: 'a:b' })).ids, [sent]);
  assert.deepEqual((await list({ apiKeyId, status: 'delivered' })).ids, []);
  const shown = async (id: string) => (await spool.request('GET', `/v1/emails/${id}`)).body.apiKeyId;
  assert.equal(await shown(sent), apiKeyId);
  assert.notEqual(await shown(other), apiKeyId);
  assert.deepEqual((await list({ apiKeyId }, spool.liveKey)).ids, [], 'another mode');
  assert.deepEqual((await list({ apiKeyId }, await stranger('keys'))).ids, [], 'another tenant');
  for (const unknown of ['', 'key_', newId('key', 0)])
    assert.deepEqual((await list({ apiKeyId: unknown })).ids, []);
  assert.equal((await spool.request('DELETE', `/v1/api-keys/${apiKeyId}`)).status, 204);
  assert.deepEqual((await list({ apiKeyId, tag: 'a:b' })).ids, [sent], 'a revoked key');
});

test('filters: the status of at least one recipient, as the email shows it', async () => {
  const key = await stranger('standings');
  const to = (...locals: string[]) => ({ to: locals.map((local) => `${local}@${SIMULATOR}`) });
  const mixed = await send(to('delivered', 'bounced', 'suppressed'), key);
  const delayed = await send(to('delayed'), key);
  const complained = await send(to('complained', 'complained+b'), key);
  await spool.deliverDue();
  const queued = await send({}, key);
  const canceled = await send({}, key);
  assert.equal((await spool.request('POST', `/v1/emails/${canceled}/cancel`, { key })).status, 200);
  const expected = {
    ...{ queued: [queued], sent: [], deferred: [delayed], delivered: [mixed], bounced: [mixed] },
    ...{ complained: [complained], suppressed: [mixed], canceled: [canceled] },
  };
  for (const [recipientStatus, found] of Object.entries(expected)) {
    assert.deepEqual((await list({ recipientStatus }, key)).ids, found, recipientStatus);
  }
  assert.deepEqual((await list({ recipientStatus: 'bounced', status: 'delivered' }, key)).ids, [mixed]);
  assert.deepEqual((await list({ recipientStatus: 'bounced', status: 'bounced' }, key)).ids, []);
  for (const status of ['', 'Delivered', 'open']) await refused(`status=${status}`, 'status');
  for (const recipientStatus of ['', 'open', 'Bounced']) {
    await refused(`recipientStatus=${recipientStatus}`, 'recipientStatus');
  }
});

test('filters: when it was accepted, by itself and with every other', async () => {
  const key = await stranger('dates');
  const sent: string[] = [];
  const times: string[] = [];
  for (let index = 0; index < 4; index++) {
    const to = [`delivered@${SIMULATOR}`, `bounced@${SIMULATOR}`, 'bob@rcpt.example'];
    sent.push(await send({ to, tags: { a: 'b', 'a:b': 'c' } }, key));
    times.push(new Date(spool.clock.now()).toISOString());
    await spool.clock.advance(1_000);
  }
  const [, second = '', , fourth = ''] = times;
  const middle = [sent[2], sent[1]];
  const filters: Record<string, string>[] = [
    {},
    { status: 'queued' },
    { from: SANDBOX },
    { from: `ada@${SANDBOX}` },
    { to: 'bob@rcpt.example' },
    { tag: 'a:b' },
    { tag: 'a:b:c' },
    { recipientStatus: 'queued' },
  ];
  for (const filter of filters) {
    const range = { ...filter, createdAfter: second, createdBefore: fourth };
    assert.deepEqual((await list(range, key)).ids, middle, JSON.stringify(filter));
    const [newer = '', older = ''] = middle;
    assert.deepEqual((await list({ ...range, startingAfter: newer }, key)).ids, [older]);
    assert.deepEqual((await list({ ...range, endingBefore: older }, key)).ids, [newer]);
  }
  await spool.deliverDue();
  for (const recipientStatus of ['delivered', 'bounced']) {
    const range = { recipientStatus, createdAfter: second, createdBefore: fourth };
    assert.deepEqual((await list(range, key)).ids, middle, recipientStatus);
  }
  await refused('createdAfter=yesterday', 'createdAfter');
});

test('an email with several recipients of the status is listed once, in pages and in order', async () => {
  const key = await stranger('several');
  const sent: string[] = [];
  for (let index = 0; index < 3; index++) {
    const to = ['delayed', 'delayed+2', 'bounced', 'bounced+2'].map((local) => `${local}@${SIMULATOR}`);
    sent.unshift(await send({ to }, key));
    await spool.clock.advance(1);
  }
  assert.deepEqual((await list({ recipientStatus: 'queued' }, key)).ids, sent);
  await spool.deliverDue();
  for (const recipientStatus of ['deferred', 'bounced']) {
    const first = await list({ recipientStatus, limit: '2' }, key);
    assert.deepEqual(first, { ids: sent.slice(0, 2), hasMore: true, nextCursor: sent[1] }, recipientStatus);
    const second = await list({ recipientStatus, limit: '2', startingAfter: sent[1] ?? '' }, key);
    assert.deepEqual(second.ids, sent.slice(2));
  }
});

test('the filter by status finds retried, held and running emails as they are shown', async () => {
  const { testKey: key, liveKey } = await spool.addTenant('states');
  const states = [
    ['ready', 1, 'deferred'],
    ['held', 5, 'held'],
    ['deferred', 1, 'deferred'],
    ['in_flight', 1, 'sent'],
    ['ready', 0, 'queued'],
  ] as const;
  const expected: Record<string, string[]> = {};
  for (const [state, attempts, shown] of states) {
    const id = await send({ to: ['a@rcpt.example', 'b@rcpt.example'] }, key);
    await spool.clock.advance(1);
    setState(id, state, attempts);
    const { body } = await spool.request('GET', `/v1/emails/${id}`, { key });
    assert.deepEqual(
      new Set(body.recipients.map(({ status }: { status: string }) => status)),
      new Set([shown]),
    );
    expected[shown] = [id, ...(expected[shown] ?? [])];
  }
  for (const [recipientStatus, found] of Object.entries(expected)) {
    assert.deepEqual((await list({ recipientStatus }, key)).ids, found, recipientStatus);
    assert.deepEqual((await list({ recipientStatus, from: SANDBOX }, key)).ids, found, recipientStatus);
    const [first = '', ...others] = found;
    assert.deepEqual((await list({ recipientStatus, startingAfter: first }, key)).ids, others);
  }
  assert.deepEqual((await list({ recipientStatus: 'deferred' }, liveKey)).ids, []);
});

test('filters combine with each other and with pages', async () => {
  const key = await stranger('combined');
  const sent: string[] = [];
  for (let index = 0; index < 3; index++) {
    sent.unshift(await send({ to: 'bob@rcpt.example' }, key));
    await send({ to: 'eve@rcpt.example' }, key);
    await spool.clock.advance(1);
  }
  const filter = { to: 'bob@rcpt.example', from: SANDBOX, status: 'queued', limit: '2' };
  const first = await list(filter, key);
  assert.deepEqual(first, { ids: sent.slice(0, 2), hasMore: true, nextCursor: sent[1] });
  const second = await list({ ...filter, startingAfter: first.nextCursor ?? '' }, key);
  assert.deepEqual(second, { ids: sent.slice(2), hasMore: false, nextCursor: null });
});
