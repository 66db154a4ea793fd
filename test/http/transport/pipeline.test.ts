/** A client that sends many requests at once, and does not wait for the answers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MAX_REQUESTS_AHEAD, READ_AHEAD_MS } from '../../../src/http/transport/pipeline.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { head, listen, open, post } from '../connection.ts';
import { serve } from '../serve.ts';

type Gate = { opened: Promise<void>; open(): void };

function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

const began: string[] = [];
let holdNumber = (_number: string): Promise<void> | void => {};
const clock = createFakeClock(0);
const serveNumbers = () =>
  serve({ clock }, (routes) => {
    routes.get<{ Params: { number: string } }>('/number/:number', async ({ params: { number } }) => {
      began.push(number);
      await holdNumber(number);
      return { number };
    });
  });
const { server } = await serveNumbers();
/** Returns those of `names` that were begun, in order. */
const begunOf = (...names: string[]) => began.filter((number) => names.includes(number));
let parsed = 0;
server.server.on('request', () => void parsed++);
const port = await listen(server);
after(() => server.close());

const get = (path: string | number) => `GET /number/${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

/** Answers a request of another connection: bytes that had arrived before are read by then. */
async function roundTrip(): Promise<void> {
  const other = await open(port);
  other.write('GET /things/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  assert.equal((await other.answer()).status, 200);
  await other.closed;
}

test('once a client has pipelined, no more than two requests of a connection are read ahead for a while', async () => {
  const [early, client] = [await open(port), await open(port)];
  const measured = async (connection: typeof client): Promise<number> => {
    const { opened, open: release } = gate();
    holdNumber = () => opened;
    parsed = 0;
    began.length = 0;
    connection.write(numbers(3_000).map(get).join(''));
    for (let trip = 0; trip < 5; trip++) await roundTrip();
    const parsedWhileHeld = parsed - 5;
    assert.deepEqual(began, ['0']);
    release();
    holdNumber = () => {};
    for (const number of numbers(3_000))
      assert.equal((await connection.answer()).body, `{"number":"${number}"}`);
    assert.deepEqual(began, numbers(3_000));
    return parsedWhileHeld;
  };
  const ofFirstChunk = await measured(client);
  assert.ok(ofFirstChunk > 3 && ofFirstChunk * get('0').length <= 64 * 1024, `${ofFirstChunk} were read`);
  assert.equal(await measured(client), 1 + MAX_REQUESTS_AHEAD, 'the same connection');
  assert.equal(await measured(early), 1 + MAX_REQUESTS_AHEAD, 'a connection that was open before');
  const late = await open(port);
  assert.equal(await measured(late), 1 + MAX_REQUESTS_AHEAD, 'a new connection');
  await clock.advance(READ_AHEAD_MS);
  const last = await open(port);
  assert.ok((await measured(last)) > 1 + MAX_REQUESTS_AHEAD, 'a new connection, after the while');
  for (const { socket } of [early, client, late, last]) socket.destroy();
});

test('while one connection has many requests waiting, other connections are served after each', async () => {
  const [many, other] = [await open(port), await open(port)];
  began.length = 0;
  holdNumber = (number) => {
    if (number === '0') other.write(get('other'));
  };
  many.write(numbers(1_000).map(get).join(''));
  await other.answer();
  holdNumber = () => {};
  const place = began.indexOf('other');
  assert.ok(place > 0 && place < 500, `after ${place} others`);
  many.socket.destroy();
  other.socket.destroy();
});

test('requests pipelined behind the answer that ends a connection are not executed', async () => {
  holdNumber = () => {};
  const { server: own } = await serveNumbers();
  const ownPort = await listen(own);
  const last = get('last').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
  // The server reads the first connection by chunks, and the second by requests.
  for (const _connection of ['first', 'second']) {
    began.length = 0;
    const client = await open(ownPort);
    client.write(`${get('first')}${last}${get('never')}`);
    for (const number of ['first', 'last'])
      assert.equal((await client.answer()).body, `{"number":"${number}"}`);
    await client.closed;
    assert.deepEqual(begunOf('first', 'last', 'never'), ['first', 'last']);
  }
  await own.close();
});

test('requests of a client that left before they were begun are not executed', async () => {
  const { opened, open: release } = gate();
  began.length = 0;
  holdNumber = () => opened;
  const client = await open(port);
  client.write([get('one'), get('two'), get('three')].join(''));
  while (begunOf('one').length === 0) await roundTrip();
  client.reset();
  for (let trip = 0; trip < 5; trip++) await roundTrip();
  release();
  holdNumber = () => {};
  for (let trip = 0; trip < 5; trip++) await roundTrip();
  assert.deepEqual(begunOf('one', 'two', 'three'), ['one']);
});

const chunked = (path: string, chunks: readonly string[]) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
  `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
const named = (name: string) => JSON.stringify({ name });
/** Heads, bodies and line ends in every order in which they may follow each other. */
const REQUESTS: readonly [bytes: string, answer: string][] = [
  [get(1), '{"number":"1"}'],
  [post('/things', named('a')), '{"got":{"name":"a"}}'],
  [post('/things', named('b\r\n\r\n'.replaceAll('\r\n', ' '))), '{"got":{"name":"b  "}}'],
  [chunked('/things', ['{"name":', '"c"}']), '{"got":{"name":"c"}}'],
  [`\r\n${get(2)}`, '{"number":"2"}'],
  [chunked('/things', [named('d'.repeat(9_000))]), `{"got":${named('d'.repeat(9_000))}}`],
  [post('/things', `\r\n\r\n${named('e')}\r\n\r\n`), '{"got":{"name":"e"}}'],
  [post('/things/9/send', ''), '{"got":null}'],
  [head('/things/9/send', 0), '{"got":null}'],
  [post('/things', named('f'.repeat(200_000))), `{"got":${named('f'.repeat(200_000))}}`],
  [get(3), '{"number":"3"}'],
];

for (const pieceBytes of [1, 3, 17, 100, 4_096, 70_000, 1_000_000]) {
  test(`requests are the same however they are cut on their way: ${pieceBytes} bytes at a time`, async () => {
    holdNumber = () => {};
    const large = pieceBytes < 100 ? 5_000 : 250_000;
    const requests = REQUESTS.filter(([bytes]) => bytes.length < large);
    const bytes = requests.map(([request]) => request).join('');
    const { server: own } = await serveNumbers();
    const ownPort = await listen(own);
    // The server reads the first connection by chunks until its requests overlap, and the second by requests.
    for (const _connection of ['first', 'second']) {
      const client = await open(ownPort);
      client.socket.setNoDelay(true);
      const answers = (async () => {
        for (const [, expected] of requests) assert.equal((await client.answer()).body, expected);
      })();
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        client.write(bytes.slice(at, at + pieceBytes));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await answers;
      client.socket.destroy();
    }
    await own.close();
  });
}

test('a client that does not read its answers is not read either, and loses nothing', async () => {
  const { server: own } = await serve({}, (routes) => {
    routes.get('/large', async () => ({ text: 'x'.repeat(1_000_000) }));
  });
  try {
    const client = await open(await listen(own));
    client.socket.pause();
    client.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(20));
    client.write(post('/things', named('last')));
    await roundTrip();
    client.socket.resume();
    for (let count = 0; count < 20; count++) assert.equal((await client.answer()).body.length, 1_000_011);
    assert.equal((await client.answer()).body, '{"got":{"name":"last"}}');
    client.socket.destroy();
  } finally {
    await own.close();
  }
});

test('a connection that Node is closing is left alone when another client pipelines', async () => {
  const { server: own } = await serveNumbers();
  const ownPort = await listen(own);
  const [closing, pipelining] = [await open(ownPort), await open(ownPort)];
  closing.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
  pipelining.write(`${get('one')}${get('two')}`);
  for (const number of ['one', 'two'])
    assert.equal((await pipelining.answer()).body, `{"number":"${number}"}`);
  await closing.closed;
  pipelining.socket.destroy();
  await own.close();
});
