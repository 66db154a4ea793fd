import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type TestContext, test } from 'node:test';
import { pinOfCertificate } from '../../src/system/fetch/pin.ts';
import { type ClientAnswer, createHttpClient, type HttpClient } from '../../src/system/http-client.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { RSA_PAIR } from './certificate-pairs.ts';

const IDLE_MS = 30_000;
const OTHER_PIN = `sha256//${'A'.repeat(43)}=`;
const pin = pinOfCertificate(new X509Certificate(RSA_PAIR.chain));

async function start(context: TestContext, server: Server | TlsServer): Promise<number> {
  const port = await listenOnLoopback(server);
  context.after(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return port;
}

function open(context: TestContext, change: { pin?: string } = {}) {
  const clock = createFakeClock(0);
  const client = createHttpClient({ clock, dns: zoneDns('') }, { idleMs: IDLE_MS, ...change });
  context.after(() => client.close());
  return { clock, client };
}

const get = (client: HttpClient, url: string) => client.send({ method: 'GET', url, headers: {} });

async function read({ body }: ClientAnswer): Promise<string> {
  let text = '';
  for await (const part of body) text += Buffer.from(part).toString();
  return text;
}

test('bodies are streams in both directions, and private addresses are connected to', async (context) => {
  const echo: RequestListener = (request, response) => void request.pipe(response);
  const { client } = open(context);
  const url = `http://127.0.0.1:${await start(context, createServer(echo))}/x`;
  async function* parts() {
    for (const part of ['one ', 'two ', 'three']) yield Buffer.from(part);
  }
  const answer = await client.send({
    method: 'PUT',
    url,
    headers: { 'content-length': '13' },
    body: parts(),
  });
  assert.equal(answer.status, 200);
  assert.equal(await read(answer), 'one two three');
  const wrong = client.send({ method: 'PUT', url, headers: { 'content-length': '20' }, body: parts() });
  await assert.rejects(wrong, /length/i);
});

test('a server that does not go on is given up, whatever it waits for', async (context) => {
  const reached: string[] = [];
  const port = await start(
    context,
    createServer((request, response) => {
      reached.push(request.url ?? '');
      if (request.url === '/half') response.write('half');
    }),
  );
  const { client, clock } = open(context);
  const timeout = { name: 'TimeoutError', message: /30000 ms/ };
  const silent = assert.rejects(get(client, `http://127.0.0.1:${port}/silent`), timeout);
  await waitUntil(() => reached.includes('/silent'));
  await clock.advance(IDLE_MS);
  await silent;
  const half = await get(client, `http://127.0.0.1:${port}/half`);
  const reading = assert.rejects(read(half), timeout);
  await clock.advance(IDLE_MS);
  await reading;
  // A server that takes no bytes: the body is larger than the buffers between.
  async function* large() {
    for (let at = 0; at < 64; at++) yield Buffer.alloc(1024 * 1024);
  }
  const headers = { 'content-length': String(64 * 1024 * 1024) };
  const url = `http://127.0.0.1:${port}/full`;
  const upload = assert.rejects(client.send({ method: 'PUT', url, headers, body: large() }), timeout);
  await waitUntil(() => reached.includes('/full'));
  for (let moved = 0; moved < 3; moved++) await clock.advance(IDLE_MS);
  await upload;
});

test('the time that the caller takes for a part of an answer does not count', async (context) => {
  const port = await start(
    context,
    createServer((_request, response) => void response.end('whole')),
  );
  const { client, clock } = open(context);
  const { body } = await get(client, `http://127.0.0.1:${port}/`);
  let text = '';
  for await (const part of body) {
    await clock.advance(10 * IDLE_MS);
    text += Buffer.from(part).toString();
  }
  assert.equal(text, 'whole');
});

test('an answer that is cut off fails', async (context) => {
  const port = await start(
    context,
    createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    }),
  );
  const { client } = open(context);
  await assert.rejects(read(await get(client, `http://127.0.0.1:${port}/`)));
});

test('a pinned key is trusted whoever has signed it, on each connection, and no other key is', async (context) => {
  const listener: RequestListener = (_request, response) =>
    void response.end('fine', () => response.socket?.end());
  const server = createTlsServer({ cert: RSA_PAIR.chain, key: RSA_PAIR.key }, listener);
  const url = `https://127.0.0.1:${await start(context, server)}/`;
  const pinned = open(context, { pin }).client;
  for (let connection = 0; connection < 3; connection++)
    assert.equal(await read(await get(pinned, url)), 'fine');
  const other = open(context, { pin: OTHER_PIN }).client;
  await assert.rejects(get(other, url), {
    name: 'WrongPinError',
    message: new RegExp(`its pin is ${pin.replaceAll(/[+/]/g, '\\$&')}`),
  });
  await assert.rejects(get(open(context).client, url), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});
