import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Follower, type FollowOptions } from '../../src/standby/follow/follower.ts';
import { findInstallation, Remote } from '../../src/standby/follow/remote.ts';
import { baseObject, pieceSuffix, segmentObject } from '../../src/standby/names.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';
import { openStandbyPrimary } from '../support/standby-primary.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { waitUntil } from '../support/wait-until.ts';

const primary = await openStandbyPrimary();
after(() => primary[Symbol.asyncDispose]());

const FIRST = '20261130T100000Z-00000001';
const SECOND = '20261130T110000Z-00000002';

/** Counts the addresses, of which each email has another. */
let emails = 0;
const sendEmail = () => primary.send(`delivered+${emails++}@simulator.mx.postrider.example`);

/** Returns a store with a base and as many segments, of the times 1,000, 2,000 and so on. */
async function storeWith(segments: number): Promise<MemoryStore> {
  const store = createMemoryStore();
  await primary.sendBase(store, FIRST);
  await sendSegments(store, segments);
  return store;
}

async function sendSegments(store: MemoryStore, segments: number): Promise<void> {
  for (let index = 0; index < segments; index++) {
    await sendEmail();
    await primary.sendSegment(store, (primary.cut.sequence + 1) * 1_000);
  }
}

function follow(store: MemoryStore, options: Partial<FollowOptions> = {}) {
  const followed = {
    remote: new Remote(store, primary.installation),
    folder: temporaryDirectory('follows'),
    identities: [primary.identity],
    clock: createFakeClock(0),
    crashPoint: () => {},
    signal: new AbortController().signal,
    ...options,
  };
  return { follower: new Follower(followed), folder: followed.folder };
}

const stepToEnd = async (follower: Follower) => {
  while (await follower.step());
};

/** Compares the database of a copy with that of the primary at its last cut. The copy is marked as one without a WAL. */
function assertCurrent(folder: string, generation = FIRST): void {
  const copy = readFileSync(join(folder, generation, 'copy', 'postrider.db'));
  const expected = Buffer.from(primary.databaseAtCut());
  expected.set([1, 1], 18);
  assert.ok(copy.equals(expected));
}

test('a host fetches the base and applies the segments, and the copy has all of the primary', async () => {
  const store = await storeWith(3);
  assert.equal(await findInstallation(store), primary.installation);
  const { follower, folder } = follow(store);
  await follower.open();
  assert.deepEqual(follower.state.generation, null);
  await stepToEnd(follower);
  const { generation, sequence, takenAt, currentAt, problem } = follower.state;
  assert.deepEqual([generation, sequence, takenAt, currentAt, problem], [FIRST, 3, 3_000, 0, null]);
  assertCurrent(folder);
  const copy = join(folder, FIRST, 'copy');
  assert.ok(existsSync(join(copy, 'master.key')));
  assert.ok(!existsSync(join(copy, 'SHA256SUMS')) && !existsSync(join(copy, 'backup.json')));
  const contents = (dataDir: string) =>
    readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.length > 64,
    );
  assert.deepEqual(contents(copy).sort(), contents(primary.opened.dataDir).sort());
  await sendSegments(store, 1);
  await stepToEnd(follower);
  assert.equal(follower.state.sequence, 4);
  assertCurrent(folder);
  assert.deepEqual(readdirSync(join(folder, FIRST)).sort(), ['copy', 'position.json']);
});

test('a host that runs asks once a second, and says when the store cannot be reached', async () => {
  const store = await storeWith(1);
  const clock = createFakeClock(0);
  const stopping = new AbortController();
  const { follower } = follow(store, { clock, signal: stopping.signal });
  await follower.open();
  let asked = 0;
  const running = follower.run(() => asked++);
  await waitUntil(() => follower.state.currentAt !== null);
  await sendSegments(store, 1);
  await clock.advance(1_000);
  await waitUntil(() => follower.state.sequence === 2 && follower.state.currentAt !== null);
  const before = asked;
  await clock.advance(900);
  assert.equal(asked, before);
  store.failure = 'the store is away';
  await clock.advance(100);
  await waitUntil(() => follower.state.problem === 'the store is away');
  store.failure = undefined;
  await clock.advance(5_000);
  await waitUntil(() => follower.state.problem === null);
  stopping.abort();
  await running;
});

test('a segment that is damaged, repeated or missing stops the copy before it, which stays whole', async () => {
  const store = await storeWith(2);
  const [first, second] = [1, 2].map((sequence) => segmentObject(primary.installation, FIRST, sequence));
  const whole = store.objects.get(second ?? '') ?? Buffer.alloc(0);
  const damaged = Buffer.from(whole);
  damaged[damaged.length - 20] = 1 ^ (damaged.at(-20) ?? 0);
  const clock = createFakeClock(0);
  const { follower, folder } = follow(store, { clock });
  const stopsAtFirst = async (bytes: Buffer, message: RegExp) => {
    store.objects.set(second ?? '', bytes);
    await assert.rejects(stepToEnd(follower), { name: 'StandbyError', message });
    assert.equal(follower.state.sequence, 1);
    assert.deepEqual(readdirSync(join(folder, FIRST)).sort(), ['copy', 'position.json']);
  };
  await stopsAtFirst(damaged, /segment 2 of .* cannot be applied/);
  await stopsAtFirst(whole.subarray(0, -1_000), /segment 2 of .* cannot be applied/);
  await stopsAtFirst(store.objects.get(first ?? '') ?? whole, /its sequence is 1, and 2 has to follow/);
  store.objects.delete(second ?? '');
  await sendSegments(store, 1);
  await clock.advance(10_000);
  await assert.rejects(stepToEnd(follower), /segment 2 of .* is missing in the store, which has later ones/);
  store.objects.set(second ?? '', whole);
  await stepToEnd(follower);
  assertCurrent(folder);
});

test('a host that ends at any point goes on from there, also within segments that are applied together', async () => {
  const store = await storeWith(2);
  const points = [
    'standby-segment-stored',
    'standby-pages-applied',
    'standby-segment-applied',
    'standby-position-written',
  ];
  const { folder } = follow(store);
  for (const point of points)
    for (const time of [1, 2, 3]) {
      let reached = 0;
      const crashPoint = (name: string) => {
        if (name === point && ++reached === time) throw Object.assign(new Error(name), { code: 'ENDED' });
      };
      await sendSegments(store, 4);
      const { follower } = follow(store, { folder, crashPoint });
      await follower.open();
      // The first segment is applied alone, and the others together: most points are reached twice.
      if (time < 3) await assert.rejects(stepToEnd(follower), { message: point });
      else await stepToEnd(follower).catch((error: Error) => assert.equal(error.message, point));
      const { follower: next } = follow(store, { folder });
      await next.open();
      await stepToEnd(next);
      assert.equal(next.state.sequence, primary.cut.sequence);
      assertCurrent(folder);
      assert.deepEqual(readdirSync(join(folder, FIRST)).sort(), ['copy', 'position.json']);
    }
});

test('a copy that is behind applies many segments together, and stops before one that is damaged', async () => {
  const store = await storeWith(9);
  let flushes = 0;
  const crashPoint = (point: string) => {
    if (point === 'standby-segment-applied') flushes++;
  };
  const name = segmentObject(primary.installation, FIRST, 6);
  const whole = store.objects.get(name) as Buffer;
  store.objects.set(name, whole.subarray(0, -1_000));
  const { follower, folder } = follow(store, { crashPoint });
  await follower.open();
  await assert.rejects(stepToEnd(follower), /segment 6 of .* cannot be applied/);
  assert.deepEqual([follower.state.sequence, flushes], [5, 2]);
  store.objects.set(name, whole);
  await stepToEnd(follower);
  assert.deepEqual([follower.state.sequence, flushes], [9, 3]);
  assertCurrent(folder);
});

test('segments that were collected while the base was made are applied once the first cut after it is there', async () => {
  const store = createMemoryStore();
  await primary.sendBase(store, FIRST, { firstCut: { sequence: 3, takenAt: 3_000 } });
  await sendSegments(store, 2);
  const { follower, folder } = follow(store);
  await follower.open();
  await stepToEnd(follower);
  assert.equal(follower.state.sequence, 0);
  await sendSegments(store, 1);
  while (await follower.advance(2_999));
  assert.equal(follower.state.sequence, 0, 'the state before the first cut is that of the base');
  const { copy } = follower;
  await follower.advance(3_000);
  assert.throws(() => copy?.close(folder), /between its base and its first cut/);
  await stepToEnd(follower);
  assert.equal(follower.state.sequence, 3);
  assertCurrent(folder);
});

test('a segment of several pieces is joined', async () => {
  const store = await storeWith(1);
  const name = segmentObject(primary.installation, FIRST, 1);
  const bytes = store.objects.get(name) as Buffer;
  const { follower, folder } = follow(store, { pieceBytes: 100 });
  for (let at = 0; at < bytes.length; at += 100)
    store.objects.set(at === 0 ? name : name + pieceSuffix(at / 100), bytes.subarray(at, at + 100));
  await follower.open();
  await stepToEnd(follower);
  assert.equal(follower.state.sequence, 1);
  assertCurrent(folder);
});

test('a host goes over to a newer generation once its base is complete, and never before', async () => {
  const store = await storeWith(1);
  const clock = createFakeClock(0);
  const { follower, folder } = follow(store, { clock });
  await stepToEnd(follower);
  const complete = createMemoryStore();
  await primary.sendBase(store, SECOND, { isComplete: false });
  await clock.advance(10_000);
  await stepToEnd(follower);
  assert.equal(follower.state.generation, FIRST);
  await primary.sendBase(complete, SECOND);
  for (const [name, bytes] of complete.objects) store.objects.set(name, bytes);
  await sendSegments(store, 1);
  await clock.advance(10_000);
  await stepToEnd(follower);
  await waitUntil(async () => {
    await stepToEnd(follower);
    return follower.state.generation === SECOND;
  });
  assert.deepEqual([follower.state.sequence, follower.state.fetching], [1, null]);
  assertCurrent(folder, SECOND);
  assert.deepEqual(readdirSync(folder), [SECOND]);
});

test('a base that is damaged, cut off or encrypted for others is refused, and is fetched anew', async () => {
  const store = await storeWith(0);
  const piece = baseObject(primary.installation, FIRST, 'backup.tar.age.00001');
  const whole = store.objects.get(piece) ?? Buffer.alloc(0);
  const { follower, folder } = follow(store);
  for (const bytes of [Buffer.alloc(whole.length), whole.subarray(1)]) {
    store.objects.set(piece, bytes);
    await assert.rejects(stepToEnd(follower), { name: 'StandbyError', message: /piece .* is damaged/ });
  }
  store.objects.delete(piece);
  await assert.rejects(stepToEnd(follower), /piece .* is missing/);
  store.objects.set(piece, whole);
  const { follower: other } = follow(store, { identities: [] });
  await assert.rejects(stepToEnd(other), /the base of .* cannot be opened: no identity matched/);
  await stepToEnd(follower);
  assertCurrent(folder);
});

test('a host that is to stop does not wait for the base that it fetches', async () => {
  const store = await storeWith(0);
  const piece = baseObject(primary.installation, FIRST, 'backup.tar.age.00001');
  const asked = Promise.withResolvers<void>();
  const slow = {
    ...store,
    get(name: string) {
      if (name !== piece) return store.get(name);
      asked.resolve();
      return new Promise<never>(() => {});
    },
  };
  const stopping = new AbortController();
  const { follower } = follow(slow, { signal: stopping.signal });
  await follower.open();
  const running = follower.run(() => {});
  await asked.promise;
  stopping.abort();
  await running;
  assert.equal(follower.state.problem, null);
});

test('a store without an installation, or with several, says so', async () => {
  await assert.rejects(findInstallation(createMemoryStore()), /the store is empty/);
  const store = createMemoryStore();
  for (const name of ['a/owner/1', 'a/x', 'b/owner/1']) await store.create(name, Buffer.from('x'));
  await assert.rejects(findInstallation(store), /choose one with --installation \(a, b\)/);
  for (const name of ['token', 'objects/c/owner/1', 'mail/x', `c/${FIRST}/0000000001`])
    await store.create(name, Buffer.from('x'));
  for (const name of ['a/owner/1', 'a/x', 'b/owner/1']) await store.remove(name);
  assert.equal(await findInstallation(store), 'c', 'what else is there is none');
  await assert.rejects(stepToEnd(follow(createMemoryStore()).follower), /no complete base yet/);
});
