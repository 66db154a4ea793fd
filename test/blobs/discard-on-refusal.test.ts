import assert from 'node:assert/strict';
import { test } from 'node:test';
import { discardOnRefusal } from '../../src/blobs/discard-on-refusal.ts';
import type { StoredBytes } from '../../src/blobs/store.ts';
import type { BlobRow } from '../../src/db/tables.ts';
import { AppError } from '../../src/system/errors.ts';

const BLOB: BlobRow = {
  ...{ id: 'blob_1', sha256: 'ab', sizeBytes: 1, eightBit: 0, data: null, createdAt: 0 },
};

async function discardedAfter(commit: () => Promise<unknown>): Promise<readonly StoredBytes[]> {
  const discarded: StoredBytes[] = [];
  const discard = async (bytes: StoredBytes) => void discarded.push(bytes);
  await discardOnRefusal({ discard }, [BLOB], commit).catch(() => {});
  return discarded;
}

test('bytes are discarded after a refusal, and kept after a commit or an unknown outcome', async () => {
  const refusal = new AppError('unavailable', 'The disk is full');
  assert.deepEqual(await discardedAfter(() => Promise.reject(refusal)), [BLOB]);
  assert.deepEqual(await discardedAfter(async () => 'committed'), []);
  const lost = new Error('the database thread has ended');
  assert.deepEqual(await discardedAfter(() => Promise.reject(lost)), []);
});

test('the error is passed on, and so is the answer', async () => {
  const lost = new Error('the database thread has ended');
  const discard = async () => {};
  await assert.rejects(
    discardOnRefusal({ discard }, [BLOB], () => Promise.reject(lost)),
    lost,
  );
  assert.equal(await discardOnRefusal({ discard }, [BLOB], async () => 7), 7);
});
