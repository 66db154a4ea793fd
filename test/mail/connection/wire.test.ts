import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wire } from '../../../src/mail/connection/wire.ts';
import { nextSlice } from '../../../src/system/slices.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createSilentClient } from './silent-client.ts';

const IDLE = { timeoutMs: 1_000, reason: 'idle' } as const;

function createWire() {
  const client = createSilentClient();
  const clock = createFakeClock(0);
  const wire = new Wire<'idle'>(clock, client.socket, {
    maxUnsentBytes: 16 * 1_024,
    timeoutFault: (reason) => new Error(`timeout: ${reason}`),
  });
  return { ...client, clock, wire };
}

test('what is sent leaves at the end of the turn, and what is held with it or when the server waits', async () => {
  const { socket, wire, writes, take } = createWire();
  wire.hold('a');
  await nextSlice();
  assert.deepEqual(writes, []);
  wire.send('b');
  assert.deepEqual(writes, []);
  await nextSlice();
  assert.deepEqual(writes, ['ab']);
  take();
  wire.hold('c');
  const input = wire.read(IDLE);
  await nextSlice();
  assert.deepEqual(writes, ['ab', 'c']);
  socket.push('d');
  assert.equal((await input).toString(), 'd');
});

test('a client is not read further while nothing reads what it has sent', async () => {
  for (const piece of [Buffer.alloc(16 * 1_024, 'x'), Buffer.from('x')]) {
    const { socket, wire, clock } = createWire();
    let pieces = 0;
    for (; !socket.isPaused() && pieces < 1_000; pieces++) {
      socket.push(piece);
      await clock.advance(0);
    }
    assert.equal(pieces, piece.length > 1 ? 4 : 64);
    for (let left = pieces; left > 0; left--) assert.equal((await wire.read(IDLE)).length, piece.length);
    const more = wire.read(IDLE);
    assert.equal(socket.isPaused(), false);
    socket.push(piece);
    assert.deepEqual(await more, piece);
  }
});

test('a client is not read further while it does not read what is sent', async () => {
  const { socket, wire, clock, take } = createWire();
  wire.send('x'.repeat(16 * 1_024));
  const drained = wire.drain(IDLE);
  let pieces = 0;
  for (; !socket.isPaused() && pieces < 1_000; pieces++) {
    socket.push(Buffer.alloc(16 * 1_024, 'x'));
    await clock.advance(0);
  }
  assert.equal(pieces, 4);
  take();
  await drained;
});

test('a wait for a client that does not read ends in time', async () => {
  const { wire, clock } = createWire();
  wire.send('x'.repeat(16 * 1_024));
  const failed = assert.rejects(wire.drain(IDLE), { message: 'timeout: idle' });
  await clock.advance(1_000);
  await failed;
});

test('octets that are given back are read first', async () => {
  const { socket, wire } = createWire();
  socket.push('abcdef');
  const octets = await wire.read(IDLE, 3);
  assert.equal(octets.toString(), 'abc');
  wire.unread(octets.subarray(1));
  assert.equal((await wire.read(IDLE)).toString(), 'bc');
  assert.equal(wire.hasInput, true);
  assert.equal(wire.take()?.toString(), 'def');
  assert.equal(wire.hasInput, false);
});

test('an interruption ends the wait for a command, and not one that goes on', async () => {
  const { socket, wire } = createWire();
  const message = wire.read({ ...IDLE, isInterruptible: false });
  wire.interrupt(new Error('the server stops'));
  socket.push('x');
  assert.equal((await message).toString(), 'x');
  socket.push('y');
  await assert.rejects(wire.read(IDLE), { message: 'the server stops' });
  await assert.rejects(wire.waitForEvent(1_000), { message: 'the server stops' });
});

test('a connection that was ended is closed when the client does not close it', async () => {
  const { socket, wire, clock, writes } = createWire();
  wire.hold('221 bye\r\n');
  wire.end();
  assert.deepEqual(writes, ['221 bye\r\n']);
  socket.push('more');
  await clock.advance(4_999);
  assert.equal(socket.destroyed, false);
  await clock.advance(1);
  assert.equal(socket.destroyed, true);
});

test('after the last word at most 64 KiB are read, and the connection closes once the word was sent', async () => {
  for (const arrivedBytes of [0, 40, 100]) {
    const { socket, wire, take, writes } = createWire();
    const piece = Buffer.alloc(1_024, 'x');
    for (let bytes = 0; bytes < arrivedBytes; bytes++) socket.push(piece);
    await nextSlice();
    wire.send('bye');
    wire.end();
    let dropped = 0;
    for (; !socket.isPaused() && dropped < 1_000; dropped++) {
      socket.push(piece);
      await nextSlice();
    }
    assert.equal(dropped, Math.max(0, 64 - arrivedBytes));
    assert.equal(socket.destroyed, false);
    assert.deepEqual(writes, ['bye']);
    take();
    await nextSlice();
    assert.equal(socket.destroyed, true);
  }
});

test('a client that sends little after the last word may read it for 5 s', async () => {
  const { socket, wire, clock, take } = createWire();
  wire.send('bye');
  wire.end();
  socket.push('a little');
  take();
  await clock.advance(4_999);
  assert.equal(socket.destroyed, false);
  await clock.advance(1);
  assert.equal(socket.destroyed, true);
});

test('a connection that is cut off is closed in the same turn, with its last word, and not with that of a former owner', async () => {
  const { socket, wire, writes } = createWire();
  const input = wire.read(IDLE);
  wire.cut('421');
  await assert.rejects(input, { name: 'ClientGone' });
  assert.deepEqual([writes, socket.destroyed], [['421'], true]);
  const other = createWire();
  other.wire.detach();
  other.wire.cut('421');
  await nextSlice();
  assert.deepEqual([other.writes, other.socket.destroyed], [[], true]);
});
