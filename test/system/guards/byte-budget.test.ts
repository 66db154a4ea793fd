import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_ATTACHMENTS_BODY_BYTES } from '../../../src/http/json/server.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';

const MIB = 1024 * 1024;

test('four of the largest emails of one holder fit together, a fifth does not, and four of another do', () => {
  const budget = createByteBudget();
  const take = (holder: string) => {
    const reservation = budget.open(holder);
    return { reservation, taken: reservation.take(MAX_ATTACHMENTS_BODY_BYTES) };
  };
  const first = Array.from({ length: 4 }, () => take('a'));
  assert.ok(first.every(({ taken }) => taken));
  assert.equal(budget.open('a').take(36_000_000), false);
  const second = Array.from({ length: 4 }, () => take('b'));
  assert.ok(second.every(({ taken }) => taken));
  assert.equal(take('b').taken, false);
  assert.equal(take('c').taken, false, 'nor one of a third: all is taken');
  assert.equal(budget.usedBytes, 8 * MAX_ATTACHMENTS_BODY_BYTES);
  first[0]?.reservation.release();
  assert.equal(take('a').taken, true);
});

test('a holder with many small bodies leaves half of the budget to others', () => {
  const budget = createByteBudget();
  let count = 0;
  while (budget.open('a').take(64 * 1024)) count++;
  assert.equal(count, (168 * MIB) / (64 * 1024));
  assert.equal(budget.usedBytes, 168 * MIB);
  for (let index = 0; index < 4; index++)
    assert.equal(budget.open('b').take(38 * MIB), true, `large ${index}`);
  assert.equal(budget.open('b').take(64 * 1024), true);
});

test('each holder has half of the bytes for small bodies while others hold all the bytes for large ones', () => {
  const budget = createByteBudget({ largeBytes: 2_000_000, smallBytes: 600_000 });
  for (const holder of ['a', 'b']) assert.equal(budget.open(holder).take(1_000_000), true);
  assert.equal(budget.open('a').take(300_000), false, 'large');
  for (let index = 0; index < 3; index++) assert.equal(budget.open('a').take(100_000), true);
  assert.equal(budget.open('a').take(1), false);
  assert.equal(budget.open('b').take(100_000), true);
});

test('large bodies leave bytes for small ones, and small ones are limited too', () => {
  const budget = createByteBudget({ largeBytes: 1_000_000, smallBytes: 300_000, share: 1 });
  const take = (bytes: number) => budget.open('a').take(bytes);
  assert.equal(take(900_000), true);
  assert.equal(take(280_000), false);
  assert.equal(take(250_000), true);
  assert.equal(take(150_000), true);
  assert.equal(take(1), false);
  assert.equal(budget.usedBytes, 1_300_000);
});

test('a body that grows in small steps counts as large once it is large', () => {
  const budget = createByteBudget({ largeBytes: 500_000, smallBytes: 300_000, share: 1 });
  assert.equal(budget.open('a').take(500_000), true);
  const reservation = budget.open('a');
  assert.equal(reservation.take(200_000), true);
  assert.equal(reservation.take(100_000), false);
});

test('bytes that are held already count beyond the limit, and are released like the rest', () => {
  const budget = createByteBudget({ largeBytes: 100, smallBytes: 0, share: 1 });
  const reservation = budget.open('a');
  reservation.add(150);
  assert.deepEqual([budget.usedBytes, budget.open('b').take(1)], [150, false]);
  reservation.release();
  assert.equal(budget.usedBytes, 0);
});

test('a reservation is released once and completely, and refused bytes are not counted', () => {
  const budget = createByteBudget({ largeBytes: 1_000_000, smallBytes: 0 });
  const reservation = budget.open('a');
  assert.deepEqual(
    [reservation.take(300_000), reservation.take(300_000), reservation.take(200_000)],
    [true, false, true],
  );
  assert.equal(budget.usedBytes, 500_000);
  reservation.release();
  reservation.release();
  assert.equal(budget.usedBytes, 0);
  assert.equal(budget.open('a').take(500_000), true);
});
