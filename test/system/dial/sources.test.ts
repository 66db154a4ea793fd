import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readProxyHeader } from '../../../src/mail/smtp/server/proxy.ts';
import { createTargetGuard, RefusedTargetError } from '../../../src/system/blocklist.ts';
import { proxyHeader } from '../../../src/system/dial/proxy-header.ts';
import type { DialSource } from '../../../src/system/dial/source.ts';
import { SourceError } from '../../../src/system/dial/source-failure.ts';
import { createDial } from '../../../src/system/dial.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { dialLoopback, LOOPBACK_GUARD, listenOnLoopback } from '../../support/loopback.ts';
import { type SocksScript, SUCCESS, startSocksServer } from '../../support/socks-server.ts';

const HOST = { address: '127.0.0.1', timeoutMs: 30_000 };
const unusable = { name: 'SourceError', fault: 'unusable' } as const;
const refused = { name: 'SourceError', fault: 'refused' } as const;

/** Starts a host that greets, and returns its port and its connections. */
async function startHost(t: TestContext): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    socket.write('220 ready\r\n');
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: await listenOnLoopback(server), sockets };
}

async function greetingOf(socket: Socket): Promise<string> {
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return data.toString();
}

function socks(port: number, login: Extract<DialSource, { kind: 'socks5' }>['login'] = null): DialSource {
  return { kind: 'socks5', proxy: { address: '127.0.0.1', port }, login };
}

async function dialBySocks(t: TestContext, script: SocksScript, port = 25): Promise<Socket> {
  const server = await startSocksServer(t, script);
  return dialLoopback({ ...HOST, port, source: socks(server.port) });
}

test('a connection leaves from the chosen address of this machine', async (t) => {
  const { port, sockets } = await startHost(t);
  const source = { kind: 'address', address: '127.0.0.9' } as const;
  const socket = await dialLoopback({ ...HOST, port, source });
  assert.equal(await greetingOf(socket), '220 ready\r\n');
  assert.equal(sockets[0]?.remoteAddress, '127.0.0.9');
});

test('an address that this machine does not have, or of the other family, is a fault of the source', async (t) => {
  const { port } = await startHost(t);
  const from = (address: string) => dialLoopback({ ...HOST, port, source: { kind: 'address', address } });
  await assert.rejects(from('192.0.2.1'), unusable);
  await assert.rejects(from('::1'), refused);
  const closed = { kind: 'address', address: '127.0.0.9' } as const;
  await assert.rejects(dialLoopback({ ...HOST, port: 1, source: closed }), { code: 'ECONNREFUSED' });
});

test('a SOCKS server is given the address of the host, and what the host says at once is read', async (t) => {
  const { port } = await startHost(t);
  const server = await startSocksServer(t);
  const socket = await dialLoopback({ ...HOST, port, source: socks(server.port) });
  assert.equal(await greetingOf(socket), '220 ready\r\n');
  const expected = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, port >> 8, port & 255]);
  assert.deepEqual(server.heard, [Buffer.from([5, 1, 0]), expected]);
});

test('octets of the host that arrive with the reply of the SOCKS server are not lost', async (t) => {
  const socket = await dialBySocks(t, { reply: Buffer.concat([SUCCESS, Buffer.from('220 early\r\n')]) });
  assert.equal(await greetingOf(socket), '220 early\r\n');
});

test('a reply of the SOCKS server may name it by an IPv6 address or a name', async (t) => {
  for (const bound of [
    Buffer.from([5, 0, 0, 4, ...Array(18).fill(1)]),
    Buffer.from('\x05\0\0\x03\x02ab\0\x50'),
  ])
    assert.equal(
      await greetingOf(await dialBySocks(t, { reply: Buffer.concat([bound, Buffer.from('220 x\r\n')]) })),
      '220 x\r\n',
    );
});

test('a host of IPv6 is named by its 16 octets', async (t) => {
  const dial = createDial(createTargetGuard({ allow: ['2001:db8::/32'], own: [] }), createFakeClock(0));
  const server = await startSocksServer(t, { reply: SUCCESS });
  const socket = await dial({ ...HOST, address: '2001:db8::25', port: 25, source: socks(server.port) });
  socket.destroy();
  assert.equal(server.heard[1]?.toString('hex'), '0501000420010db80000000000000000000000250019');
});

test('the login of a SOCKS server is sent by RFC 1929 alone, and a refused one is a fault of the source', async (t) => {
  const login = { user: 'me', password: 'Grüße' };
  const server = await startSocksServer(t, { reply: SUCCESS });
  (await dialLoopback({ ...HOST, port: 25, source: socks(server.port, login) })).destroy();
  assert.deepEqual(server.heard.slice(0, 2), [
    Buffer.from([5, 1, 2]),
    Buffer.concat([Buffer.from('\x01\x02me\x07'), Buffer.from('Grüße')]),
  ]);
  const strict = await startSocksServer(t, { login: Buffer.from([1, 1]) });
  await assert.rejects(dialLoopback({ ...HOST, port: 25, source: socks(strict.port, login) }), {
    ...unusable,
    message: 'the SOCKS server refused the login',
  });
});

test('what a SOCKS server says of the host is an error of the host, and any other refusal is one of the source', async (t) => {
  const saying = (code: number) => dialBySocks(t, { reply: Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]) });
  for (const [code, error] of [
    [3, 'ENETUNREACH'],
    [4, 'EHOSTUNREACH'],
    [5, 'ECONNREFUSED'],
    [6, 'ETIMEDOUT'],
  ] as const)
    await assert.rejects(saying(code), { code: error });
  for (const code of [1, 2, 7, 8, 9, 255]) await assert.rejects(saying(code), refused);
});

test('a SOCKS server that sends garbage, too much or too little is a fault of the source', async (t) => {
  const faults: [SocksScript, typeof unusable | typeof refused][] = [
    [{ method: Buffer.from('HTTP/1.1 400 Bad Request\r\n') }, unusable],
    [{ method: Buffer.from([4, 0]) }, unusable],
    [{ method: Buffer.from([5, 255]) }, unusable],
    [{ method: Buffer.from([5, 2]) }, unusable],
    // It answers a request that it has not heard yet, for a host of its own choice.
    [{ method: Buffer.concat([Buffer.from([5, 0]), SUCCESS]) }, unusable],
    [{ reply: Buffer.from('220 mx.example.com ESMTP\r\n') }, unusable],
    [{ reply: Buffer.from([5, 0, 1, 1, 0, 0, 0, 0, 0, 0]) }, unusable],
    [{ reply: Buffer.from([5, 0, 0, 9, 0, 0, 0, 0, 0, 0]) }, unusable],
    [{ reply: 'drop' }, refused],
  ];
  for (const [script, fault] of faults) await assert.rejects(dialBySocks(t, script), fault);
  await assert.rejects(dialBySocks(t, { method: Buffer.from([5]), endsEarly: true }), {
    ...unusable,
    message: 'the SOCKS server did not answer: the connection was closed',
  });
});

test('a SOCKS server that waits in vain for a host says nothing about the source, unlike one that does not answer itself', async (t) => {
  const clock = createFakeClock(0);
  const dial = createDial(LOOPBACK_GUARD, clock);
  const timeout = { name: 'TimeoutError', message: 'connect took longer than 30000 ms' };
  for (const [script, messages, failure] of [
    [{ reply: 'hang' }, 2, timeout],
    [{ method: Buffer.from([5]) }, 1, { ...unusable, message: /connect took longer than 30000 ms/ }],
  ] as const) {
    const server = await startSocksServer(t, script);
    const dialling = dial({ ...HOST, port: 25, source: socks(server.port) });
    const failing = assert.rejects(dialling, failure);
    while (server.heard.length < messages) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(30_000);
    await failing;
  }
});

test('a proxy that is down is a fault of the source, and its address is not told to senders', async () => {
  const proxy = { address: '127.0.0.1', port: 1 };
  for (const source of [
    { kind: 'socks5', proxy, login: null },
    { kind: 'proxy-protocol', proxy, address: '192.0.2.1' },
  ] as const)
    await assert.rejects(dialLoopback({ ...HOST, port: 25, source }), {
      ...unusable,
      message: 'the proxy cannot be reached (ECONNREFUSED)',
    });
});

test('the guard judges the host and not the proxy, and a proxy is named by its address', async (t) => {
  const dial = createDial(createTargetGuard({ allow: [], own: [] }), createFakeClock(0));
  const server = await startSocksServer(t, { reply: SUCCESS });
  const proxied = { ...HOST, port: 25, source: socks(server.port) };
  await assert.rejects(dial({ ...proxied, address: '10.0.0.1' }), RefusedTargetError);
  await assert.rejects(dial(proxied), RefusedTargetError);
  await assert.rejects(dial({ ...proxied, address: 'mx.example.com' }), RefusedTargetError);
  assert.equal(server.heard.length, 0);
  (await dial({ ...proxied, address: '198.41.0.4' })).destroy();
  const named: DialSource = {
    kind: 'socks5',
    proxy: { address: 'localhost', port: server.port },
    login: null,
  };
  await assert.rejects(dial({ ...proxied, address: '198.41.0.4', source: named }), RefusedTargetError);
});

test('a signal ends a connection while a SOCKS server makes it', async (t) => {
  const server = await startSocksServer(t, { reply: 'hang' });
  const stop = new AbortController();
  const dialling = dialLoopback({ ...HOST, port: 25, source: socks(server.port), signal: stop.signal });
  const failing = assert.rejects(dialling, { name: 'AbortError' });
  while (server.heard.length < 2) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await failing;
});

test('the header of the PROXY protocol names the address to connect from and the host, before anything else is sent', async (t) => {
  const { port, sockets } = await startHost(t);
  const source = {
    kind: 'proxy-protocol',
    proxy: { address: '127.0.0.1', port },
    address: '192.0.2.7',
  } as const;
  const socket = await dialLoopback({ ...HOST, address: '127.0.0.5', port: 25, source });
  socket.write('EHLO');
  await greetingOf(socket).catch(() => {});
  const [said] = (await once(sockets[0] as Socket, 'data')) as [Buffer];
  assert.deepEqual(readProxyHeader(said), {
    kind: 'complete',
    sizeBytes: 28,
    addresses: { address: '192.0.2.7', port: 0, localAddress: '127.0.0.5', localPort: 25 },
  });
});

test('the header carries IPv6, and refuses addresses of two families', () => {
  const header = readProxyHeader(proxyHeader('2001:db8::7', { address: '2001:db8::25', port: 587 }));
  assert.deepEqual(header, {
    kind: 'complete',
    sizeBytes: 52,
    addresses: { address: '2001:db8::7', port: 0, localAddress: '2001:db8::25', localPort: 587 },
  });
  assert.throws(() => proxyHeader('192.0.2.7', { address: '2001:db8::25', port: 25 }), SourceError);
});
