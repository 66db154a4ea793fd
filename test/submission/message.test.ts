import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readMessage } from '../../src/submission/message.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
after(() => world.close());
const { app } = world;

const MESSAGE = Buffer.from(
  [
    'From: Orders <orders@sender.example>',
    'X-Service-Idempotency-Key: order-1',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    '<p>é</p>'.repeat(2_000),
    '',
  ].join('\r\n'),
);

async function* cut(pieceBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < MESSAGE.length; at += pieceBytes) yield MESSAGE.subarray(at, at + pieceBytes);
}

test('a message that is handed over again is known by its body, however its octets arrive', async () => {
  const memory = app.guards.memory.smtp.open('192.0.2.1');
  const hashes = new Set<string | undefined>();
  for (const pieceBytes of [MESSAGE.length, 4_096, 5_000]) {
    const read = { memory, prepareHeader: async () => Buffer.from('Subject: x\r\n\r\n'), keepsUtf8: false };
    hashes.add((await readMessage(app, cut(pieceBytes), read)).givenHash);
  }
  memory.release();
  assert.equal(hashes.size, 1);
  assert.match([...hashes][0] ?? '', /^[0-9a-f]{64}$/);
});

test('a message of very short lines is stored in few pieces', async () => {
  const memory = app.guards.memory.smtp.open('192.0.2.1');
  const sizes: number[] = [];
  const prepare: typeof app.blobs.prepare = (pieces, mayHold) =>
    app.blobs.prepare(
      (async function* () {
        for await (const piece of pieces) {
          sizes.push(piece.length);
          yield piece;
        }
      })(),
      mayHold,
    );
  const header = 'From: ann@sender.example\r\n\r\n';
  async function* body() {
    yield Buffer.from(header + '\r\n'.repeat(20_000));
    yield Buffer.from('\r\n'.repeat(20_000));
  }
  const read = { memory, prepareHeader: async () => Buffer.from(header), keepsUtf8: false };
  await readMessage({ ...app, blobs: { ...app.blobs, prepare } }, body(), read);
  memory.release();
  // The header comes first; such a long body is quoted-printable, of which the header says so.
  assert.ok((sizes[0] ?? 0) > header.length && (sizes[0] ?? 0) < 300, `${sizes[0]}`);
  assert.ok(sizes.length <= 4, `${sizes.length} pieces`);
});
