import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionFault } from '../../../../src/mail/smtp/server/fault.ts';
import { attachWire } from '../../../../src/mail/smtp/server/wire.ts';
import { nextSlice } from '../../../../src/system/slices.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createSilentClient } from '../../connection/silent-client.ts';

function createReader() {
  const client = createSilentClient();
  const clock = createFakeClock(0);
  return { ...client, clock, ...attachWire(clock, client.socket) };
}

test('replies wait until the server has no input left, and leave in one write', async () => {
  const { socket, writes, lines, wire } = createReader();
  socket.push('one\r\ntwo\r\nthr');
  assert.equal(await lines.read(1_000), 'one');
  wire.hold('250 a\r\n');
  assert.equal(await lines.read(1_000), 'two');
  wire.hold('250 b\r\n');
  assert.deepEqual(writes, []);
  const third = lines.read(1_000);
  assert.deepEqual(writes, []);
  await nextSlice();
  assert.deepEqual(writes, ['250 a\r\n250 b\r\n']);
  socket.push('ee\r');
  socket.push('\n');
  assert.equal(await third, 'three');
});

test('a client that does not read its replies has no more of its commands run', async () => {
  const { socket, writes, lines, wire, take, clock } = createReader();
  socket.push('NOOP\r\n'.repeat(1_000));
  let count = 0;
  let failure: unknown;
  const run = async () => {
    for (;;) {
      await lines.read(1_000);
      count++;
      wire.hold(`250 ${'x'.repeat(94)}\r\n`);
    }
  };
  const running = run().catch((error: unknown) => {
    failure = error;
  });
  await clock.advance(0);
  assert.equal(count, 164, 'the replies to so many lines are held');
  take();
  await clock.advance(0);
  assert.equal(count, 328);
  assert.equal(writes.length, 2);
  await clock.advance(1_000);
  await running;
  assert.ok(failure instanceof ConnectionFault && failure.reason === 'idle');
});
