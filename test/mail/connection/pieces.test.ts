import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MIN_PASSED_BYTES, readTogether } from '../../../src/mail/connection/pieces.ts';

async function readAll(pieces: readonly Buffer[]): Promise<Buffer[]> {
  const left = [...pieces];
  const passed: Buffer[] = [];
  const next = () => readTogether(async () => left.shift());
  for (let octets = await next(); octets; octets = await next()) passed.push(octets);
  return passed;
}

test('octets stay in order however they are cut, and only the last ones are few', async () => {
  const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(3 * MIN_PASSED_BYTES)), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(sizes, async (lengths) => {
      const pieces = lengths.map((length, index) => Buffer.alloc(length, index));
      const passed = await readAll(pieces);
      assert.deepEqual(Buffer.concat(passed), Buffer.concat(pieces));
      for (const { length } of passed.slice(0, -1)) assert.ok(length >= MIN_PASSED_BYTES);
      assert.ok(passed.every(({ length }) => length > 0));
    }),
    { numRuns: 30 },
  );
});

test('a large piece is passed on without a copy', async () => {
  const piece = Buffer.alloc(MIN_PASSED_BYTES);
  assert.equal((await readAll([piece]))[0], piece);
});
