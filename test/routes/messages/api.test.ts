import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { createDownloadLinks } from '../../../src/routes/post/links.ts';
import { newId } from '../../../src/system/ids.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { addReceived, WITH_FILE } from '../../inbound/fixtures.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({
  system: { clock },
  env: { POSTRIDER_HTTP_PUBLIC_URL: 'https://api.example' },
});
const database = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
const side = kyselyOn(database);
after(async () => {
  database.close();
  await world.close();
});
await addDomain(world, { name: 'shop.example', status: 'verified', id: newId('dom', 0) });

/** More than the share of one address among the responses to requests without a key. */
const LARGE_BYTES = 9 * 1024 * 1024;
const PATH = '/v1/inbound/messages';
const get = async (path: string, key = world.testKey) => world.request('GET', `${PATH}${path}`, { key });

let routes = 0;
async function addRoute(enabled = true): Promise<string> {
  const body = { address: `r${routes++}@shop.example`, destination: 'https://receiver.example/in', enabled };
  return (await world.request('POST', '/v1/inbound/routes', { key: world.liveKey, body })).body.id;
}

test('a message is shown with its texts, its files and its posts, to live and test keys alike', async () => {
  const routeId = await addRoute();
  const id = await addReceived(world, { routeIds: [routeId] });
  const { status, body } = await get(`/${id}`);
  assert.equal(status, 200);
  const { deliveries, rawHeaders, ...message } = body;
  assert.deepEqual(
    [message.from, message.to, message.subject, message.text, message.replyText],
    ['Ann <ann@sender.example>', ['sales@shop.example'], 'Hello', 'Hi', 'Hi'],
  );
  assert.deepEqual(message.attachments, [
    {
      ...{ id: '1', filename: 'list.csv', contentType: 'text/csv', size: 3, contentId: null },
      disposition: 'attachment',
    },
  ]);
  assert.deepEqual(rawHeaders[0], { name: 'Return-Path', value: '<ann@sender.example>' });
  assert.deepEqual(
    deliveries.map(({ id: _, ...one }: { id: string }) => one),
    [
      {
        ...{
          routeId,
          status: 'delivered',
          attempts: 1,
          responseStatus: 200,
          responseTimeMs: 12,
          error: null,
        },
        ...{ responseBody: 'ok', nextAttemptAt: null, createdAt: message.createdAt },
      },
    ],
  );
  assert.deepEqual((await get(`/${id}`, world.liveKey)).body, body);
});

test('the whole message is downloaded with our fields in front, and a file by its number', async () => {
  const id = await addReceived(world);
  const raw = await get(`/${id}/raw`);
  assert.deepEqual(
    [raw.status, raw.headers['content-type'], raw.body],
    [200, 'message/rfc822', `Return-Path: <ann@sender.example>\r\n${WITH_FILE}`],
  );
  const file = await get(`/${id}/attachments/1`);
  assert.deepEqual([file.status, file.body], [200, 'a,b']);
  assert.deepEqual(
    [
      file.headers['content-type'],
      file.headers['content-disposition'],
      file.headers['x-content-type-options'],
    ],
    ['application/octet-stream', 'attachment; filename="list.csv"', 'nosniff'],
  );
  for (const number of ['0', '2', '01', '1e0', '-1', '99999', 'x'])
    assert.equal((await get(`/${id}/attachments/${number}`)).status, 404, number);
});

test('a message whose content was deleted keeps its summary', async () => {
  const id = await addReceived(world, { row: { blobId: null, contentDeletedAt: clock.now() } });
  const { body } = await get(`/${id}`);
  assert.deepEqual(
    [body.from, body.subject, body.text, body.attachments, body.contentDeletedAt],
    ['ann@sender.example', 'Hello', '', [], new Date(clock.now()).toISOString()],
  );
  for (const path of ['/raw', '/attachments/1'])
    assert.deepEqual((await get(`/${id}${path}`)).body.error.type, 'invalid_state');
});

test('the list is filtered by recipient, route and author, which must all match', async () => {
  const tenant = await world.addTenant('lists');
  const { tenantId } = tenant;
  const one = await addReceived(world, { tenantId, routeIds: ['rt_1'] });
  await clock.advance(1);
  const two = await addReceived(world, {
    ...{ tenantId, routeIds: ['rt_1', 'rt_2'], address: 'help@shop.example' },
    row: { headerFrom: 'Bob@Other.example', messageId: 'a.b@other.example' },
  });
  await clock.advance(1);
  const three = await addReceived(world, { tenantId, row: { headerFrom: null } });
  const ids = async (query: string) =>
    (await get(`?${query}`, tenant.testKey)).body.data.map(({ id }: { id: string }) => id);
  assert.deepEqual(await ids(''), [three, two, one]);
  assert.deepEqual(await ids('address=SALES@shop.example'), [three, one]);
  assert.deepEqual(await ids('routeId=rt_1'), [two, one]);
  assert.deepEqual(await ids('routeId=rt_1&address=sales@shop.example'), [one]);
  assert.deepEqual(await ids('from=bob@other.example'), [two]);
  assert.deepEqual(await ids('from=sender.example'), [one]);
  assert.deepEqual(await ids('from=ender.example'), []);
  for (const messageId of ['a.b@other.example', '<a.b@other.example>'])
    assert.deepEqual(await ids(`${new URLSearchParams({ messageId })}`), [two]);
  assert.deepEqual(await ids('messageId=a.b@other.example&routeId=rt_2'), [two]);
  assert.deepEqual(await ids('messageId=a.b@other.example&address=sales@shop.example'), []);
  assert.deepEqual(await ids('messageId='), []);
  assert.deepEqual(await ids('from=sender.example&routeId=rt_2'), []);
  assert.deepEqual(await ids('limit=1&routeId=rt_1'), [two]);
  const [summary] = (await get('?routeId=rt_2', tenant.testKey)).body.data;
  assert.deepEqual(
    [summary.from, summary.to, summary.subject, summary.flagged],
    ['Bob@Other.example', ['help@shop.example'], 'Hello', false],
  );
});

test('a replay makes the failed posts due again, or all when none has failed', async () => {
  const [first, second] = [await addRoute(), await addRoute()];
  const id = await addReceived(world, { routeIds: [first, second] });
  const posts = () =>
    side
      .selectFrom('receivedTasks')
      .select(['targetId', 'state', 'attempts'])
      .where('messageId', '=', id)
      .orderBy('position')
      .execute();
  const change = (targetId: string, set: { state: 'failed' | 'done'; attempts: number }) =>
    side.updateTable('receivedTasks').set(set).where('targetId', '=', targetId).execute();
  const replay = () => world.request('POST', `${PATH}/${id}/replay`);
  const { status, body } = await replay();
  assert.equal(status, 202);
  assert.deepEqual(
    body.deliveries.map(({ status: state, attempts, error }: Record<string, unknown>) => [
      state,
      attempts,
      error,
    ]),
    [
      ['pending', 0, null],
      ['pending', 0, null],
    ],
  );
  await change(first, { state: 'failed', attempts: 8 });
  await change(second, { state: 'done', attempts: 1 });
  assert.equal((await replay()).status, 202);
  assert.deepEqual(await posts(), [
    { targetId: first, state: 'pending', attempts: 0 },
    { targetId: second, state: 'done', attempts: 1 },
  ]);
});

test('a replay is refused when nothing can be posted', async () => {
  const disabled = await addReceived(world, { routeIds: [await addRoute(false), 'rt_none'] });
  const posting = await addReceived(world, {
    routeIds: [await addRoute()],
    task: { state: 'pending', runId: 'r' },
  });
  const gone = await addReceived(world, { routeIds: [await addRoute()], row: { blobId: null } });
  for (const id of [disabled, posting, gone]) {
    const { status, body } = await world.request('POST', `${PATH}/${id}/replay`);
    assert.deepEqual([status, body.error.type], [409, 'invalid_state']);
  }
});

test('a link of a post downloads its file without a key, for 24 hours', async () => {
  const id = await addReceived(world);
  const links = createDownloadLinks(world.app);
  const path = (file: number) => links.linkTo(id, file).replace('https://api.example', '');
  const [file, raw] = [path(1), path(0)];
  const download = (url: string) => world.request('GET', url, { key: null });
  const { status, body, headers } = await download(file);
  assert.deepEqual([status, body, headers['cache-control']], [200, 'a,b', 'private, no-store']);
  assert.match((await download(raw)).body, /^Return-Path: /);
  for (const wrong of [path(2), `${file.slice(0, -2)}AA`, '/inbound/downloads/x'])
    assert.equal((await download(wrong)).status, 404, wrong);
  // The end of a link is rounded up to a second.
  await clock.advance(24 * 3_600_000 + 1_000);
  assert.equal((await download(file)).status, 404);
});

test('a link downloads a large file, which counts to the tenant of the message', async () => {
  const base64 = Buffer.alloc(LARGE_BYTES, 7).toString('base64');
  const text = WITH_FILE.replace('name="list.csv"', 'name="list.csv"\r\nContent-Transfer-Encoding: base64');
  const id = await addReceived(world, { text: text.replace('a,b', base64) });
  const url = createDownloadLinks(world.app).linkTo(id, 1).replace('https://api.example', '');
  const { status, body } = await world.request('GET', url, { key: null });
  assert.deepEqual([status, body.length], [200, LARGE_BYTES]);
});

test('a test of a route posts a signed sample once, and says what was answered', async () => {
  const id = await addRoute(false);
  const { status, body } = await world.request('POST', `/v1/inbound/routes/${id}/test`);
  assert.equal(status, 200);
  // The application of this test allows no connections.
  assert.deepEqual([body.delivered, body.responseStatus], [false, null]);
  assert.match(body.error, /allows no connections/);
});
