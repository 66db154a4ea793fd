import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { startDaemon } from '../../src/main.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';

test('a request that never ends does not hold up the end of the daemon', async () => {
  const dataDir = newDataDirectory();
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    ...FREE_PORTS,
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const clock = createFakeClock(Date.parse('2026-03-01T12:00:00Z'));
  const daemon = await startDaemon(loadConfig({ env }), { clock });
  const socket = connect(Number(new URL(daemon.address).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  // In one write: when the first is answered, the server has seen the beginning of the second.
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nPOST /v1/emails HTTP/1.1\r\nHost: x\r\nX-Drip: ');
  await once(socket, 'data');
  let stopped = false;
  const stop = daemon.stop().then(() => {
    stopped = true;
  });
  await clock.advance(4_000);
  assert.equal(stopped, false, 'requests under way get some time');
  await clock.advance(2_000);
  await stop;
  socket.destroy();
});

test('a request that arrives while the daemon drains is refused in the error envelope, with Retry-After', async () => {
  const dataDir = newDataDirectory();
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    ...FREE_PORTS,
    POSTRIDER_LOG_LEVEL: 'silent',
  };
  const daemon = await startDaemon(loadConfig({ env }), { random: Math.random });
  const socket = connect(Number(new URL(daemon.address).port), '127.0.0.1');
  await once(socket, 'connect');
  // The connection is not idle, since the beginning of a request has arrived on it.
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /v1/emails HTTP/1.1\r\nHost: x\r\n');
  await once(socket, 'data');
  const stopped = daemon.stop();
  const answer: Buffer[] = [];
  socket.on('data', (part) => answer.push(part));
  socket.write('\r\n');
  await Promise.all([once(socket, 'close'), stopped]);
  const text = Buffer.concat(answer).toString();
  assert.match(text, /^HTTP\/1\.1 503 [\s\S]*retry-after: 5\r\n/);
  assert.match(text, /connection: close\r\n/i);
  assert.match(text, /x-request-id: req_/);
  assert.match(text, /"type":"unavailable","message":"The daemon is stopping; try again shortly"/);
});
