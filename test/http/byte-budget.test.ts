import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createByteBudget } from '../../src/http/byte-budget.ts';
import { ATTACHMENTS_BODY_LIMIT_BYTES } from '../../src/http/server.ts';

test('four of the largest emails fit together and a fifth does not', () => {
  const budget = createByteBudget();
  for (let index = 0; index < 4; index++) assert.equal(budget.take(ATTACHMENTS_BODY_LIMIT_BYTES), true);
  assert.equal(budget.take(36_000_000), false);
  assert.equal(budget.usedBytes, 4 * ATTACHMENTS_BODY_LIMIT_BYTES);
  budget.giveBack(ATTACHMENTS_BODY_LIMIT_BYTES);
  assert.equal(budget.take(36_000_000), true);
});

test('large bodies leave room for small ones, and small ones come to an end too', () => {
  const budget = createByteBudget({ largeBytes: 1_000_000, reserveBytes: 300_000 });
  assert.equal(budget.take(900_000), true);
  assert.equal(budget.take(280_000), false);
  assert.equal(budget.take(250_000), true);
  assert.equal(budget.take(150_000), true);
  assert.equal(budget.take(1), false);
  assert.equal(budget.usedBytes, 1_300_000);
});
