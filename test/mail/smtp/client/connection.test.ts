import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SmtpConnection } from '../../../../src/mail/smtp/client/connection.ts';
import { openSmtp } from '../../../../src/mail/smtp/client/open.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import type { Script, ScriptedPeer } from './scripted-peer.ts';
import {
  countTimers,
  envelope,
  optionsFor,
  peerFor,
  settleSockets,
  summary,
  worldWith,
} from './session-fixture.ts';

async function connected(t: TestContext, script: Script = {}) {
  const peer: ScriptedPeer = await peerFor(t, script);
  const counted = countTimers(createFakeClock(0));
  const socket: Socket = await worldWith(counted.clock).dial({
    address: '127.0.0.1',
    port: peer.port,
    timeoutMs: 1_000,
  });
  const connection = new SmtpConnection(counted.clock, socket);
  t.after(() => connection.destroy());
  return { peer, socket, connection, ...counted };
}

test('commands that are sent in one turn of the event loop are one write', async (t) => {
  const { peer, socket, connection } = await connected(t);
  connection.send('NOOP\r\n');
  connection.send(Buffer.from('NOOP\r\n'));
  assert.equal(socket.writableLength, 12);
  await connection.flushed();
  assert.equal(socket.writableLength, 0);
  await settleSockets();
  assert.deepEqual(peer.reads, ['NOOP\r\nNOOP\r\n']);
});

test('a write that finds no room fails at its time, itself', async (t) => {
  const { connection, clock } = await connected(t, { data: '354 go\r\n', stall: () => {} });
  await connection.read('banner', 1_000);
  connection.send('DATA\r\n');
  await connection.read('data', 1_000);
  const block = Buffer.alloc(64 * 1024, 'x');
  let isWaiting = false;
  let writing = Promise.resolve();
  while (!isWaiting) {
    writing = connection.write('body', block, 18_000);
    isWaiting = await Promise.race([writing.then(() => false), settleSockets().then(() => true)]);
  }
  const failed = assert.rejects(writing, {
    failure: { phase: 'body', kind: 'timeout', message: 'sending took longer than 18000 ms' },
  });
  await clock.advance(18_000);
  await failed;
});

test('room for more is no answer, and gains the peer no time', async (t) => {
  const { socket, connection, clock } = await connected(t, { banner: 'hang' });
  let failure: unknown;
  const reading = connection.read('banner', 19_000).catch((error) => {
    failure = error;
  });
  await clock.advance(10_000);
  socket.emit('drain');
  await clock.advance(8_999);
  assert.equal(failure, undefined);
  await clock.advance(1);
  await reading;
  assert.match(String(failure), /longer than 19000 ms/);
});

test('a connection that is over, or was handed over, leaves no timer', async (t) => {
  const { connection, live } = await connected(t);
  await connection.read('banner', 1_000);
  connection.destroy();
  assert.equal(live(), 0);

  const other = await connected(t);
  await other.connection.read('banner', 1_000);
  other.connection.detach();
  assert.equal(other.live(), 0);

  const peer = await peerFor(t);
  const { clock, live: liveInSession } = countTimers(createFakeClock(0));
  const opened = await openSmtp(worldWith(clock), optionsFor(peer.port));
  assert.ok(opened.ok);
  assert.deepEqual(summary(await opened.session.transact(envelope()).result), ['accepted 250']);
  assert.equal(liveInSession(), 1);
  await opened.session.quit();
  assert.equal(liveInSession(), 0);
});
