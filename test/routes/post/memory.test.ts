import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Hold, PostMemory } from '../../../src/routes/post/memory.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const MIB = 1024 * 1024;
/** A message of 10 MiB, whose body is as large as a body may be, needs this much while it is built. */
const LARGE = 10 * MIB;

function open() {
  const clock = createFakeClock(0);
  const memory = new PostMemory(clock);
  const started: string[] = [];
  const reserve = async (tenant: string, bytes = LARGE): Promise<Hold | undefined> => {
    const hold = await memory.reserve(tenant, bytes);
    if (hold) started.push(tenant);
    return hold;
  };
  return { clock, memory, started, reserve };
}

test('256 large posts that are due at once hold a bounded number of bytes', async () => {
  const { clock, memory, started, reserve } = open();
  const all = Array.from({ length: 256 }, (_, index) => reserve(`ten_${index % 4}`));
  await clock.advance(0);
  assert.ok(memory.usedBytes <= 224 * MIB, `${memory.usedBytes} bytes`);
  assert.ok(started.length >= 4 && started.length < 8, `${started.length} posts`);
  await clock.advance(30_000);
  const holds = (await Promise.all(all)).filter((hold) => hold !== undefined);
  assert.equal(holds.length, started.length);
  for (const hold of holds) hold[Symbol.dispose]();
  assert.equal(memory.usedBytes, 0);
});

test('a tenant has at most half of the memory, and small messages of others are posted beside large ones', async () => {
  const { clock, started, reserve } = open();
  for (let count = 0; count < 10; count += 1) void reserve('ten_a');
  await clock.advance(0);
  const ofOne = started.length;
  assert.ok(ofOne >= 2 && ofOne < 10);
  void reserve('ten_b');
  void reserve('ten_c', 4_096);
  await clock.advance(0);
  assert.deepEqual(started.slice(ofOne), ['ten_b', 'ten_c']);
});

test('tenants that wait for memory take turns when some becomes free', async () => {
  const { clock, started, reserve } = open();
  const first: (Hold | undefined)[] = [];
  for (let count = 0; count < 20; count += 1) {
    void reserve('ten_a').then((hold) => first.push(hold));
    void reserve('ten_b').then((hold) => first.push(hold));
  }
  await clock.advance(0);
  void reserve('ten_c');
  await clock.advance(0);
  assert.ok(!started.includes('ten_c'));
  for (const hold of first.slice(0, 3)) hold?.[Symbol.dispose]();
  await clock.advance(0);
  assert.ok(started.includes('ten_c'));
});

test('a post that keeps its body alone makes room for another one', async () => {
  const { clock, started, reserve } = open();
  const holds = [await reserve('ten_a'), await reserve('ten_a'), await reserve('ten_a')];
  void reserve('ten_a');
  await clock.advance(0);
  assert.equal(started.length, 3);
  for (const hold of holds) hold?.shrinkTo(LARGE);
  await clock.advance(0);
  assert.equal(started.length, 4);
});
