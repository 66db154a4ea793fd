import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { after, test } from 'node:test';
import { startDnsServer } from '../support/dns-server.ts';

const server = await startDnsServer(`
example.test        MX    10 mx.example.test
example.test   300 IN TXT  "v=spf1 ip4:127.0.0.1 -all"
mx.example.test     A     127.0.0.2
mx.example.test     AAAA  ::1
alias.example.test  CNAME mx.example.test
round.example.test  CNAME round.example.test
null.test           MX    0 .
long.example.test   TXT   "${'x'.repeat(250)}"
long.example.test   TXT   "${'y'.repeat(1500)}"
`);
after(() => server.close());

function resolverFor(address: string): Resolver {
  const resolver = new Resolver({ timeout: 30_000, tries: 1 });
  resolver.setServers([address]);
  return resolver;
}

const resolver = resolverFor(server.address);

test('every type of record arrives over UDP, whatever the case of the name', async () => {
  assert.deepEqual(
    (await resolver.resolveMx('EXAMPLE.test')).map(({ exchange, priority }) => ({ exchange, priority })),
    [{ exchange: 'mx.example.test', priority: 10 }],
  );
  assert.deepEqual(await resolver.resolve4('mx.example.test'), ['127.0.0.2']);
  assert.deepEqual(await resolver.resolve6('mx.example.test'), ['::1']);
  assert.deepEqual(await resolver.resolveTxt('example.test'), [['v=spf1 ip4:127.0.0.1 -all']]);
  assert.deepEqual(await resolver.resolveCname('alias.example.test'), ['mx.example.test']);
});

test('an alias comes with the records it leads to', async () => {
  assert.deepEqual(await resolver.resolve4('alias.example.test'), ['127.0.0.2']);
});

test('a null MX arrives as the root', async () => {
  const [mx] = await resolver.resolveMx('null.test');
  assert.deepEqual([mx?.exchange, mx?.priority], ['', 0]);
});

test('a missing name, a missing type and a failure are told apart', async () => {
  await assert.rejects(resolver.resolve4('nothing.test'), { code: 'ENOTFOUND' });
  await assert.rejects(resolver.resolve4('example.test'), { code: 'ENODATA' });
  await assert.rejects(resolver.resolve4('round.example.test'), { code: 'ESERVFAIL' });
});

test('an answer too long for UDP comes over TCP', async () => {
  const texts = (await resolver.resolveTxt('long.example.test')).map((strings) => strings.join('').length);
  assert.deepEqual(texts, [250, 1500]);
});

test('a new zone replaces the old one while the server runs', async () => {
  const other = await startDnsServer('old.test A 127.0.0.1');
  try {
    const ask = resolverFor(other.address);
    assert.deepEqual(await ask.resolve4('old.test'), ['127.0.0.1']);
    other.setZone('new.test A 127.0.0.4');
    assert.deepEqual(await ask.resolve4('new.test'), ['127.0.0.4']);
    await assert.rejects(ask.resolve4('old.test'), { code: 'ENOTFOUND' });
  } finally {
    await other.close();
  }
});
