import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMessage } from '../../src/submission/message.ts';
import { openTestApp } from '../support/test-app.ts';

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
  await using open = await openTestApp();
  const { app } = open;
  const memory = app.guards.memory.smtp.open('192.0.2.1');
  const hashes = new Set<string | undefined>();
  for (const pieceBytes of [MESSAGE.length, 4_096, 5_000]) {
    const read = { memory, prepareHeader: async () => Buffer.from('Subject: x\r\n\r\n') };
    hashes.add((await readMessage(app, cut(pieceBytes), read)).givenHash);
  }
  memory.release();
  assert.equal(hashes.size, 1);
  assert.match([...hashes][0] ?? '', /^[0-9a-f]{64}$/);
});
