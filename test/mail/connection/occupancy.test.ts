import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { createOccupancy } from '../../../src/mail/connection/occupancy.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const SECOND_MS = 1_000;

function start(maxConnections: number) {
  const clock = createFakeClock(0);
  const occupancy = createOccupancy(clock, maxConnections);
  const ended: string[] = [];
  return {
    clock,
    occupancy,
    ended,
    add(name: string, address: string) {
      const socket = new EventEmitter() as Socket;
      return { socket, slot: occupancy.add({ socket, address, evict: () => ended.push(name) }) };
    },
  };
}

test('no connection is ended before more than four fifths of all are open', async () => {
  const { occupancy, add, ended, clock } = start(5);
  for (const name of ['a', 'b', 'c', 'd']) add(name, '192.0.2.1');
  assert.equal(occupancy.isStressed, false);
  assert.equal(occupancy.evictOne(), undefined);
  const { socket } = add('e', '192.0.2.1');
  assert.equal(occupancy.isStressed, true);
  await clock.advance(5 * SECOND_MS);
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['a']);
  assert.equal(occupancy.evictOne(), undefined);
  socket.emit('close');
  for (const name of ['f', 'g']) add(name, '192.0.2.1');
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['a', 'b']);
});

test('networks are a /24 of IPv4, in both of its forms, and a /48 of IPv6', async () => {
  for (const [crowd, lone] of [
    [['192.0.2.1', '192.0.2.200', '::ffff:192.0.2.77'], '192.0.3.1'],
    [['2001:db8:1::1', '2001:db8:1:2::1', '2001:db8:1:ffff::1'], '2001:db8:2::1'],
  ] as const) {
    const { occupancy, add, ended, clock } = start(4);
    add('lone', lone);
    for (const address of crowd) {
      await clock.advance(1);
      add(address, address);
    }
    occupancy.evictOne();
    assert.deepEqual(ended, crowd.slice(0, 1));
  }
});

test('a login protects a connection, and so does its message, until they end', () => {
  const { occupancy, add, ended } = start(4);
  const { slot } = add('protected', '192.0.2.1');
  slot.enter('protected');
  for (const name of ['a', 'b', 'c', 'd']) add(name, '198.51.100.1');
  occupancy.evictOne();
  assert.deepEqual(ended, ['a']);
  for (const name of ['b', 'c', 'd']) {
    add('another', '203.0.113.1').slot.enter('protected');
    occupancy.evictOne();
    assert.equal(ended.at(-1), name);
  }
  add('another', '203.0.113.1').slot.enter('protected');
  assert.equal(occupancy.evictOne(), undefined);
  slot.enter('waiting');
  occupancy.evictOne();
  assert.equal(ended.at(-1), 'protected');
});

test('after a message was accepted a connection is spared for 30 s, and then its last progress counts', async () => {
  const { occupancy, add, ended, clock } = start(2);
  const { slot } = add('sender', '192.0.2.1');
  slot.enter('transaction');
  slot.enter('protected');
  slot.messageAccepted();
  slot.enter('waiting');
  await clock.advance(SECOND_MS);
  add('stranger', '192.0.2.2');
  await clock.advance(28 * SECOND_MS);
  occupancy.evictOne();
  assert.deepEqual(ended, ['stranger']);
  add('next', '192.0.2.3');
  await clock.advance(SECOND_MS - 1);
  occupancy.evictOne();
  assert.deepEqual(ended, ['stranger', 'next']);
  add('last', '192.0.2.4');
  await clock.advance(1);
  occupancy.evictOne();
  assert.deepEqual(ended, ['stranger', 'next', 'sender']);
});

test('a transaction that is given up does not spare a connection longer than its last message', async () => {
  const { occupancy, add, ended, clock } = start(2);
  const { slot } = add('sender', '192.0.2.1');
  slot.messageAccepted();
  await clock.advance(20 * SECOND_MS);
  const { slot: later } = add('later', '192.0.2.2');
  later.messageAccepted();
  slot.enter('transaction');
  slot.enter('waiting');
  await clock.advance(10 * SECOND_MS);
  occupancy.evictOne();
  assert.deepEqual(ended, ['sender']);
});

test('who connects and leaves again and again cuts off nobody who has just connected, while there is room', async () => {
  const { occupancy, add, ended, clock } = start(10);
  for (let user = 0; user < 8; user++) add('user', '192.0.2.1').slot.enter('protected');
  add('honest', '203.0.113.1');
  for (let visit = 0; visit < 49; visit++) {
    await clock.advance(100);
    assert.equal(occupancy.evictOne(), undefined);
    add('visitor', '198.51.100.1').socket.emit('close');
  }
  await clock.advance(100);
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['honest']);
});

test('a full listener ends a transaction that has stalled before a fresh connection, and otherwise a fresh one', async () => {
  const { occupancy, add, ended, clock } = start(2);
  add('stalled', '198.51.100.1').slot.enter('transaction');
  await clock.advance(30 * SECOND_MS);
  add('honest', '203.0.113.1');
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['stalled']);
  add('transaction', '198.51.100.1').slot.enter('transaction');
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['stalled', 'honest']);
});

test('a transaction is ended only when nothing is left, and then only one without a message for 30 s', async () => {
  const { occupancy, add, ended, clock } = start(3);
  const { slot } = add('transaction', '192.0.2.1');
  slot.enter('transaction');
  for (const name of ['a', 'b']) add(name, '198.51.100.1');
  await clock.advance(29 * SECOND_MS);
  assert.ok(occupancy.evictOne());
  add('c', '198.51.100.1').slot.enter('protected');
  assert.ok(occupancy.evictOne());
  add('d', '198.51.100.1').slot.enter('protected');
  assert.equal(occupancy.evictOne(), undefined);
  await clock.advance(SECOND_MS);
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['a', 'b', 'transaction']);
});

test('a transaction that has stalled is kept as long as there are connections left', async () => {
  const { occupancy, add, ended, clock } = start(10);
  for (let more = 0; more < 9; more++) add('transaction', '192.0.2.1').slot.enter('transaction');
  await clock.advance(60 * SECOND_MS);
  assert.equal(occupancy.evictOne(), undefined);
  add('last', '192.0.2.1').slot.enter('protected');
  assert.ok(occupancy.evictOne());
  assert.deepEqual(ended, ['transaction']);
});

test('a client that a proxy has named counts to its own network', () => {
  const { occupancy, add, ended } = start(4);
  for (const [index, address] of ['192.0.2.1', '198.51.100.1', '203.0.113.1'].entries())
    add(address, '10.0.0.1').slot.moveTo(index === 0 ? '203.0.113.9' : address);
  add('last', '10.0.0.1');
  occupancy.evictOne();
  assert.deepEqual(ended, ['192.0.2.1']);
});
