import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realClock } from '../../src/system/clock.ts';
import { createDns, isDnsName, isHostName } from '../../src/system/dns.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { record, respond, startScriptedServer } from './dns/scripted-server.ts';

const dnsFrom = (...servers: string[]) => createDns({ clock: realClock, servers });

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
    _25._tcp.many.example TLSA 3 1 1 00ff10
    many.example CAA 0 issue "ca.example; accounturi=https://ca.example/1"
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
  const caa = await ours.caa('many.example');
  assert.deepEqual(caa.kind === 'found' && caa.records, [
    '0 issue "ca.example; accounturi=https://ca.example/1"',
  ]);
  // The resolver of Node asks for no TLSA records.
  const tlsa = await ours.tlsa('_25._tcp.many.example');
  assert.deepEqual(tlsa.kind === 'found' && tlsa.records, ['3 1 1 00ff10']);
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
