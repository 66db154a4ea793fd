import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError } from '../../src/objects/object-store.ts';
import { becomeOwner, findOwner, isReplaced, readOwnOwner } from '../../src/standby/owner.ts';
import { Ownership } from '../../src/standby/ship/ownership.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryStore, type MemoryStore } from '../support/memory-store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const NOW = Date.parse('2027-01-15T08:00:00Z');
const INSTALLATION = 'inst';

function become(store: MemoryStore, dataDir = temporaryDirectory('owner')) {
  return becomeOwner(store, { dataDir, installation: INSTALLATION, now: NOW });
}

test('each owner has the next epoch, and the highest is the owner', async () => {
  const store = createMemoryStore();
  assert.equal(await findOwner(store, INSTALLATION), undefined);
  const dataDir = temporaryDirectory('owner');
  const first = await become(store, dataDir);
  assert.equal(first.epoch, 1);
  assert.deepEqual(readOwnOwner(dataDir), first);
  const second = await become(store);
  assert.equal(second.epoch, 2);
  assert.deepEqual(await findOwner(store, INSTALLATION), second);
  assert.equal(isReplaced(first, second), true);
  assert.equal(isReplaced(second, second), false);
  assert.equal(isReplaced(second, first), false, 'an older owner does not replace a newer one');
});

test('an owner that is damaged is named, and its host cannot write to a terminal', async () => {
  const store = createMemoryStore();
  const { node } = await become(store);
  const name = 'inst/owner/0000000001';
  const owner = { epoch: 1, node, host: 'a\u001b[2Jb', since: NOW };
  await store.put(name, { bytes: Buffer.from(JSON.stringify(owner)) });
  assert.equal((await findOwner(store, INSTALLATION))?.host, 'a[2Jb');
  for (const text of ['', '{"epoch":1}']) {
    await store.put(name, { bytes: Buffer.from(text) });
    await assert.rejects(findOwner(store, INSTALLATION), {
      name: 'StandbyError',
      message: /owner\/0000000001 .* damaged/,
    });
  }
});

test('of two hosts that become the owner at the same moment each has an epoch of its own', async () => {
  const store = createMemoryStore();
  const owners = await Promise.all([become(store), become(store), become(store)]);
  assert.deepEqual(owners.map(({ epoch }) => epoch).sort(), [1, 2, 3]);
});

test('the highest of more epochs than one page lists is found', async () => {
  const store = createMemoryStore();
  for (let epoch = 1; epoch <= 120; epoch++) await become(store);
  assert.equal((await findOwner(store, INSTALLATION))?.epoch, 120);
});

type Watched = { ownership: Ownership; events: string[]; clock: ReturnType<typeof createFakeClock> };

function watch(store: MemoryStore, dataDir: string): Watched {
  const clock = createFakeClock(NOW);
  const events: string[] = [];
  const app = { clock, config: { dataDir } };
  const ownership = new Ownership(app, {
    ...{ store, installation: INSTALLATION },
    onOwner: () => events.push('owner'),
    onReplaced: async ({ host }) => void events.push(`replaced by ${host}`),
  });
  ownership.start();
  return { ownership, events, clock };
}

test('a host that finds itself as the owner goes on, and one that was replaced is told so once', async () => {
  const store = createMemoryStore();
  const dataDir = temporaryDirectory('owner');
  const { epoch } = await become(store, dataDir);
  const { ownership, events, clock } = watch(store, dataDir);
  await clock.advance(25_000);
  assert.deepEqual(events, ['owner']);
  assert.equal((await findOwner(store, INSTALLATION))?.epoch, epoch);
  const other = await become(store);
  await clock.advance(30_000);
  assert.deepEqual(events, ['owner', `replaced by ${other.host}`]);
  assert.deepEqual(ownership.replacedBy, other);
});

test('while the store cannot be reached nothing is sent, and nobody is replaced', async () => {
  const store = createMemoryStore();
  store.failure = 'connection refused';
  const { ownership, events, clock } = watch(store, temporaryDirectory('owner'));
  await clock.advance(25_000);
  assert.deepEqual(events, []);
  assert.equal(ownership.failure, 'connection refused');
  store.failure = undefined;
  await clock.advance(10_000);
  assert.deepEqual(events, ['owner']);
  assert.equal(ownership.failure, undefined);
  ownership.stop();
});

test('an answer of the store counts for 30 seconds, after which nobody knows who is the owner', async () => {
  const store = createMemoryStore();
  const { ownership, clock } = watch(store, temporaryDirectory('owner'));
  const unknown = { name: 'StoreError', message: /^the store does not say who owns the installation/ };
  assert.throws(() => ownership.requireOwner(), unknown);
  await clock.advance(10_000);
  ownership.requireOwner();
  const { list } = store;
  store.list = () => Promise.reject(new StoreError('refused', 'it may not be listed'));
  await clock.advance(30_000);
  ownership.requireOwner();
  await clock.advance(10_000);
  assert.throws(() => ownership.requireOwner(), { ...unknown, message: /: it may not be listed$/ });
  store.list = list;
  await clock.advance(10_000);
  ownership.requireOwner();
  ownership.stop();
});

test('a copy that was released takes the place of the installation that it is a copy of', async () => {
  const store = createMemoryStore();
  const original = temporaryDirectory('owner');
  await become(store, original);
  const copy = watch(store, temporaryDirectory('owner'));
  const { ownership, clock } = watch(store, original);
  await copy.clock.advance(0);
  await clock.advance(10_000);
  assert.deepEqual(copy.events, ['owner']);
  assert.equal(ownership.replacedBy?.epoch, 2);
  copy.ownership.stop();
});
