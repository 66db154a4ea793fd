import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { ConnectionFault } from '../../../../src/mail/smtp/server/fault.ts';
import { Wire } from '../../../../src/mail/smtp/server/wire.ts';
import { nextTurn } from '../../../../src/system/next-turn.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

/** A socket whose client reads only when the test lets it. */
function createSocket() {
  const writes: string[] = [];
  let taken = () => {};
  const socket = new Duplex({
    highWaterMark: 1_024,
    read() {},
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      taken = done;
    },
  }) as Socket;
  const clock = createFakeClock(0);
  return { socket, writes, take: () => taken(), clock, wire: new Wire(clock, socket) };
}

test('replies wait until the server has no input left, and leave in one write', async () => {
  const { socket, writes, wire } = createSocket();
  socket.push('one\r\ntwo\r\nthr');
  assert.equal(await wire.readLine(1_000), 'one');
  wire.send('250 a\r\n');
  assert.equal(await wire.readLine(1_000), 'two');
  wire.send('250 b\r\n');
  assert.deepEqual(writes, []);
  const third = wire.readLine(1_000);
  assert.deepEqual(writes, []);
  await nextTurn();
  assert.deepEqual(writes, ['250 a\r\n250 b\r\n']);
  socket.push('ee\r');
  socket.push('\n');
  assert.equal(await third, 'three');
});

test('a client that does not read its replies has no more of its commands run', async () => {
  const { socket, writes, wire, take, clock } = createSocket();
  socket.push('NOOP\r\n'.repeat(1_000));
  let lines = 0;
  let failure: unknown;
  const run = async () => {
    for (;;) {
      await wire.readLine(1_000);
      lines++;
      wire.send(`250 ${'x'.repeat(94)}\r\n`);
    }
  };
  const running = run().catch((error: unknown) => {
    failure = error;
  });
  await clock.advance(0);
  assert.equal(lines, 164, 'the replies to so many lines are held');
  take();
  await clock.advance(0);
  assert.equal(lines, 328);
  assert.equal(writes.length, 2);
  await clock.advance(1_000);
  await running;
  assert.ok(failure instanceof ConnectionFault && failure.reason === 'idle');
});

test('a client is not read further while nothing reads what it has sent', async () => {
  for (const piece of [Buffer.alloc(16 * 1_024, 'x'), Buffer.from('x')]) {
    const { socket, wire, clock } = createSocket();
    let pieces = 0;
    for (; !socket.isPaused() && pieces < 1_000; pieces++) {
      socket.push(piece);
      await clock.advance(0);
    }
    assert.equal(pieces, piece.length > 1 ? 4 : 64);
    for (let left = pieces; left > 0; left--)
      assert.equal((await wire.readBytes(1_000)).length, piece.length);
    const more = wire.readBytes(1_000);
    assert.equal(socket.isPaused(), false);
    socket.push(piece);
    assert.deepEqual(await more, piece);
  }
});

test('bytes that are given back are read first, and lines too', async () => {
  const { socket, wire } = createSocket();
  socket.push('abcdef\r\n');
  const bytes = await wire.readBytes(1_000, 3);
  assert.equal(bytes.toString(), 'abc');
  wire.unreadBytes(bytes.subarray(1));
  const line = await wire.readLine(1_000);
  assert.equal(line, 'bcdef');
  wire.unreadLine(line);
  assert.equal(await wire.readLine(1_000), 'bcdef');
  assert.equal(wire.hasInput, false);
});

test('a wait ends in time, however many bytes arrive meanwhile', async () => {
  const { socket, wire, clock } = createSocket();
  const line = wire.readLine(10_000);
  const failed = assert.rejects(line, { name: 'ConnectionFault', reason: 'idle' });
  for (let second = 0; second < 10; second++) {
    socket.push('x');
    await clock.advance(1_000);
  }
  await failed;
});

test('a connection that was ended is closed when the client does not close it', async () => {
  const { socket, wire, clock, writes } = createSocket();
  wire.send('221 bye\r\n');
  wire.end();
  assert.deepEqual(writes, ['221 bye\r\n']);
  socket.push('more');
  await clock.advance(4_999);
  assert.equal(socket.destroyed, false);
  await clock.advance(1);
  assert.equal(socket.destroyed, true);
});
