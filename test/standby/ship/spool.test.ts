import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Spool } from '../../../src/standby/ship/spool.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const OLD = '20270101T000000Z-00000000';
const NEW = '20270102T000000Z-00000000';

async function addSegment(spool: Spool, generation: string, sequence: number, bytes = 10): Promise<void> {
  writeFileSync(spool.partialPath(generation), Buffer.alloc(bytes));
  await spool.nameSegment({ generation, sequence });
  spool.addSegment({ generation, sequence, bytes });
}

/** Makes the base of a generation as a backup is made: in a folder of its own. */
async function addBase(spool: Spool, generation: string, making: string): Promise<void> {
  const path = join(making, 'backup');
  mkdirSync(path);
  writeFileSync(join(path, 'backup.json'), '{}');
  await spool.addBase({ generation, path, firstCut: { sequence: 2, takenAt: 1 } });
}

test('segments wait for their base, and are sent in order after it', async () => {
  const spool = new Spool(temporaryDirectory('spool'));
  const making = await spool.begin(NEW);
  await addSegment(spool, NEW, 1);
  await addSegment(spool, NEW, 2);
  assert.equal(spool.nextSegment(), undefined);
  assert.equal(spool.nextBase(), undefined, 'a base that is still made is not sent');
  await addBase(spool, NEW, making);
  assert.equal(spool.nextSegment(), undefined);
  const base = spool.nextBase();
  assert.ok(base && existsSync(join(base.path, 'backup.json')));
  await spool.removeBase(base);
  const first = spool.nextSegment();
  assert.equal(first?.sequence, 1);
  await spool.removeSegment(first as NonNullable<typeof first>);
  assert.equal(spool.nextSegment()?.sequence, 2);
  assert.equal(spool.bytes, 10);
});

test('the segments of an older generation go on while a new base waits', async () => {
  const spool = new Spool(temporaryDirectory('spool'));
  const old = await spool.begin(OLD);
  await addBase(spool, OLD, old);
  await spool.removeBase(spool.nextBase() as NonNullable<ReturnType<Spool['nextBase']>>);
  await addBase(spool, NEW, await spool.begin(NEW));
  await addSegment(spool, OLD, 7);
  await addSegment(spool, NEW, 1);
  assert.equal(spool.nextSegment()?.generation, OLD);
  assert.equal(spool.nextBase()?.generation, NEW);
});

test('what an earlier run has left is sent, but for a generation without a base and half a segment', async () => {
  const root = temporaryDirectory('spool');
  const earlier = new Spool(root);
  await addBase(earlier, OLD, await earlier.begin(OLD));
  await addSegment(earlier, OLD, 1, 30);
  writeFileSync(earlier.partialPath(OLD), 'half');
  await earlier.begin(NEW);
  await addSegment(earlier, NEW, 1);
  const spool = new Spool(root);
  const base = spool.nextBase();
  assert.deepEqual([base?.generation, base?.firstCut], [OLD, { sequence: 2, takenAt: 1 }]);
  assert.equal(spool.bytes, 30);
  assert.deepEqual(readdirSync(root), [OLD]);
});

test('a generation that has ended goes with its last item, and at once when it never had a base', async () => {
  const root = temporaryDirectory('spool');
  const spool = new Spool(root);
  await spool.begin(NEW);
  await addSegment(spool, NEW, 1);
  await spool.end(NEW);
  assert.equal(spool.bytes, 0);
  assert.deepEqual(readdirSync(root), []);
  await addBase(spool, OLD, await spool.begin(OLD));
  await addSegment(spool, OLD, 1);
  await spool.end(OLD);
  await spool.removeBase(spool.nextBase() as NonNullable<ReturnType<Spool['nextBase']>>);
  await spool.removeSegment(spool.nextSegment() as NonNullable<ReturnType<Spool['nextSegment']>>);
  assert.deepEqual(readdirSync(root), []);
});

test('a generation goes on after its last segment, and one that was never sent is removed', async () => {
  const root = temporaryDirectory('spool');
  const earlier = new Spool(root);
  await addBase(earlier, OLD, await earlier.begin(OLD));
  await earlier.removeBase(earlier.nextBase() as NonNullable<ReturnType<Spool['nextBase']>>);
  for (const sequence of [1, 2, 3]) await addSegment(earlier, OLD, sequence);
  const spool = new Spool(root, [{ generation: OLD, sequence: 2 }]);
  assert.deepEqual(readdirSync(join(root, OLD)), ['0000000001', '0000000002']);
  assert.ok(spool.isOpen(OLD));
  for (const sequence of [1, 2]) {
    assert.equal(spool.firstSegment(OLD)?.sequence, sequence);
    await spool.removeSegment(spool.nextSegment() as NonNullable<ReturnType<Spool['nextSegment']>>);
  }
  await addSegment(spool, OLD, 3);
  assert.equal(spool.nextSegment()?.sequence, 3);
  // Everything was sent when it was stopped, so that its folder is empty.
  await spool.removeSegment(spool.nextSegment() as NonNullable<ReturnType<Spool['nextSegment']>>);
  assert.ok(new Spool(root, [{ generation: OLD, sequence: 3 }]).isOpen(OLD));
  assert.ok(!new Spool(root).isOpen(OLD));
  assert.deepEqual(readdirSync(root), []);
});
