import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planMx } from '../../src/mail/mx.ts';
import type { Dns, DnsAnswer, MxRecord } from '../../src/system/dns.ts';

type Records<T> = T[] | 'no-name' | 'failed';
type Zone = {
  mx?: Records<[preference: number, exchange: string]>;
  a?: Record<string, Records<string>>;
  aaaa?: Record<string, Records<string>>;
};

function answer<T>(records: Records<T> | undefined): DnsAnswer<T> {
  if (records === undefined) return { kind: 'no-data' };
  if (records === 'no-name') return { kind: 'no-name' };
  if (records === 'failed') return { kind: 'failed', reason: 'ESERVFAIL' };
  return { kind: 'found', records };
}

function planFor(zone: Zone, random: () => number = () => 0.999) {
  const mx = answer(zone.mx);
  const records: DnsAnswer<MxRecord> =
    mx.kind === 'found'
      ? { kind: 'found', records: mx.records.map(([preference, exchange]) => ({ preference, exchange })) }
      : mx;
  const looked: string[] = [];
  const dns = {
    mx: async () => records,
    a: async (name: string) => {
      looked.push(name);
      return answer(zone.a?.[name]);
    },
    aaaa: async (name: string) => answer(zone.aaaa?.[name]),
    txt: async () => answer<string>(undefined),
    cname: async () => answer<string>(undefined),
  } satisfies Dns;
  return planMx({ dns, random }, 'example.com').then((plan) => ({ plan, looked }));
}

test('hosts come in order of preference, each with both families in turn', async () => {
  const { plan } = await planFor({
    mx: [
      [20, 'mx2.example.net.'],
      [10, 'MX1.example.net'],
    ],
    a: { 'mx1.example.net': ['192.0.2.1', '192.0.2.2'], 'mx2.example.net': ['192.0.2.3'] },
    aaaa: { 'mx1.example.net': ['2001:db8::1'] },
  });
  assert.deepEqual(plan, {
    kind: 'hosts',
    hosts: [
      { name: 'mx1.example.net', addresses: ['192.0.2.1', '2001:db8::1', '192.0.2.2'] },
      { name: 'mx2.example.net', addresses: ['192.0.2.3'] },
    ],
  });
});

test('hosts of equal preference change places, others never do', async () => {
  const orders = new Set<string>();
  for (const value of [0, 0.3, 0.6, 0.999]) {
    const { plan } = await planFor(
      {
        mx: [
          [10, 'a.example'],
          [10, 'b.example'],
          [20, 'c.example'],
        ],
        a: { 'a.example': ['192.0.2.1'], 'b.example': ['192.0.2.2'], 'c.example': ['192.0.2.3'] },
      },
      () => value,
    );
    assert.ok(plan.kind === 'hosts');
    orders.add(plan.hosts.map((host) => host.name).join(' '));
  }
  assert.deepEqual([...orders].sort(), ['a.example b.example c.example', 'b.example a.example c.example']);
});

test('without MX records the domain is its own host', async () => {
  const { plan } = await planFor({ aaaa: { 'example.com': ['2001:db8::1'] } });
  assert.deepEqual(plan, { kind: 'hosts', hosts: [{ name: 'example.com', addresses: ['2001:db8::1'] }] });
});

test('a null MX is a verdict, with the dot written or read as nothing', async () => {
  assert.deepEqual((await planFor({ mx: [[0, '.']] })).plan, { kind: 'null-mx' });
  assert.deepEqual((await planFor({ mx: [[0, '']] })).plan, { kind: 'null-mx' });
});

test('a null MX beside a real one is ignored', async () => {
  const { plan } = await planFor({
    mx: [
      [0, '.'],
      [10, 'mx.example'],
    ],
    a: { 'mx.example': ['192.0.2.1'] },
  });
  assert.deepEqual(plan, { kind: 'hosts', hosts: [{ name: 'mx.example', addresses: ['192.0.2.1'] }] });
});

test('only the answer that the domain does not exist says so', async () => {
  assert.deepEqual((await planFor({ mx: 'no-name' })).plan, { kind: 'no-domain' });
  const unresolved: Zone[] = [
    { mx: 'failed' },
    {},
    { a: { 'example.com': 'no-name' }, aaaa: { 'example.com': 'no-name' } },
    { mx: [[10, 'mx.example']] },
    { mx: [[10, 'mx.example']], a: { 'mx.example': 'no-name' }, aaaa: { 'mx.example': 'no-name' } },
    { mx: [[10, 'mx.example']], a: { 'mx.example': 'failed' } },
    { mx: [[10, '192.0.2.1']] },
    { mx: [[10, '[192.0.2.1]']] },
    { mx: [[10, 'not a host']] },
  ];
  for (const zone of unresolved) {
    const { plan } = await planFor(zone);
    assert.equal(plan.kind, 'unresolved', JSON.stringify(zone));
    assert.ok(plan.kind === 'unresolved' && plan.reason !== '');
  }
});

test('an address or a thing that is no name, in place of a host, is never looked up', async () => {
  const exchanges = ['192.0.2.1', '2001:db8::1', '[192.0.2.1]', 'not a host', 'a..b', '-.example\0'];
  const mx = exchanges.map((exchange): [number, string] => [10, exchange]);
  const { looked, plan } = await planFor({ mx, a: { '192.0.2.1': ['192.0.2.1'] } });
  assert.deepEqual(looked, []);
  assert.equal(plan.kind, 'unresolved');
});

test('a host that cannot be looked up leaves the others', async () => {
  const { plan } = await planFor({
    mx: [
      [10, 'gone.example'],
      [20, 'down.example'],
      [30, 'half.example'],
    ],
    a: { 'gone.example': 'no-name', 'down.example': 'failed', 'half.example': 'failed' },
    aaaa: { 'gone.example': 'no-name', 'down.example': 'failed', 'half.example': ['2001:db8::1'] },
  });
  assert.deepEqual(plan, { kind: 'hosts', hosts: [{ name: 'half.example', addresses: ['2001:db8::1'] }] });
});

test('a plan has at most five addresses, and a first host leaves room for the next', async () => {
  const many = Array.from({ length: 8 }, (_, index) => `192.0.2.${index}`);
  const { plan } = await planFor({
    mx: [
      [10, 'a.example'],
      [20, 'b.example'],
    ],
    a: { 'a.example': many, 'b.example': many },
  });
  assert.ok(plan.kind === 'hosts');
  assert.deepEqual(
    plan.hosts.map((host) => host.addresses.length),
    [3, 2],
  );
  const single = await planFor({ mx: [[10, 'a.example']], a: { 'a.example': many } });
  assert.ok(single.plan.kind === 'hosts');
  assert.equal(single.plan.hosts[0]?.addresses.length, 5);
});

test('a domain with a thousand MX records costs ten lookups', async () => {
  const mx = Array.from({ length: 1000 }, (_, index): [number, string] => [index, `h${index}.example`]);
  const { plan, looked } = await planFor({ mx });
  assert.equal(plan.kind, 'unresolved');
  assert.equal(looked.length, 10);
});

test('no set of records makes a plan that is empty, repeats an address or exceeds five', async () => {
  const hosts = ['a.example', 'b.example', 'c.example', '.', '10.0.0.1'];
  const addresses = fc.uniqueArray(
    fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', '192.0.2.5', '192.0.2.6'),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(20), fc.constantFrom(...hosts)), { minLength: 1 }),
      fc.dictionary(fc.constantFrom(...hosts), addresses),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      async (mx, a, value) => {
        const { plan } = await planFor({ mx, a }, () => value);
        if (plan.kind !== 'hosts') return;
        const names = plan.hosts.map((host) => host.name);
        assert.equal(new Set(names).size, names.length);
        const sizes = plan.hosts.map((host) => new Set(host.addresses).size);
        assert.deepEqual(
          sizes,
          plan.hosts.map((host) => host.addresses.length),
        );
        assert.ok(sizes.every((size) => size > 0));
        assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 5);
      },
    ),
    { numRuns: 200 },
  );
});
