import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createTargetGuard, RefusedTargetError } from '../../src/system/blocklist.ts';
import type { Dns, DnsAnswer } from '../../src/system/dns.ts';
import { BudgetExhaustedError, MAX_INFORMATIONAL_RESPONSES } from '../../src/system/fetch/answer.ts';
import { UnresolvedHostError } from '../../src/system/fetch/connection.ts';
import { createFetch, type HttpRequest } from '../../src/system/fetch.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { waitUntil } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';

type Receiver = { port: number; requests: number; connections: number; open: Set<Socket> };

/** On 127.0.0.1 and 127.0.0.2, with the same port, so that two targets can be told apart. */
async function receive(context: TestContext, answer: RequestListener): Promise<Receiver> {
  const receiver: Receiver = { port: 0, requests: 0, connections: 0, open: new Set() };
  for (const host of ['127.0.0.1', '127.0.0.2']) {
    const server = createServer((request, response) => {
      receiver.requests += 1;
      answer(request, response);
    });
    server.on('connection', (socket) => {
      receiver.connections += 1;
      receiver.open.add(socket);
      socket.on('close', () => receiver.open.delete(socket));
    });
    server.listen(receiver.port, host);
    await once(server, 'listening');
    receiver.port = (server.address() as AddressInfo).port;
    context.after(async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    });
  }
  return receiver;
}

/** Resolves when the sockets open now are closed, by a reset or in order. */
async function allClosed({ open }: Receiver): Promise<void> {
  await Promise.all([...open].map((socket) => new Promise((done) => socket.once('close', done))));
}

const OK: RequestListener = (_request, response) => void response.end('fine');
const LOOPBACK = ['127.0.0.0/8', '::1/128'];
type Names = Pick<Dns, 'a' | 'aaaa'>;
const open = (allow = LOOPBACK, dns: Names = zoneDns('')) =>
  createFetch(createTargetGuard({ allow, own: [] }), dns);

function post(url: string, change: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    url,
    headers: {},
    body: 'x',
    timeoutMs: 60_000,
    maxResponseBytes: 1_000,
    ...change,
  };
}

/** A name system with these answers, one after the other; the last stays. */
function names(...answers: string[][]): Names {
  const asked = { 4: 0, 6: 0 };
  const answer = async (family: 4 | 6): Promise<DnsAnswer<string>> => {
    const addresses = answers[Math.min(asked[family], answers.length - 1)] ?? [];
    asked[family] += 1;
    const records = addresses.filter((address) => address.includes(':') === (family === 6));
    return records.length > 0 ? { kind: 'found', records, ttlMs: 0 } : { kind: 'no-data', ttlMs: 0 };
  };
  return { a: () => answer(4), aaaa: () => answer(6) };
}

test('a request arrives as it was given, and its answer comes back', async (context) => {
  let seen = '';
  const { port } = await receive(context, async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const { 'x-one': one, 'accept-encoding': encoding } = request.headers;
    seen = [request.method, request.url, one, encoding, Buffer.concat(parts).toString()].join(' ');
    response.writeHead(202, { 'x-two': '2' }).end('thanks');
  });
  const url = `http://127.0.0.1:${port}/a?b=c`;
  const answer = await open()(post(url, { headers: { 'x-one': '1' }, body: 'bödy' }));
  assert.equal(seen, 'POST /a?b=c 1 identity bödy');
  assert.deepEqual([answer.status, answer.headers['x-two'], String(answer.body)], [202, '2', 'thanks']);
});

const SPELLINGS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '①②⑦.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '0.0.0.0',
  '[::]',
];

for (const host of SPELLINGS) {
  test(`http://${host}/ is refused without a connection, also when it would be reached`, async (context) => {
    const receiver = await receive(context, OK);
    const url = `http://${host}:${receiver.port}/`;
    await assert.rejects(open([])(post(url)), RefusedTargetError);
    await assert.rejects(open([])(post(url.replace('http', 'https'))), RefusedTargetError);
    assert.equal(receiver.connections, 0);
  });
}

test('other spellings of loopback addresses connect when loopback is allowed, so it is the guard that refuses them', async (context) => {
  const receiver = await receive(context, OK);
  const hosts = SPELLINGS.slice(0, 8);
  for (const host of hosts)
    assert.equal((await open()(post(`http://${host}:${receiver.port}/`))).status, 200, host);
  assert.equal(receiver.requests, hosts.length);
});

for (const [what, addresses] of [
  ['127.0.0.1', ['127.0.0.1']],
  ['::1', ['::1']],
  ['a mapped 127.0.0.1', ['::ffff:127.0.0.1']],
  ['several private addresses', ['10.0.0.1', '127.0.0.1', 'fd00::1']],
  ['the metadata service', ['169.254.169.254']],
  ['loopback behind NAT64', ['64:ff9b::7f00:1']],
  ['loopback behind 6to4', ['2002:7f00:1::1']],
  ['loopback behind Teredo', ['2001:0:7f00:1::1']],
] as const) {
  test(`a name that resolves to ${what} is refused`, async (context) => {
    const receiver = await receive(context, OK);
    const fetch = open([], names([...addresses]));
    await assert.rejects(fetch(post(`http://receiver.example:${receiver.port}/`)), RefusedTargetError);
    assert.equal(receiver.connections, 0);
  });
}

// 127.0.0.2 plays the public address: it is the only one the guard lets through.
const PUBLIC = ['127.0.0.2/32'];

test('only the public address of a mixed DNS answer is connected to', async (context) => {
  const reached: (string | undefined)[] = [];
  const { port } = await receive(context, (request, response) => {
    reached.push(request.socket.localAddress);
    response.end();
  });
  const fetch = open(PUBLIC, names(['127.0.0.1', '127.0.0.2', '10.0.0.1']));
  assert.equal((await fetch(post(`http://receiver.example:${port}/`))).status, 200);
  assert.deepEqual(reached, ['127.0.0.2']);
});

test('a name that is public at first and private later is refused at the next connection', async (context) => {
  const receiver = await receive(context, (_request, response) => {
    response.setHeader('connection', 'close');
    response.end();
  });
  const fetch = open(PUBLIC, names(['127.0.0.2'], ['127.0.0.1']));
  const url = `http://receiver.example:${receiver.port}/`;
  assert.equal((await fetch(post(url))).status, 200);
  await assert.rejects(fetch(post(url)), RefusedTargetError);
  assert.deepEqual([receiver.requests, receiver.connections], [1, 1]);
});

test('localhost and names in it are this machine, without DNS and only where the guard lets it be', async (context) => {
  const receiver = await receive(context, OK);
  const dns = zoneDns('localhost A 8.8.8.8\napp.localhost A 8.8.8.8');
  for (const host of ['localhost', 'LocalHost', 'localhost.', 'app.localhost']) {
    const url = `http://${host}:${receiver.port}/`;
    assert.equal((await open(LOOPBACK, dns)(post(url))).status, 200, host);
    await assert.rejects(open([], dns)(post(url)), RefusedTargetError, host);
  }
  assert.equal(receiver.requests, 4);
});

test('an unknown host can be told from one that cannot be looked up now, but not from an internal one', async () => {
  const dns = zoneDns(
    'empty.example TXT "x"\nhalf.example A 192.0.2.1\ninside.example A 10.0.0.1\nboth.example A 10.0.0.1\nboth.example AAAA fd00::1',
  );
  dns.fail('down.example', 'ESERVFAIL');
  const unresolved = 'UnresolvedHostError: down.example could not be looked up (ESERVFAIL)';
  for (const [host, text] of [
    ['nothing.example', 'RefusedTargetError: nothing.example has no public address'],
    ['empty.example', 'RefusedTargetError: empty.example has no public address'],
    ['inside.example', 'RefusedTargetError: inside.example has no public address'],
    ['both.example', 'RefusedTargetError: both.example has no public address'],
    ['localhost', 'RefusedTargetError: localhost has no public address'],
    ['10.0.0.1', 'RefusedTargetError: 10.0.0.1 has no public address'],
    ['[fd00::1]', 'RefusedTargetError: fd00::1 has no public address'],
    ['down.example', unresolved],
  ] as const) {
    for (const port of [80, 1]) {
      const error: unknown = await open([], dns)(post(`http://${host}:${port}/`)).catch((reason) => reason);
      assert.equal(String(error), text);
      assert.ok(error instanceof Error && error.cause === undefined);
      assert.ok(text !== unresolved || error instanceof UnresolvedHostError);
    }
  }
});

test('an internal name fails like one without addresses also while one address family cannot be looked up', async () => {
  const failing: Names['aaaa'] = async () => ({ kind: 'failed', reason: 'ESERVFAIL' });
  for (const addresses of [[], ['10.0.0.1']]) {
    const fetch = open([], { ...names(addresses), aaaa: failing });
    await assert.rejects(fetch(post('http://a.example/')), UnresolvedHostError, String(addresses));
  }
});

test('one family that cannot be looked up leaves the other', async (context) => {
  const { port } = await receive(context, OK);
  const dns: Names = { ...names(['127.0.0.1']), aaaa: async () => ({ kind: 'failed', reason: 'ETIMEOUT' }) };
  assert.equal((await open(LOOPBACK, dns)(post(`http://receiver.example:${port}/`))).status, 200);
});

test('a redirect is an answer and is not followed', async (context) => {
  const receiver = await receive(context, (_request, response) => {
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  const answer = await open()(post(`http://127.0.0.1:${receiver.port}/`));
  assert.deepEqual([answer.status, receiver.requests], [307, 1]);
});

test('a connection is used again once its answer was read to the end', async (context) => {
  const receiver = await receive(context, OK);
  const fetch = open();
  for (let count = 0; count < 3; count += 1) {
    await fetch(post(`http://127.0.0.1:${receiver.port}/`));
    await new Promise((done) => setImmediate(done));
  }
  assert.deepEqual([receiver.requests, receiver.connections], [3, 1]);
});

test('an answer larger than the limit is cut there, and its connection is closed', async (context) => {
  const receiver = await receive(context, (_request, response) => {
    response.writeHead(200);
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  });
  const fetch = open();
  for (const size of [1, 1_000, 70_000]) {
    const answer = await fetch(post(`http://127.0.0.1:${receiver.port}/`, { maxResponseBytes: size }));
    assert.deepEqual([answer.status, answer.body.length, answer.truncated], [200, size, true]);
  }
  await allClosed(receiver);
  assert.deepEqual([receiver.connections, receiver.open.size], [3, 0]);
});

test('an answer as large as the limit is whole', async (context) => {
  const { port } = await receive(context, (_request, response) => void response.end('x'.repeat(70_000)));
  for (const [limit, length, truncated] of [
    [69_999, 69_999, true],
    [70_000, 70_000, false],
    [70_001, 70_000, false],
  ] as const) {
    const answer = await open()(post(`http://127.0.0.1:${port}/`, { maxResponseBytes: limit }));
    assert.deepEqual([answer.body.length, answer.truncated], [length, truncated]);
  }
});

/** Returns the sizes that a body of `length` bytes reserves, and whether it occupies as much memory. */
async function roomAsked(port: number, path: string, maxResponseBytes = 1_000_000) {
  const asked: number[] = [];
  const reserveBytes = (bytes: number) => asked.push(bytes) > 0;
  const { body } = await open()(post(`http://127.0.0.1:${port}${path}`, { maxResponseBytes, reserveBytes }));
  const sum = asked.reduce((total, bytes) => total + bytes, 0);
  assert.equal(body.buffer.byteLength, sum, 'what is held is what was asked for');
  return { asked, body };
}

test('an answer that says its length is held in one piece of that length', async (context) => {
  const bytes = Buffer.alloc(300_000, 'Postrider');
  const { port } = await receive(context, (_request, response) => void response.end(bytes));
  const { asked, body } = await roomAsked(port, '/');
  assert.deepEqual(asked, [300_000]);
  assert.ok(body.equals(bytes));
  assert.deepEqual((await roomAsked(port, '/', 100_000)).asked, [100_000], 'nor is more held than is wanted');
});

test('an answer without a length is held in a buffer that doubles, up to the limit', async (context) => {
  const bytes = Buffer.alloc(300_000, 'Postrider');
  const { port } = await receive(context, (_request, response) => {
    for (let at = 0; at < bytes.length; at += 10_000) response.write(bytes.subarray(at, at + 10_000));
    response.end();
  });
  const { asked, body } = await roomAsked(port, '/');
  assert.ok(body.equals(bytes));
  assert.deepEqual(asked, [65_536, 65_536, 131_072, 262_144]);
  assert.deepEqual((await roomAsked(port, '/', 200_000)).asked, [65_536, 65_536, 200_000 - 131_072]);
});

test('a response without a body reserves no memory, and neither does one whose body has not begun', async (context) => {
  const { port } = await receive(context, (request, response) => {
    if (request.url === '/empty') response.end();
    else response.writeHead(200, { 'content-length': 900_000 }).flushHeaders();
  });
  assert.deepEqual((await roomAsked(port, '/empty')).asked, []);
  let asked = 0;
  const reserveBytes = () => asked++ >= 0;
  const url = `http://127.0.0.1:${port}/silent`;
  await assert.rejects(open()(post(url, { timeoutMs: 200, reserveBytes })), { name: 'TimeoutError' });
  assert.equal(asked, 0);
});

test('a response for which no memory can be reserved is aborted, and its connection closed', async (context) => {
  const receiver = await receive(context, (_request, response) => {
    const pour = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  });
  let left = 200_000;
  const reserveBytes = (bytes: number) => {
    left -= bytes;
    return left >= 0;
  };
  const request = post(`http://127.0.0.1:${receiver.port}/`, { maxResponseBytes: 1_000_000, reserveBytes });
  await assert.rejects(open()(request), BudgetExhaustedError);
  await allClosed(receiver);
  assert.equal(receiver.open.size, 0);
});

test('an answer that pauses at the limit and goes on is cut', async (context) => {
  const { port } = await receive(context, (_request, response) => {
    response.write('x'.repeat(1_000));
    setTimeout(() => response.end('y'), 20);
  });
  const answer = await open()(post(`http://127.0.0.1:${port}/`));
  assert.deepEqual([String(answer.body), answer.truncated], ['x'.repeat(1_000), true]);
});

test('a receiver that never answers, or answers very slowly, is abandoned when the time limit has passed', async (context) => {
  const receiver = await receive(context, (request, response) => {
    if (request.url === '/silent') return;
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  });
  const fetch = open();
  for (const path of ['/silent', '/drip']) {
    const began = performance.now();
    const url = `http://127.0.0.1:${receiver.port}${path}`;
    await assert.rejects(fetch(post(url, { timeoutMs: 200 })), { name: 'TimeoutError' });
    const tookMs = performance.now() - began;
    assert.ok(tookMs >= 150 && tookMs < 20_000, `${path} took ${tookMs} ms`);
  }
  await allClosed(receiver);
  assert.equal(receiver.open.size, 0);
});

test('no HTTP at all, endless header lines and a broken connection are errors', async (context) => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (data) => {
      const path = /^POST (\S+)/.exec(String(data))?.[1];
      if (path === '/junk') socket.end('220 mail.example ESMTP\r\n');
      else if (path === '/headers')
        socket.end(`HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`);
      else if (path === '/short') socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfive');
      else socket.destroy();
    });
  });
  context.after(() => server.close());
  const port = await listenOnLoopback(server);
  for (const path of ['/junk', '/headers', '/short', '/reset']) {
    await assert.rejects(open()(post(`http://127.0.0.1:${port}${path}`)), Error, path);
  }
});

/**
 * Starts a server that answers the first bytes of each connection with `head`, and then with `more` for as long as it
 * is read.
 */
async function flood(context: TestContext, head: string, more: string) {
  const seen = { writtenBytes: 0, open: new Set<Socket>(), port: 0 };
  const server = createTcpServer((socket) => {
    seen.open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => seen.open.delete(socket));
    socket.once('data', () => {
      socket.write(head);
      const pour = () => {
        while (!socket.destroyed) {
          seen.writtenBytes += more.length;
          if (!socket.write(more)) return void socket.once('drain', pour);
        }
      };
      pour();
    });
  });
  context.after(() => {
    for (const socket of seen.open) socket.destroy();
    server.close();
  });
  seen.port = await listenOnLoopback(server);
  return seen;
}

const OK_HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK_HEAD}transfer-encoding: chunked\r\n\r\n`;
const INFORMATIONAL = /more than 5 informational responses/;
const FLOODS: [what: string, head: string, more: string, error: RegExp, mostBytes: number][] = [
  ['102 Processing', '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500), INFORMATIONAL, 20e6],
  ['103 Early Hints', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', INFORMATIONAL, 20e6],
  ['headers', OK_HEAD, `x: ${'y'.repeat(4_000)}\r\n`, /Headers Overflow/, 20e6],
  ['headers of one letter', OK_HEAD, 'x: y\r\n'.repeat(1_000), /Headers Overflow/, 20e6],
  ['trailers', `${CHUNKED}0\r\n`, `x: ${'y'.repeat(4_000)}\r\n`, /Headers Overflow/, 20e6],
  ['chunk extensions', `${CHUNKED}1`, `;x=${'y'.repeat(50_000)}`, /sent more than 67108864 bytes/, 120e6],
  ['tiny chunks', CHUNKED, '1\r\nx\r\n'.repeat(5_000), /more than 100000 pieces/, 20e6],
];
for (const [what, head, more, error, mostBytes] of FLOODS) {
  test(`an answer of endless ${what} is broken off long before its time is up`, async (context) => {
    const server = await flood(context, head, more);
    const limits = { maxResponseBytes: 25 * 1024 * 1024, timeoutMs: 600_000 };
    await assert.rejects(open()(post(`http://127.0.0.1:${server.port}/`, limits)), error);
    await allClosed({ ...server, requests: 0, connections: 0 });
    assert.ok(server.writtenBytes < mostBytes, `${server.writtenBytes} bytes were taken`);
  });
}

test('a few informational responses come before an answer, on every request of a connection', async (context) => {
  const receiver = await receive(context, (_request, response) => {
    for (let count = 0; count < MAX_INFORMATIONAL_RESPONSES; count++) response.writeProcessing();
    response.end('fine');
  });
  const fetch = open();
  for (let count = 0; count < 3; count++) {
    const { status, body } = await fetch(post(`http://127.0.0.1:${receiver.port}/`));
    assert.deepEqual([status, String(body)], [200, 'fine']);
    await new Promise((done) => setImmediate(done));
  }
  assert.equal(receiver.connections, 1);
});

test('a request never waits for the connections of others to the same host', async (context) => {
  const receiver = await receive(context, (request, response) => {
    if (request.url === '/honest') response.end('fine');
  });
  const fetch = open();
  const hanging = Array.from({ length: 100 }, () =>
    fetch(post(`http://127.0.0.1:${receiver.port}/hangs`, { timeoutMs: 600_000 })).catch(() => {}),
  );
  const { status } = await fetch(post(`http://127.0.0.1:${receiver.port}/honest`, { timeoutMs: 600_000 }));
  assert.equal(status, 200);
  for (const socket of receiver.open) socket.destroy();
  await Promise.all(hanging);
});

test('a connection is not kept while more than 128 are open', async (context) => {
  const gate = Promise.withResolvers<void>();
  const receiver = await receive(context, async (_request, response) => {
    await gate.promise;
    response.end();
  });
  const fetch = open();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const posts = Array.from({ length: 150 }, () => fetch(post(url, { timeoutMs: 600_000 })));
  await waitUntil(() => receiver.requests === 150);
  gate.resolve();
  await Promise.all(posts);
  await waitUntil(() => receiver.open.size <= 128);
  assert.equal(receiver.open.size, 128);
});
