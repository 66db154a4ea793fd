import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalContent } from '../../../src/accounts/imap/append-content.ts';
import type { AppendLiteral } from '../../../src/mail/imap/session.ts';
import { AppError } from '../../../src/system/errors.ts';
import { createByteBudget } from '../../../src/system/guards/byte-budget.ts';

const KIB = 1024;

/** Returns a binary message of so many pieces of 256 KiB. It waits for `end` before its last piece. */
function binary(pieces: number, end = Promise.resolve()): AppendLiteral {
  async function* content(): AsyncGenerator<Buffer> {
    for (let number = 1; number < pieces; number++) yield Buffer.alloc(256 * KIB, 'x');
    await end;
    yield Buffer.alloc(256 * KIB, 'x');
  }
  const sizeBytes = pieces * 256 * KIB;
  const literal = { sizeBytes, isBinary: true, isSynchronizing: false };
  return { flags: [], internalDate: undefined, utf8: false, ...literal, content: content() };
}

async function sizeOf(
  message: AppendLiteral,
  options: Parameters<typeof canonicalContent>[1],
): Promise<number> {
  let bytes = 0;
  for await (const piece of canonicalContent(message, options)) bytes += piece.length;
  return bytes;
}

test('binary messages that arrive slowly hold a limited number of octets, and an account half of them', async () => {
  const budget = createByteBudget({ largeBytes: 4 * 256 * KIB, smallBytes: 0 });
  const slow = Promise.withResolvers<void>();
  const first = sizeOf(binary(3, slow.promise), { accountId: 'a', budget });
  await new Promise(setImmediate);
  const isRefusal = (error: unknown) => error instanceof AppError && error.code === 'unavailable';
  await assert.rejects(sizeOf(binary(1), { accountId: 'a', budget }), isRefusal);
  assert.equal(await sizeOf(binary(2), { accountId: 'b', budget }), 2 * 256 * KIB);
  const third = sizeOf(binary(3, slow.promise), { accountId: 'b', budget });
  await new Promise(setImmediate);
  await assert.rejects(sizeOf(binary(1), { accountId: 'c', budget }), isRefusal);
  slow.resolve();
  // Their last pieces are beyond the share of each.
  await assert.rejects(first, isRefusal);
  await assert.rejects(third, isRefusal);
  assert.equal(budget.usedBytes, 0);
});
