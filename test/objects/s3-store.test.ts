import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { StoreError } from '../../src/objects/object-store.ts';
import { openStore, type StoreSettings } from '../../src/objects/open-store.ts';
import { SETTLE_MS } from '../../src/objects/s3-create.ts';
import type { S3Options } from '../../src/objects/s3-requests.ts';
import { S3Store } from '../../src/objects/s3-store.ts';
import { type Clock, realClock } from '../../src/system/clock.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { S3_ACCESS, type S3Fault, type S3Server, startS3Server } from '../support/s3-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { readWhole, testContract } from './contract.ts';

const dns = zoneDns('');
const PREFIX = 'mail/one';

type Change = { clock?: Clock } & Partial<S3Options>;

function storeOf(
  context: TestContext,
  server: S3Server,
  { clock = realClock, ...change }: Change = {},
): S3Store {
  const options = {
    endpoint: server.endpoint,
    prefix: `${PREFIX}/`,
    addressing: 'path',
    ...S3_ACCESS,
    ...change,
  } as const;
  const store = new S3Store({ clock, dns }, options);
  context.after(() => store.close());
  return store;
}

async function start(
  context: TestContext,
  change: Change = {},
): Promise<{ server: S3Server; store: S3Store }> {
  const server = await startS3Server(context);
  return { server, store: storeOf(context, server, change) };
}

testContract('s3', async (context) => {
  const { server, store } = await start(context);
  return { store, seed: (name, bytes) => void server.objects.set(`${PREFIX}/${name}`, bytes) };
});

const BODY = { bytes: Buffer.from('x') };

test('a bucket stands in the path or before the host', async (context) => {
  const { server, store } = await start(context);
  await store.put('a1/b', BODY);
  const endpoint = `http://localhost:${server.port}`;
  const virtual = storeOf(context, server, { endpoint, addressing: 'host' });
  assert.equal(String(await readWhole(virtual, 'a1/b')), 'x');
  assert.deepEqual(await virtual.list('a1/'), ['a1/b']);
  assert.deepEqual(
    server.requests.map((request) => request.replace(/\?.*/, '')),
    ['PUT /standby/mail/one/a1/b', 'GET /mail/one/a1/b', 'GET /'],
  );
});

test('a store is opened by the URL of its bucket', async (context) => {
  const server = await startS3Server(context);
  const settings: StoreSettings = { ...S3_ACCESS, url: `s3+${server.endpoint}/standby/${PREFIX}/` };
  const store = openStore({ clock: realClock, dns }, settings);
  context.after(() => store.close());
  await store.put('a1/b', BODY);
  assert.deepEqual([...server.objects.keys()], [`${PREFIX}/a1/b`]);
});

test('mistakes of the operator are refused in sentences', async (context) => {
  const { server } = await start(context);
  for (const [change, message] of [
    [{ accessKeyId: 'AKIAOTHER' }, /does not know the access key/],
    [{ secretAccessKey: 'other' }, /the secret key does not belong to the access key/],
    [{ bucket: 'other' }, /has no such bucket/],
    [{ region: 'us-east-1' }, /expects another region than standby.region names/],
    [{ clock: { ...realClock, now: () => Date.now() + 3_600_000 } }, /the clock of this machine is wrong/],
  ] as const) {
    const store = storeOf(context, server, change);
    for (const attempt of [
      () => store.put('a1/b', BODY),
      () => store.create('a1/b', BODY.bytes),
      () => store.get('a1/b'),
      () => store.list('a1/'),
      () => store.remove('a1/b'),
    ])
      await assert.rejects(attempt, { name: 'StoreError', kind: 'refused', message });
  }
  assert.equal(server.objects.size, 0);
});

/** Returns the kind of the error that a fault leads to. */
async function kindUnder(server: S3Server, fault: S3Fault, attempt: () => Promise<unknown>): Promise<string> {
  server.faults = [fault];
  try {
    await attempt();
    return 'none';
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error));
    return error.kind;
  }
}

test('a server that fails is unreachable for the moment, and works again afterwards', async (context) => {
  const { server, store } = await start(context, { idleMs: 100 });
  server.objects.set(`${PREFIX}/a1/old`, Buffer.alloc(200_000));
  const faults: S3Fault[] = [
    { status: 500, code: 'InternalError' },
    { status: 503, code: 'SlowDown' },
    { status: 429, code: 'TooManyRequests' },
    { status: 400, code: 'RequestTimeout' },
    'silent',
    'dropped',
  ];
  for (const fault of faults)
    for (const attempt of [
      () => store.put('a1/b', BODY),
      () => store.create('a1/c', BODY.bytes),
      () => readWhole(store, 'a1/old'),
      () => store.list(''),
      () => store.remove('a1/old'),
    ])
      assert.equal(await kindUnder(server, fault, attempt), 'unreachable', JSON.stringify(fault));
  for (const fault of ['truncated', 'stalled'] as const) {
    assert.equal(await kindUnder(server, fault, () => readWhole(store, 'a1/old')), 'unreachable', fault);
    assert.equal(await kindUnder(server, fault, () => store.list('')), 'unreachable', fault);
  }
  assert.equal(
    await kindUnder(server, { status: 507, code: 'XFull' }, () => store.put('a1/b', BODY)),
    'refused',
  );
  assert.deepEqual([...server.objects.keys()], [`${PREFIX}/a1/old`]);
  await store.put('a1/b', BODY);
  assert.deepEqual(await store.list(''), ['a1/b', 'a1/old']);
});

test('an upload whose answer is lost may have been stored', async (context) => {
  const { server, store } = await start(context);
  assert.equal(await kindUnder(server, 'dropped-after', () => store.put('a1/b', BODY)), 'unreachable');
  assert.equal(String(await readWhole(store, 'a1/b')), 'x');
});

test('a list may be behind, skips what others have placed, and goes on after a page without our names', async (context) => {
  const { server, store } = await start(context);
  await store.put('a1/b', BODY);
  await store.put('a1/c', BODY);
  server.unlisted.add(`${PREFIX}/a1/c`);
  assert.deepEqual(await store.list(''), ['a1/b']);
  assert.equal(String(await readWhole(store, 'a1/c')), 'x');
  server.unlisted.clear();
  for (const foreign of ['a0/<x> & "y"', 'a0/é', 'a0/', 'a0/.dot'])
    server.objects.set(`${PREFIX}/${foreign}`, BODY.bytes);
  server.objects.set(`${PREFIX}s/a1/other`, BODY.bytes);
  server.pageSize = 1;
  assert.deepEqual(await store.list(''), ['a1/b']);
  assert.deepEqual(await store.list('', 'a1/b'), ['a1/c']);
  assert.deepEqual(await store.list('', 'a1/c'), []);
});

test('a server that refuses the condition is asked without it, and one winner is found', async (context) => {
  await checkWithoutCondition(context, 'refused');
});

test('a server that ignores the condition is found out before it replaces anything', async (context) => {
  await checkWithoutCondition(context, 'ignored');
});

async function checkWithoutCondition(context: TestContext, conditions: 'refused' | 'ignored'): Promise<void> {
  const clock = createFakeClock(Date.now());
  const { server } = await start(context);
  server.conditions = conditions;
  server.objects.set(`${PREFIX}/a1/taken`, Buffer.from('first'));
  const first = storeOf(context, server, { clock });
  const stores = [first, storeOf(context, server, { clock }), storeOf(context, server, { clock })];
  for (const store of stores) assert.equal(await store.create('a1/taken', Buffer.from('late')), false);
  assert.equal(String(server.objects.get(`${PREFIX}/a1/taken`)), 'first');

  const claims = stores.map((_, at) => Buffer.from(`host ${at}`));
  const uploads = () => server.requests.filter((request) => request.startsWith('PUT')).length;
  const perStore = conditions === 'refused' ? 2 : 3;
  const claimed = Promise.all(
    stores.map((store, at) => store.create('a1/new', claims[at] ?? Buffer.alloc(0))),
  );
  await waitUntil(() => uploads() === perStore * stores.length);
  const won = await settle(clock, claimed);
  assert.equal(won.filter(Boolean).length, 1);
  assert.deepEqual(server.objects.get(`${PREFIX}/a1/new`), claims[won.indexOf(true)]);
  // By now each store knows, and sends one upload.
  const before = uploads();
  const next = first.create('a1/next', Buffer.from('alone'));
  await waitUntil(() => uploads() === before + 1);
  assert.equal(await settle(clock, next), true);
  assert.equal(uploads(), before + 1);
}

/** Moves the clock in small steps until the promise has settled: the last answers come a moment after their requests were seen. */
async function settle<Value>(clock: FakeClock, promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const end = () => {
    isSettled = true;
  };
  promise.then(end, end);
  while (!isSettled) {
    await clock.advance(SETTLE_MS / 100);
    await new Promise((later) => setImmediate(later));
  }
  return await promise;
}

test('a conflict with another request is tried again', async (context) => {
  const { server, store } = await start(context);
  assert.equal(await store.create('a1/first', BODY.bytes), true);
  server.faults = [{ status: 409, code: 'ConditionalRequestConflict' }];
  assert.equal(await store.create('a1/b', BODY.bytes), true);
});

test('the signing key of each day is made once, and works the next day too', async (context) => {
  const server = await startS3Server(context);
  let now = Date.parse('2026-11-30T23:59:59Z');
  server.now = () => now;
  const store = storeOf(context, server, { clock: { ...realClock, now: () => now } });
  for (let day = 0; day < 7; day++) {
    await store.put(`a1/${day}`, BODY);
    now += 86_400_000;
  }
  assert.equal(server.objects.size, 7);
});
