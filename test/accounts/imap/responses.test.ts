import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Responses } from '../../../src/accounts/imap/responses.ts';
import { movable, release } from '../../../src/accounts/remote-messages.ts';

const CHUNK_BYTES = 64 * 1024;

test('chunks hold what was added in its order, and share no memory with the octets of messages', () => {
  for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]) {
    const responses = new Responses();
    const octets = Buffer.from(new Uint8Array(size).fill(0x61));
    responses.addPieces(['* 1 FETCH (BODY[] ', octets, ' BODY[] ', octets, ')\r\n']);
    responses.add('é');
    const chunks = responses.take();
    const moved = chunks.map((chunk) => movable(chunk));
    const channel = structuredClone(moved, { transfer: moved.map(({ buffer }) => buffer) });
    const text = Buffer.concat(channel).toString();
    assert.equal(text, `* 1 FETCH (BODY[] ${'a'.repeat(size)} BODY[] ${'a'.repeat(size)})\r\né`);
    assert.equal(octets.length, size);
    assert.deepEqual(responses.take(), []);
  }
});

test('a released chunk moves to another thread once without a copy, when nothing else is in its memory', () => {
  const alone = Buffer.from(new ArrayBuffer(10));
  assert.notEqual(movable(alone), alone);
  assert.equal(movable(release(alone)), alone);
  assert.notEqual(movable(alone), alone);
  const part = alone.subarray(1);
  assert.notEqual(movable(release(part)).buffer, part.buffer);
  assert.deepEqual(movable(part), new Uint8Array(part));
});
