import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { readProxyHeader } from '../../../../src/mail/smtp/server/proxy.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { createClient, STARTTLS, startServer } from './fixture.ts';

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');

function version2(command: number, family: number, block: readonly number[]): Buffer {
  return Buffer.concat([
    SIGNATURE,
    Buffer.from([command, family, block.length >> 8, block.length & 0xff, ...block]),
  ]);
}

const V4 = [192, 0, 2, 1, 198, 51, 100, 2, 0x12, 0x34, 0, 25];
const V6 = [
  0x20,
  1,
  0xd,
  0xb8,
  ...Array(11).fill(0),
  1,
  0x20,
  1,
  0xd,
  0xb8,
  ...Array(11).fill(0),
  2,
  0x12,
  0x34,
  0,
  25,
];
const IPV4 = { address: '192.0.2.1', port: 0x1234, localAddress: '198.51.100.2', localPort: 25 };

const HEADERS: readonly [string, Buffer | string, object | undefined | 'malformed'][] = [
  ['TCP4', 'PROXY TCP4 192.0.2.1 198.51.100.2 4660 25\r\n', IPV4],
  [
    'TCP6',
    'PROXY TCP6 2001:db8::1 2001:db8::2 4660 25\r\n',
    { ...IPV4, address: '2001:db8::1', localAddress: '2001:db8::2' },
  ],
  ['an IPv4 address in IPv6 form', 'PROXY TCP6 ::ffff:192.0.2.1 ::ffff:198.51.100.2 4660 25\r\n', IPV4],
  ['UNKNOWN', 'PROXY UNKNOWN\r\n', undefined],
  ['UNKNOWN with addresses', 'PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n', undefined],
  ['version 2 with IPv4', version2(0x21, 0x11, V4), IPV4],
  [
    'version 2 with IPv6',
    version2(0x21, 0x21, V6),
    { ...IPV4, address: '2001:db8::1', localAddress: '2001:db8::2' },
  ],
  ['version 2 with extensions', version2(0x21, 0x11, [...V4, 4, 0, 1, 0]), IPV4],
  ['version 2 of the proxy itself', version2(0x20, 0, []), undefined],
  ['version 2 over UDP', version2(0x21, 0x12, V4), undefined],
  ['an address of the other family', 'PROXY TCP4 ::1 ::2 1 2\r\n', 'malformed'],
  ['a name', 'PROXY TCP4 a.example b.example 1 2\r\n', 'malformed'],
  ['a short address', 'PROXY TCP4 127.1 127.2 1 2\r\n', 'malformed'],
  ['a port out of range', 'PROXY TCP4 192.0.2.1 192.0.2.2 65536 25\r\n', 'malformed'],
  ['two spaces', 'PROXY TCP4  192.0.2.1 192.0.2.2 1 25\r\n', 'malformed'],
  ['a line without end', `PROXY UNKNOWN ${'x'.repeat(100)}`, 'malformed'],
  ['a bare LF', 'PROXY TCP4 192.0.2.1 192.0.2.2 1 25\n\r\n', 'malformed'],
  ['version 2 without room for its addresses', version2(0x21, 0x11, [1, 2, 3]), 'malformed'],
  ['version 2 of another version', version2(0x31, 0x11, V4), 'malformed'],
  ['version 2 with an unknown command', version2(0x22, 0x11, V4), 'malformed'],
  [
    'version 2 that announces much',
    Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0xff, 0xff])]),
    'malformed',
  ],
  ['SMTP', 'EHLO client.example\r\n', 'malformed'],
];

for (const [name, header, expected] of HEADERS) {
  test(`a header of a proxy is read in any pieces: ${name}`, () => {
    const bytes = Buffer.from(header);
    const result = readProxyHeader(
      Buffer.concat([bytes, Buffer.from(expected === 'malformed' ? '' : 'EHLO')]),
    );
    if (expected === 'malformed') assert.equal(result.kind, 'malformed');
    else assert.deepEqual(result, { kind: 'complete', sizeBytes: bytes.length, addresses: expected });
    for (let length = 0; length < bytes.length; length++) {
      const { kind } = readProxyHeader(bytes.subarray(0, length));
      assert.ok(
        kind === 'incomplete' || (expected === 'malformed' && kind === 'malformed'),
        `${kind} after ${length}`,
      );
    }
  });
}

const isProxy = (address: string): boolean => address === '127.0.0.9';

test('only a configured proxy may name its client, to whom the limits then apply', async (t) => {
  const { dial, sessions } = await startServer(t, {
    isProxy,
    limits: { connectionsPerAddress: 1, connectionsPerMinute: 3 },
  });
  const proxied = (from: string) => {
    const client = dial('127.0.0.9');
    client.send(`PROXY TCP4 ${from} 198.51.100.2 4660 25\r\n`);
    return client;
  };
  const first = proxied('192.0.2.1');
  assert.match(await first.reply(), /^220/);
  assert.match(await proxied('192.0.2.2').reply(), /^220/);
  assert.match(await proxied('192.0.2.1').reply(), /^421 4\.7\.0 Your address has too many connections/);
  await first.ask('EHLO client.example\r\n');
  first.send('MAIL FROM:<>\r\nRCPT TO:<b@test.example>\r\nBDAT 1 LAST\r\nx');
  for (let replies = 0; replies < 3; replies++) assert.match(await first.reply(), /^250/);
  const { client } = sessions.messages[0] ?? {};
  assert.deepEqual(client && { ...IPV4, ...client }, { ...client, ...IPV4 });
  await first.ask('QUIT\r\n');
  await first.reply();
  first.socket.destroy();
  while (sessions.openSessions() > 1) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.match(await proxied('192.0.2.1').reply(), /^220/);
  assert.match(await proxied('192.0.2.1').reply(), /^421 4\.7\.0 Your address has too many new connections/);

  // For everybody else the header is a command before the banner, or an unknown one after it.
  const stranger = dial();
  assert.match(await stranger.reply(), /^220/);
  assert.match(await stranger.ask('PROXY TCP4 192.0.2.1 198.51.100.2 4660 25\r\n'), /^500/);
});

test('the clients of a proxy are ended by their own networks, not by that of the proxy', async (t) => {
  const { dial } = await startServer(t, { isProxy, limits: { connections: 4 } });
  const proxied = async (from: string) => {
    const client = dial('127.0.0.9');
    client.send(`PROXY TCP4 ${from} 198.51.100.2 4660 25\r\n`);
    assert.match(await client.reply(), /^220/);
    return client;
  };
  const lone = await proxied('198.51.100.9');
  const crowd = [await proxied('192.0.2.1'), await proxied('192.0.2.2'), await proxied('192.0.2.3')];
  await proxied('203.0.113.1');
  assert.deepEqual(await crowd[0]?.rest(), ['421', 'closed']);
  assert.match(await lone.ask('NOOP\r\n'), /^250/);
});

test('a proxy must send its header, and in time', async (t) => {
  const clock = createFakeClock(0);
  const { dial, sessions, metrics } = await startServer(t, { isProxy, clock });
  const client = dial('127.0.0.9');
  client.send('EHLO client.example\r\n');
  assert.equal(await client.reply(), 'closed');
  const silent = dial('127.0.0.9');
  silent.send('PRO');
  while (sessions.openSessions() < 1) await new Promise((resolve) => setTimeout(resolve, 1));
  await clock.advance(4_999);
  silent.send('XY');
  await clock.advance(1);
  assert.match(await silent.reply(), /^421 4\.4\.2|closed/);
  assert.equal(sessions.calls.connect, 0);
  assert.match(await metrics(), /smtp_refusals_total\{listener="smtp",reason="proxy_header"\} 1/);
});

test('a client that talks before the banner is refused behind a proxy too', async (t) => {
  const { dial } = await startServer(t, { isProxy });
  const client = dial('127.0.0.9');
  client.send('PROXY TCP4 192.0.2.1 198.51.100.2 4660 25\r\nEHLO client.example\r\n');
  assert.deepEqual(await client.rest(), ['554', 'closed']);
});

test('the header of a proxy comes before TLS', async (t) => {
  const { dial } = await startServer(t, { isProxy, tls: { ...STARTTLS, mode: 'immediate' } });
  const { socket } = dial('127.0.0.9');
  socket.removeAllListeners('data').removeAllListeners('end');
  socket.write('PROXY TCP4 192.0.2.1 198.51.100.2 4660 25\r\n');
  const secure = connectTls({ socket, rejectUnauthorized: false });
  assert.match(await createClient(secure).reply(), /^220/);
  secure.destroy();
});
