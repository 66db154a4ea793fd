import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { openListeners } from '../../src/nameserver/listeners/listeners.ts';
import { IDLE_MS, MAX_QUERIES_AT_ONCE, MAX_QUERY_BYTES } from '../../src/nameserver/listeners/tcp.ts';
import { isListenError } from '../../src/system/listen.ts';
import { createMetrics } from '../../src/system/metrics.ts';
import { CLIENT, HOST, query, read, testConfig, testResponder } from './zone.ts';

const responder = testResponder();
const { clock } = responder;
const system = { clock, metrics: createMetrics(clock) };
const { nameserver } = testConfig({
  POSTRIDER_NAMESERVER_PORT: '0',
  POSTRIDER_NAMESERVER_ADDRESSES: '127.0.0.1',
});
const listeners = await openListeners(system, nameserver, responder);
const port = Number(listeners.addresses[0]?.split(':').at(-1));
after(() => listeners.close(0));

const framed = (message: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
};

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** Reads so many responses. */
async function receive(socket: Socket, count: number): Promise<Buffer[]> {
  const responses: Buffer[] = [];
  let held = Buffer.alloc(0);
  for await (const bytes of socket) {
    held = Buffer.concat([held, bytes as Buffer]);
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      responses.push(held.subarray(2, 2 + held.readUInt16BE(0)));
      held = held.subarray(2 + held.readUInt16BE(0));
    }
    if (responses.length >= count) break;
  }
  return responses;
}

/** Resolves with the number of bytes that the server has sent before it closed the connection. */
async function closed(socket: Socket): Promise<number> {
  await once(socket.resume(), 'close');
  return socket.bytesRead;
}

test('the same port answers over UDP and over TCP', async () => {
  const client = createSocket('udp4');
  client.send(query(HOST, 'A'), port, '127.0.0.1');
  const [response] = (await once(client, 'message')) as [Buffer];
  client.close();
  assert.deepEqual(read(response).answers, [`${HOST} A 192.0.2.1`]);
  const socket = await open();
  socket.write(framed(query(HOST, 'A')));
  const [overTcp] = await receive(socket, 1);
  assert.deepEqual(read(overTcp).answers, [`${HOST} A 192.0.2.1`]);
});

test('several queries of a connection are answered in their order, however they are cut', async () => {
  const socket = await open();
  const bytes = Buffer.concat(['A', 'AAAA', 'NS'].map((type) => framed(query(HOST, type))));
  for (const byte of bytes) socket.write(Buffer.from([byte]));
  const responses = await receive(socket, 3);
  assert.deepEqual(
    responses.map((response) => read(response).answers[0]),
    [`${HOST} A 192.0.2.1`, `${HOST} AAAA 2001:db8::1`, `${HOST} NS ns.${HOST}`],
  );
});

test('a client that stalls is cut off, also in the middle of a query and after trickling', async () => {
  const silent = await open();
  const trickling = await open();
  trickling.write(framed(query(HOST, 'A')).subarray(0, 10));
  const ends = [closed(silent), closed(trickling)];
  // The query of another client shows that the server has read the bytes before.
  const other = await open();
  other.write(framed(query(HOST, 'A')));
  await receive(other, 1);
  await clock.advance(IDLE_MS - 1);
  trickling.write(Buffer.from([0]));
  await clock.advance(1);
  assert.deepEqual(await Promise.all(ends), [0, 0]);
});

test('a connection with a message that is too long, with too many at once, or with none that is a query, ends', async () => {
  const long = await open();
  long.write(Buffer.concat([Buffer.from([0xff, 0xff]), Buffer.alloc(MAX_QUERY_BYTES)]));
  assert.equal(await closed(long), 0);
  const many = await open();
  many.write(Buffer.concat(Array.from({ length: MAX_QUERIES_AT_ONCE + 1 }, () => framed(query(HOST, 'A')))));
  assert.equal(await closed(many), 0);
  const foreign = await open();
  foreign.write(framed(Buffer.alloc(3)));
  assert.equal(await closed(foreign), 0);
});

test('one client has a limited number of connections', async () => {
  const sockets = await Promise.all(Array.from({ length: 20 }, open));
  const beyond = await open();
  assert.equal(await closed(beyond), 0);
  const ends = sockets.map(closed);
  for (const socket of sockets) socket.destroy();
  await Promise.all(ends);
});

test('a port that is in use is an error with the section, and nothing stays open', async () => {
  const taken = { ...nameserver, port };
  await assert.rejects(openListeners(system, taken, responder), (error) => {
    assert.ok(isListenError(error));
    assert.equal(error.section, 'nameserver');
    return true;
  });
  assert.equal(read(responder.respondToDatagram(query(HOST, 'A'), CLIENT)).code, 0);
});
