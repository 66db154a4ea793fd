import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Responses } from '../../../src/accounts/imap/responses.ts';

const CHUNK_BYTES = 64 * 1024;

test('chunks hold what was added in its order', () => {
  for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]) {
    const responses = new Responses();
    const octets = Buffer.from(new Uint8Array(size).fill(0x61));
    responses.addPieces(['* 1 FETCH (BODY[] ', octets, ' BODY[] ', octets, ')\r\n']);
    responses.add('é');
    const chunks = responses.take();
    const text = Buffer.concat(chunks).toString();
    assert.equal(text, `* 1 FETCH (BODY[] ${'a'.repeat(size)} BODY[] ${'a'.repeat(size)})\r\né`);
    assert.deepEqual(responses.take(), []);
    // The wire takes the memory of a chunk that is alone in it, and the message is read again.
    const isTaken = (chunk: Buffer) => chunk.buffer.byteLength === chunk.length;
    for (const chunk of chunks) assert.ok(chunk.buffer !== octets.buffer || !isTaken(chunk));
  }
});
