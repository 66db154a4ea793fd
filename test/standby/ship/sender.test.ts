import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { StoreError } from '../../../src/objects/object-store.ts';
import { Sender } from '../../../src/standby/ship/sender.ts';
import { Spool } from '../../../src/standby/ship/spool.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { recordLog } from '../../support/record-log.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { waitUntil } from '../../support/wait-until.ts';

const GENERATION = '20270101T000000Z-00000000';
const MIB = 1024 * 1024;

async function openSender(clock = createFakeClock(Date.parse('2027-01-02'))) {
  const spool = new Spool(temporaryDirectory('sender'));
  const store = createMemoryStore();
  const { log, lines } = recordLog();
  /** The reason why this host may have been replaced; undefined when it was not. */
  const owner: { doubt: string | undefined } = { doubt: undefined };
  const sender = new Sender(
    { clock, log },
    {
      store,
      spool,
      installation: 'inst',
      keepDays: () => 7,
      requireOwner() {
        if (owner.doubt !== undefined) throw new StoreError('unreachable', owner.doubt);
      },
    },
  );
  const making = await spool.begin(GENERATION);
  return {
    ...{ clock, lines, owner, sender, spool, store },
    async addBase(files: Record<string, Buffer>): Promise<void> {
      const path = join(making, 'backup');
      mkdirSync(path);
      for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes);
      await spool.addBase({ generation: GENERATION, path, firstCut: { sequence: 2, takenAt: 1 } });
      sender.wake();
    },
    async addSegment(sequence: number, bytes: Buffer): Promise<void> {
      writeFileSync(spool.partialPath(GENERATION), bytes);
      await spool.nameSegment({ generation: GENERATION, sequence });
      spool.addSegment({ generation: GENERATION, sequence, bytes: bytes.length });
      sender.wake();
    },
  };
}

test('a base is stored in pieces, then the list of them, then its segments', async () => {
  const { addBase, addSegment, sender, store } = await openSender();
  const archive = Buffer.alloc(40 * MIB, 'abc');
  await addSegment(1, Buffer.from('first'));
  await addBase({ 'backup.json': Buffer.from('{}'), 'backup.tar.age': archive });
  sender.start();
  await waitUntil(() => sender.stored?.sequence === 1);
  await sender.stop();
  const prefix = `inst/${GENERATION}/`;
  assert.deepEqual(store.stored, [
    `${prefix}base/backup.json`,
    `${prefix}base/backup.tar.age.00000`,
    `${prefix}base/backup.tar.age.00001`,
    `${prefix}base/complete`,
    `${prefix}0000000001`,
  ]);
  const { pieces, firstCut } = JSON.parse(String(store.objects.get(`${prefix}base/complete`)));
  assert.deepEqual(firstCut, { sequence: 2, takenAt: 1 });
  for (const { name, bytes, sha256 } of pieces) {
    const object = store.objects.get(`${prefix}base/${name}`) as Buffer;
    assert.equal(object.length, bytes);
    assert.equal(createHash('sha256').update(object).digest('hex'), sha256);
  }
  const joined = [0, 1].map(
    (piece) => store.objects.get(`${prefix}base/backup.tar.age.0000${piece}`) as Buffer,
  );
  assert.ok(Buffer.concat(joined).equals(archive));
});

test('the name of a large segment is stored last, after its further pieces', async () => {
  const { addBase, addSegment, sender, spool, store } = await openSender();
  await addBase({ 'backup.json': Buffer.from('{}') });
  const segment = Buffer.alloc(33 * MIB, 'xyz');
  await addSegment(1, segment);
  sender.start();
  await waitUntil(() => sender.stored?.sequence === 1);
  await sender.stop();
  const name = `inst/${GENERATION}/0000000001`;
  assert.deepEqual(store.stored.slice(-2), [`${name}.00001`, name]);
  const pieces = [name, `${name}.00001`].map((piece) => store.objects.get(piece) as Buffer);
  assert.ok(Buffer.concat(pieces).equals(segment));
  assert.equal(spool.bytes, 0);
});

test('a store that fails is tried again later and later, and nothing is left out', async () => {
  const { addBase, addSegment, clock, lines, sender, spool, store } = await openSender();
  store.failure = 'connection refused';
  await addBase({ 'backup.json': Buffer.from('{}') });
  await addSegment(1, Buffer.from('one'));
  sender.start();
  await waitUntil(() => sender.failure !== undefined);
  assert.equal(sender.failure, 'connection refused');
  await clock.advance(1_000);
  await addSegment(2, Buffer.from('two'));
  await waitUntil(() => lines.length === 1);
  store.failure = undefined;
  await clock.advance(2_000);
  await waitUntil(() => sender.stored?.sequence === 2);
  assert.equal(sender.failure, undefined);
  assert.equal(spool.nextSegment(), undefined);
  assert.equal(lines.length, 1, 'the same reason is logged once');
  await sender.stop();
});

test('while another host may be the owner nothing is stored or removed, and what waits is sent once it is known', async () => {
  const { addBase, addSegment, clock, owner, sender, store } = await openSender();
  const old = 'inst/20260101T000000Z-00000000/base/complete';
  const next = 'inst/20260102T000000Z-00000000/base/complete';
  const list = { bytes: Buffer.from('{"pieces":[],"firstCut":{"sequence":1,"takenAt":1}}') };
  for (const name of [old, next]) await store.put(name, list);
  owner.doubt = 'nobody knows';
  await addBase({ 'backup.json': Buffer.from('{}') });
  await addSegment(1, Buffer.from('one'));
  sender.start();
  await waitUntil(() => sender.failure === 'nobody knows');
  assert.deepEqual([...store.objects.keys()], [old, next]);
  owner.doubt = undefined;
  await clock.advance(1_000);
  await waitUntil(() => sender.stored?.sequence === 1);
  assert.equal(sender.failure, undefined);
  await sender.stop();
});

test('a store that is full is freed of what is too old, at the start and later', async () => {
  const { addBase, clock, sender, store } = await openSender();
  const complete = (day: string) => `inst/${day.replaceAll('-', '')}T000000Z-00000000/base/complete`;
  const days = ['2026-12-20', '2026-12-25', '2026-12-27'];
  for (const day of days) {
    const list = JSON.stringify({ pieces: [], firstCut: { sequence: 1, takenAt: Date.parse(day) } });
    await store.put(complete(day), { bytes: Buffer.from(list) });
  }
  store.put = () => Promise.reject(new StoreError('refused', 'the disk is full'));
  await addBase({ 'backup.json': Buffer.from('{}') });
  sender.start();
  await waitUntil(() => sender.failure === 'the disk is full');
  assert.deepEqual([...store.objects.keys()], days.slice(1).map(complete));
  // The next one is too old 7 days after the one that follows it.
  await waitUntil(async () => {
    await clock.advance(3_600_000);
    return !store.objects.has(complete('2026-12-25'));
  });
  assert.ok(store.objects.has(complete('2026-12-27')));
  await sender.stop();
});

test('what is not sent when the daemon stops stays in the spool', async () => {
  const { addBase, sender, spool, store } = await openSender();
  store.failure = 'connection refused';
  await addBase({ 'backup.json': Buffer.from('{}') });
  sender.start();
  await waitUntil(() => sender.failure !== undefined);
  await sender.stop();
  const base = spool.nextBase();
  assert.ok(base && existsSync(base.path));
});
