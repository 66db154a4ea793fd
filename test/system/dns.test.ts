import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { createDns, type Dns, isHostName } from '../../src/system/dns.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';

let server: DnsServer;
let dns: Dns;
before(async () => {
  server = await startDnsServer(`
    a.example       A     192.0.2.1
    a.example       A     192.0.2.2
    a.example       AAAA  2001:db8::1
    a.example       MX    10 mx1.a.example
    a.example       MX    20 mx2.a.example
    a.example       TXT   "v=spf1 -all"
    a.example       TXT   "${'x'.repeat(300)}"
    null.example    MX    0 .
    alias.example   CNAME a.example
    lost.example    CNAME nowhere.example
    only.example    TXT   "just text"
  `);
  dns = createDns([server.address]);
});
after(() => server.close());

test('records are found by type, each TXT record in one piece', async () => {
  const sorted = <T>(answer: { kind: string; records?: T[] }) => answer.records?.toSorted();
  assert.deepEqual(sorted(await dns.a('a.example')), ['192.0.2.1', '192.0.2.2']);
  assert.deepEqual(await dns.aaaa('a.example'), { kind: 'found', records: ['2001:db8::1'] });
  assert.deepEqual(sorted(await dns.txt('a.example')), ['v=spf1 -all', 'x'.repeat(300)]);
  assert.deepEqual(await dns.cname('alias.example'), { kind: 'found', records: ['a.example'] });
  const mx = await dns.mx('a.example');
  assert.ok(mx.kind === 'found');
  assert.deepEqual(
    mx.records.toSorted((one, other) => one.preference - other.preference),
    [
      { exchange: 'mx1.a.example', preference: 10 },
      { exchange: 'mx2.a.example', preference: 20 },
    ],
  );
});

test('a null MX is a record with no exchange', async () => {
  assert.deepEqual(await dns.mx('null.example'), {
    kind: 'found',
    records: [{ exchange: '', preference: 0 }],
  });
});

test('aliases are followed, and a name is the same in any case and with its final dot', async () => {
  assert.deepEqual(await dns.aaaa('alias.example'), { kind: 'found', records: ['2001:db8::1'] });
  assert.deepEqual(await dns.aaaa('A.Example.'), { kind: 'found', records: ['2001:db8::1'] });
});

test('a name without such records is not a name that does not exist', async () => {
  assert.deepEqual(await dns.mx('only.example'), { kind: 'no-data' });
  assert.deepEqual(await dns.a('only.example'), { kind: 'no-data' });
  assert.deepEqual(await dns.mx('nothing.example'), { kind: 'no-name' });
  assert.deepEqual(await dns.txt('nothing.example'), { kind: 'no-name' });
});

test('an alias of a name that does not exist finds nothing', async () => {
  const { kind } = await dns.a('lost.example');
  assert.ok(kind === 'no-name' || kind === 'no-data', kind);
});

test('a name that is none never reaches a resolver', async () => {
  let questions = 0;
  const socket = createSocket('udp4').on('message', () => questions++);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const asking = createDns([`127.0.0.1:${socket.address().port}`]);
  for (const name of [
    '',
    '.',
    'a..b',
    'a.example\0.evil',
    'a b.example',
    '-a.example',
    'ä.example',
    '[127.0.0.1]',
    'x'.repeat(64),
    `${'a.'.repeat(127)}a`,
  ]) {
    assert.equal(isHostName(name), false, JSON.stringify(name));
    assert.deepEqual(await asking.a(name), { kind: 'failed', reason: 'not a host name' });
  }
  assert.equal(questions, 0);
  socket.close();
});

test('names of hosts and of services are names', () => {
  for (const name of [
    'a',
    'a.example',
    'a.example.',
    '_dmarc.a.example',
    's1._domainkey.a.example',
    'xn--4ca.example',
    `${'x'.repeat(63)}.example`,
  ]) {
    assert.equal(isHostName(name), true, name);
  }
});

/** Answers every question with this code and nothing else (RFC 1035 4.1.1). */
async function startUnwellServer(responseCode: number) {
  const socket = createSocket('udp4');
  socket.on('message', (query, peer) => {
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8180 | responseCode, 2);
    socket.send(answer, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

for (const [name, code] of [
  ['SERVFAIL', 2],
  ['REFUSED', 5],
  ['FORMERR', 1],
  ['NOTIMP', 4],
] as const) {
  test(`${name} is a failure of the resolver and no verdict on the name`, async (t) => {
    const unwell = await startUnwellServer(code);
    t.after(unwell.close);
    const answer = await createDns([unwell.address]).mx('a.example');
    assert.equal(answer.kind, 'failed');
  });
}

test('a resolver that is not there is a failure', async () => {
  const gone = await startUnwellServer(0);
  gone.close();
  const answer = await createDns([gone.address]).a('a.example');
  assert.equal(answer.kind, 'failed');
});
