import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realClock } from '../../src/system/clock.ts';
import { createDns, type Dns, isDnsName, isHostName } from '../../src/system/dns.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { record, respond, startScriptedServer } from './dns/scripted-server.ts';

const TTL = { ttlMs: 60_000 };
const dnsFrom = (...servers: string[]) => createDns({ clock: realClock, servers });

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
    1.2.0.192.in-addr.arpa PTR Host.a.example
  `);
  dns = dnsFrom(server.address);
});
after(() => server.close());

/** How long an answer holds depends on the moment; it is looked at elsewhere (dns/cache.test.ts). */
function lasting<T extends object>(answer: T): object {
  return 'ttlMs' in answer ? { ...answer, ...TTL } : answer;
}

test('records are found by type, each TXT record in one piece', async () => {
  const sorted = <T>(answer: { kind: string; records?: T[] }) => answer.records?.toSorted();
  assert.deepEqual(sorted(await dns.a('a.example')), ['192.0.2.1', '192.0.2.2']);
  assert.deepEqual(lasting(await dns.aaaa('a.example')), { kind: 'found', records: ['2001:db8::1'], ...TTL });
  assert.deepEqual(sorted(await dns.txt('a.example')), ['v=spf1 -all', 'x'.repeat(300)]);
  assert.deepEqual(lasting(await dns.cname('alias.example')), {
    kind: 'found',
    records: ['a.example'],
    ...TTL,
  });
  assert.deepEqual(lasting(await dns.ptr('1.2.0.192.in-addr.arpa')), {
    kind: 'found',
    records: ['host.a.example'],
    ...TTL,
  });
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
  assert.deepEqual(lasting(await dns.mx('null.example')), {
    kind: 'found',
    records: [{ exchange: '', preference: 0 }],
    ...TTL,
  });
});

test('aliases are followed, and a name is the same in any case and with its final dot', async () => {
  const found = { kind: 'found', records: ['2001:db8::1'], ...TTL };
  assert.deepEqual(lasting(await dns.aaaa('alias.example')), found);
  assert.deepEqual(lasting(await dns.aaaa('A.Example.')), found);
});

test('a name without such records is not a name that does not exist', async () => {
  assert.deepEqual(lasting(await dns.mx('only.example')), { kind: 'no-data', ...TTL });
  assert.deepEqual(lasting(await dns.a('only.example')), { kind: 'no-data', ...TTL });
  assert.deepEqual(await dns.mx('nothing.example'), { kind: 'no-name' });
  assert.deepEqual(await dns.txt('nothing.example'), { kind: 'no-name' });
});

test('an alias of a name that does not exist finds no name', async () => {
  assert.deepEqual(await dns.a('lost.example'), { kind: 'no-name' });
});

test('a cached answer is not asked for again, and fresh lookups bypass the cache', async (t) => {
  const own = await startDnsServer('a.example TXT "old"');
  t.after(() => own.close());
  const { txt, fresh } = dnsFrom(own.address);
  const texts = async (find: Dns['txt']) => {
    const answer = await find('a.example');
    return answer.kind === 'found' ? answer.records : answer.kind;
  };
  assert.deepEqual(await texts(txt), ['old']);
  own.setZone('a.example TXT "new"');
  assert.deepEqual(await texts(txt), ['old']);
  assert.deepEqual(await texts(fresh.txt), ['new']);
  assert.deepEqual(await texts(txt), ['new'], 'and what it learns is kept');
});

// Node's own resolver, asked the same of the same server.
test('our answers are those of node:dns, for every type and kind of name', async (t) => {
  const own = await startDnsServer(`
    many.example   TXT   "a" "b"
    many.example   TXT   "${'t'.repeat(900)}"
    many.example   MX    5 mx.many.example
    many.example   MX    10 192.0.2.1
    many.example   A     192.0.2.1
    many.example   AAAA  2001:db8::ffff:1
    null.example   MX    0 .
    alias.example  CNAME many.example
    far.example    CNAME alias.example
    lost.example   CNAME nowhere.example
    round.example  CNAME round.example
    back.example   PTR   many.example
    back.example   PTR   null.example
    many.example   SRV   0 1 993 mx.many.example
    many.example   SRV   10 0 994 192.0.2.1
    null.example   SRV   0 0 0 .
    ${Array.from({ length: 100 }, (_, index) => `mxs.example MX ${index} h${index}.mxs.example`).join('\n')}
    ${Array.from({ length: 900 }, (_, index) => `big.example A 10.0.${index >> 8}.${index & 255}`).join('\n')}
  `);
  t.after(() => own.close());
  const ours = dnsFrom(own.address);
  const theirs = new Resolver({ timeout: 30_000, tries: 1 });
  theirs.setServers([own.address]);
  const sorted = (records: readonly unknown[]) => records.map((one) => JSON.stringify(one)).sort();
  const codes: Record<string, string> = { ENOTFOUND: 'no-name', ENODATA: 'no-data' };
  const oracle = (answer: Promise<unknown[]>) =>
    answer.then(sorted, ({ code }) => codes[code] ?? `failed ${code}`);
  const mine = async (answer: Promise<{ kind: string; records?: unknown[]; reason?: string }>) => {
    const { kind, records, reason } = await answer;
    return records ? sorted(records) : reason === undefined ? kind : `${kind} ${reason}`;
  };
  for (const prefix of [
    'many',
    'null',
    'alias',
    'far',
    'lost',
    'round',
    'mxs',
    'big',
    'back',
    'none',
    'MANY',
  ]) {
    const name = `${prefix}.example`;
    assert.deepEqual(await mine(ours.a(name)), await oracle(theirs.resolve4(name)), `A ${name}`);
    assert.deepEqual(await mine(ours.aaaa(name)), await oracle(theirs.resolve6(name)), `AAAA ${name}`);
    const texts = () => theirs.resolveTxt(name).then((found) => found.map((parts) => parts.join('')));
    assert.deepEqual(await mine(ours.txt(name)), await oracle(texts()), `TXT ${name}`);
    assert.deepEqual(await mine(ours.cname(name)), await oracle(theirs.resolveCname(name)), `CNAME ${name}`);
    assert.deepEqual(await mine(ours.ptr(name)), await oracle(theirs.resolvePtr(name)), `PTR ${name}`);
    const services = () =>
      theirs
        .resolveSrv(name)
        .then((found) =>
          found.map(({ priority, weight, port, name: target }) => ({ priority, weight, port, target })),
        );
    assert.deepEqual(await mine(ours.srv(name)), await oracle(services()), `SRV ${name}`);
    const exchanges = () =>
      theirs
        .resolveMx(name)
        .then((found) => found.map(({ exchange, priority }) => ({ exchange, preference: priority })));
    assert.deepEqual(await mine(ours.mx(name)), await oracle(exchanges()), `MX ${name}`);
  }
});

test('text that is not a host name never reaches a resolver', async () => {
  let questions = 0;
  const socket = createSocket('udp4').on('message', () => questions++);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const asking = dnsFrom(`127.0.0.1:${socket.address().port}`);
  for (const name of [
    '',
    '.',
    'a..b',
    'a.example\0.evil',
    'a b.example',
    '-a.example',
    'ä.example',
    // The Kelvin sign, which is a k in lower case.
    '\u212a.example',
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

test('an alias to text that is not a host name is a failure', async (t) => {
  for (const target of ['b c.example', 'b\0.example', `${'\xff'.repeat(30)}.example`]) {
    const own = await startScriptedServer((asked) => [
      respond(asked, { answers: [record('a.example', 'CNAME', target)] }),
    ]);
    t.after(() => own.close());
    assert.deepEqual(await dnsFrom(own.address).a('a.example'), {
      kind: 'failed',
      reason: 'not a host name',
    });
    assert.equal(own.asked.length, 1);
  }
});

test('any name in printable ASCII is looked up as it is where that was asked for, and no other text', async (t) => {
  const own = await startScriptedServer((asked) => [
    respond(asked, { answers: [record('a+b=c d._spf.example', 'A', '192.0.2.1')] }),
  ]);
  t.after(() => own.close());
  const asking = createDns({ clock: realClock, servers: [own.address], mayAsk: isDnsName });
  const answer = await asking.a('A+b=c d._spf.example.');
  assert.deepEqual(answer.kind === 'found' && answer.records, ['192.0.2.1']);
  for (const name of [
    '',
    '.',
    'a..b',
    '.a',
    'a\0.example',
    'ä.example',
    'a\n.example',
    'x'.repeat(64),
    `${'a.'.repeat(127)}a`,
  ])
    assert.deepEqual(
      await asking.a(name),
      { kind: 'failed', reason: 'not a host name' },
      JSON.stringify(name),
    );
  assert.equal(own.asked.length, 1);
});

test('names of hosts and of services are accepted', () => {
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

/** Answers every question with this code and nothing else (RFC 1035 section 4.1.1). */
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
    const answer = await dnsFrom(unwell.address).mx('a.example');
    assert.equal(answer.kind, 'failed');
  });
}

test('a resolver that is not there is a failure', async () => {
  const gone = await startUnwellServer(0);
  gone.close();
  const answer = await dnsFrom(gone.address).a('a.example');
  assert.equal(answer.kind, 'failed');
});

test('a lookup without a free file descriptor fails and says nothing about the name', async (t) => {
  const own = await startDnsServer('a.example A 192.0.2.1');
  t.after(() => own.close());
  const script = fileURLToPath(new URL('dns/out-of-files.ts', import.meta.url));
  const child = spawn(
    'sh',
    ['-c', `ulimit -n 200 && exec "$0" "$1" "$2"`, process.execPath, script, own.address],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  assert.deepEqual(JSON.parse(await text(child.stdout)), {
    before: { kind: 'found', records: ['192.0.2.1'] },
    without: { kind: 'failed', reason: 'EMFILE' },
    after: { kind: 'no-name' },
  });
});
