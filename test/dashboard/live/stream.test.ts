/** A browser that does not read its stream is dropped. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { beginStream, frameOf, MAX_UNSENT_BYTES, type Stream } from '../../../src/dashboard/live/stream.ts';

test('a reader that takes nothing is dropped once too much waits for it, and its end is told once', async () => {
  let stream: Stream | undefined;
  let ends = 0;
  const server = createServer((_request, response) => {
    stream = beginStream(response, {}, () => {
      ends += 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(server, 'request');
  const frame = frameOf('tail', { text: 'x'.repeat(MAX_UNSENT_BYTES / 4) }, 1);
  let sent = 0;
  // The buffers of the operating system take some of it first.
  while (!stream?.hasEnded && sent < 2_000) {
    stream?.send(frame);
    sent += 1;
    await new Promise(setImmediate);
  }
  assert.ok(stream?.hasEnded, `${sent} frames were sent`);
  assert.equal(ends, 1);
  socket.destroy();
  server.close();
});
