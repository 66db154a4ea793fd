import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createTargetGuard, RefusedTargetError } from '../../src/system/blocklist.ts';
import { realClock } from '../../src/system/clock.ts';
import { createDial } from '../../src/system/dial.ts';
import { LOOPBACK_GUARD, listenOnLoopback } from '../support/loopback.ts';

const dial = createDial(LOOPBACK_GUARD, realClock);

async function serverFor(t: TestContext): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => {}));
  t.after(() => server.close());
  return listenOnLoopback(server);
}

test('an error between the connect and the next listener is not uncaught, and shows on the socket', async (t) => {
  const socket = await dial({ address: '127.0.0.1', port: await serverFor(t), timeoutMs: 30_000 });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.destroy(new Error('the line is dead'));
  await closed;
  assert.equal(socket.errored?.message, 'the line is dead');
});

test('a closed port is an error, and a target that is not public is refused before a socket is opened', async (t) => {
  const port = await serverFor(t);
  await assert.rejects(dial({ address: '127.0.0.1', port: 1, timeoutMs: 30_000 }), { code: 'ECONNREFUSED' });
  await assert.rejects(dial({ address: '10.0.0.1', port, timeoutMs: 30_000 }), RefusedTargetError);
});

test('a host that the operator has exempted may be private, and a name is still no address', async (t) => {
  const strict = createDial(createTargetGuard({ allow: [], own: [] }), realClock);
  const target = { address: '127.0.0.1', port: await serverFor(t), timeoutMs: 30_000 };
  await assert.rejects(strict(target), RefusedTargetError);
  await assert.rejects(strict({ ...target, address: 'localhost', mayBePrivate: true }), RefusedTargetError);
  (await strict({ ...target, mayBePrivate: true })).destroy();
});

test('a signal ends the connection while it is made, and afterwards', async (t) => {
  const target = { address: '127.0.0.1', port: await serverFor(t), timeoutMs: 30_000 };
  const early = new AbortController();
  const dialling = dial({ ...target, signal: early.signal });
  early.abort();
  await assert.rejects(dialling, { name: 'AbortError' });
  await assert.rejects(dial({ ...target, signal: early.signal }), { name: 'AbortError' });
  const late = new AbortController();
  const socket = await dial({ ...target, signal: late.signal });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  late.abort();
  await closed;
});
