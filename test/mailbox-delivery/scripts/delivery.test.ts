/** Scripts see the header of a message, in whatever pieces it is read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHeader } from '../../../src/mailbox-delivery/scripts/delivery.ts';

/** Returns the header of a message, and how many of its pieces were read. */
async function read(...pieces: string[]) {
  let count = 0;
  const chunks = async function* () {
    for (const piece of pieces) {
      count++;
      yield Buffer.from(piece);
    }
  };
  const header = await readHeader({ sizeBytes: pieces.join('').length, chunks });
  return [String(header), count];
}

test('a header ends with its empty line, and no more of the message is read', async () => {
  assert.deepEqual(await read('A: b\r\n\r\nHello\r\n\r\n', 'World'), ['A: b\r\n\r\n', 1]);
  assert.deepEqual(await read('A: b\r\nC', ': d\r\n\r', '\nHello', 'World'), ['A: b\r\nC: d\r\n\r\n', 3]);
  assert.deepEqual(await read('A: b\r\n', 'C: d\r\n'), ['A: b\r\nC: d\r\n', 2]);
  const line = `A: ${'b'.repeat(994)}\r\n`;
  const [, count] = await read(...Array(1_000).fill(line));
  assert.ok(Number(count) < 300, `${count} pieces`);
});
