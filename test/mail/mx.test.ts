import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { planMx, planRelays } from '../../src/mail/mx.ts';
import { createTargetGuard, type TargetGuard, UNGUARDED } from '../../src/system/blocklist.ts';
import type { DnsAnswer, DnsLookups, MxRecord, SrvRecord } from '../../src/system/dns.ts';
import { ANY_TARGET } from '../support/any-target.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { zoneDns } from '../support/zone-dns.ts';

const MX_TTL_MS = 3_600_000;
const ADDRESS_TTL_MS = 600_000;

type Records<T> = T[] | 'no-name' | 'failed';
type Zone = {
  mx?: Records<[preference: number, exchange: string]>;
  a?: Record<string, Records<string>>;
  aaaa?: Record<string, Records<string>>;
};

const one = (preference: number, name: string): [number, string] => [preference, name];

function answer<T>(records: Records<T> | undefined, ttlMs = ADDRESS_TTL_MS): DnsAnswer<T> {
  if (records === undefined) return { kind: 'no-data', ttlMs: MX_TTL_MS };
  if (records === 'no-name') return { kind: 'no-name' };
  if (records === 'failed') return { kind: 'failed', reason: 'ESERVFAIL' };
  return { kind: 'found', records, ttlMs };
}

const config = { hostname: 'Me.example' };
const targets = ANY_TARGET;

function planFor(zone: Zone, random: () => number = () => 0.999, guard: TargetGuard = targets) {
  const mx = answer(zone.mx, MX_TTL_MS);
  const records: DnsAnswer<MxRecord> =
    mx.kind === 'found'
      ? { ...mx, records: mx.records.map(([preference, exchange]) => ({ preference, exchange })) }
      : mx;
  const looked: string[] = [];
  const lookups: DnsLookups = {
    mx: async () => records,
    a: async (name: string) => {
      looked.push(name);
      return answer(zone.a?.[name]);
    },
    aaaa: async (name: string) => answer(zone.aaaa?.[name]),
    txt: async () => answer<string>(undefined),
    cname: async () => answer<string>(undefined),
    ptr: async () => answer<string>(undefined),
    srv: async () => answer<SrvRecord>(undefined),
    tlsa: async () => answer<string>(undefined),
    caa: async () => answer<string>(undefined),
  };
  const dns = { ...lookups, fresh: lookups };
  return planMx({ dns, random, targets: guard, clock: createFakeClock(0), config }, 'example.com').then(
    (plan) => ({
      plan,
      looked,
    }),
  );
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
    site: 'mx1.example.net/mx2.example.net',
    ttlMs: ADDRESS_TTL_MS,
  });
});

test('without IPv6, hosts have the addresses of IPv4 alone', async () => {
  const dns = zoneDns('example.com A 192.0.2.1\nexample.com AAAA 2001:db8::1');
  const world = { clock: createFakeClock(0), dns, random: () => 0.5, targets };
  const plan = await planMx({ ...world, config: { ...config, outbound: { ipv6: false } } }, 'example.com');
  assert.deepEqual(plan.kind === 'hosts' && plan.hosts, [{ name: 'example.com', addresses: ['192.0.2.1'] }]);
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
  assert.deepEqual(plan, {
    kind: 'hosts',
    hosts: [{ name: 'example.com', addresses: ['2001:db8::1'] }],
    site: 'example.com',
    ttlMs: ADDRESS_TTL_MS,
  });
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
  assert.ok(plan.kind === 'hosts');
  assert.deepEqual(plan.hosts, [{ name: 'mx.example', addresses: ['192.0.2.1'] }]);
  assert.equal(plan.site, 'mx.example');
});

test('only the answer that the domain does not exist says so', async () => {
  assert.deepEqual((await planFor({ mx: 'no-name' })).plan, { kind: 'no-domain' });
});

test('DNS that fails is told from DNS that has answered, and has no address', async () => {
  const failed: Zone[] = [
    { mx: 'failed' },
    { a: { 'example.com': 'failed' } },
    { aaaa: { 'example.com': 'failed' }, a: { 'example.com': 'no-name' } },
    { mx: [[10, 'mx.example']], a: { 'mx.example': 'failed' } },
    { mx: [one(10, 'mx.example'), one(20, 'b.example')], a: { 'b.example': 'failed' } },
  ];
  const answered: Zone[] = [
    {},
    { a: { 'example.com': 'no-name' }, aaaa: { 'example.com': 'no-name' } },
    { mx: [[10, 'mx.example']] },
    { mx: [[10, 'mx.example']], a: { 'mx.example': 'no-name' }, aaaa: { 'mx.example': 'no-name' } },
    { mx: [[10, '192.0.2.1']] },
    { mx: [[10, '[192.0.2.1]']] },
    { mx: [[10, 'not a host']] },
  ];
  for (const [zones, kind] of [
    [failed, 'unresolved'],
    [answered, 'no-address'],
  ] as const) {
    for (const zone of zones) {
      const { plan } = await planFor(zone);
      assert.equal(plan.kind, kind, JSON.stringify(zone));
      assert.ok('reason' in plan && plan.reason !== '');
    }
  }
});

test('one family of addresses is enough, whatever the server says of the other one', async () => {
  for (const other of ['no-name', 'failed', undefined] as const) {
    const mx = [one(10, 'mx.example')];
    const rest = other === undefined ? {} : { 'mx.example': other };
    const six = await planFor({ mx, a: rest, aaaa: { 'mx.example': ['2001:db8::1'] } });
    assert.deepEqual(six.plan.kind === 'hosts' && six.plan.hosts[0]?.addresses, ['2001:db8::1']);
    const four = await planFor({ mx, aaaa: rest, a: { 'mx.example': ['192.0.2.1'] } });
    assert.deepEqual(four.plan.kind === 'hosts' && four.plan.hosts[0]?.addresses, ['192.0.2.1']);
  }
});

test('a host with IPv6 addresses alone waits where the machine sends over IPv4', async () => {
  const dns = zoneDns('example.com AAAA 2001:db8::1');
  const world = { clock: createFakeClock(0), dns, random: () => 0.5, targets };
  const plan = await planMx({ ...world, config: { ...config, outbound: { ipv6: false } } }, 'example.com');
  const reason = 'example.com: has IPv6 addresses alone, and this machine sends over IPv4';
  assert.deepEqual(plan, { kind: 'unresolved', reason });
});

test('an address or a thing that is no name, in place of a host, is never looked up', async () => {
  const exchanges = ['192.0.2.1', '2001:db8::1', '[192.0.2.1]', 'not a host', 'a..b', '-.example\0'];
  const mx = exchanges.map((exchange): [number, string] => [10, exchange]);
  const { looked, plan } = await planFor({ mx, a: { '192.0.2.1': ['192.0.2.1'] } });
  assert.deepEqual(looked, []);
  const reason =
    'the MX records of example.com must name hosts, and name "192.0.2.1", "2001:db8::1", "[192.0.2.1]"';
  assert.deepEqual(plan, { kind: 'no-address', reason });
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
  assert.ok(plan.kind === 'hosts');
  assert.deepEqual(plan.hosts, [{ name: 'half.example', addresses: ['2001:db8::1'] }]);
  assert.equal(plan.ttlMs, 30_000, 'and is soon made anew');
});

test('a plan has at most five addresses, and the first host leaves some of them to the next', async () => {
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

test('a domain whose best host is this machine has nowhere to go, in any spelling', async () => {
  const a = { 'mx.example': ['192.0.2.1'], 'me.example': ['192.0.2.9'] };
  for (const mx of [
    [one(10, 'me.example')],
    [one(10, 'ME.example.')],
    [one(10, 'me.example'), one(10, 'mx.example')],
    [one(10, 'me.example'), one(20, 'mx.example')],
  ]) {
    const { plan, looked } = await planFor({ mx, a });
    assert.deepEqual([plan, looked], [{ kind: 'loop' }, []], JSON.stringify(mx));
  }
  const clock = createFakeClock(0);
  const own = zoneDns('me.example A 192.0.2.9');
  const implicit = await planMx({ dns: own, random: () => 0, clock, config, targets }, 'me.example');
  assert.deepEqual(implicit, { kind: 'loop' });
});

test('only hosts with a better preference are tried when this machine is one of the MX hosts', async () => {
  const mx = [one(10, 'a.example'), one(20, 'me.example'), one(20, 'b.example'), one(30, 'c.example')];
  const a = { 'a.example': ['192.0.2.1'], 'b.example': ['192.0.2.2'], 'c.example': ['192.0.2.3'] };
  const { plan, looked } = await planFor({ mx, a });
  assert.ok(plan.kind === 'hosts');
  assert.deepEqual([plan.hosts.map((host) => host.name), looked], [['a.example'], ['a.example']]);
});

test('a host that is an alias is followed to its addresses', async () => {
  const dns = zoneDns(`
    example.com       300 MX    10 mail.example.com
    mail.example.com   90 CNAME host.example.net
    host.example.net  200 A     192.0.2.1
  `);
  const world = { dns, random: () => 0, clock: createFakeClock(0), config, targets };
  assert.deepEqual(await planMx(world, 'example.com'), {
    kind: 'hosts',
    hosts: [{ name: 'mail.example.com', addresses: ['192.0.2.1'] }],
    site: 'mail.example.com',
    ttlMs: 90_000,
  });
});

test('domains with the same hosts in the same order are one site, whatever their addresses and numbers are', async () => {
  const siteOf = async (mx: [number, string][], address: string) => {
    const { plan } = await planFor({ mx, a: { 'a.example': [address] } });
    return plan.kind === 'hosts' ? plan.site : plan.kind;
  };
  const [a, b, c] = ['a.example', 'b.example', 'c.example'] as const;
  const equal = [one(0, b), one(0, a), one(5, b), one(9, '.')];
  assert.equal(await siteOf(equal, '192.0.2.1'), 'a.example,b.example');
  assert.equal(await siteOf([one(7, 'A.example.'), one(7, b)], '192.0.2.2'), 'a.example,b.example');
  assert.equal(await siteOf([one(10, a), one(20, b)], '192.0.2.3'), 'a.example/b.example');
  assert.equal(await siteOf([one(5, b), one(4, a)], '192.0.2.3'), 'a.example/b.example');
  assert.equal(await siteOf([one(20, a), one(10, b)], '192.0.2.3'), 'b.example/a.example');
  assert.equal(
    await siteOf([one(20, a), one(10, c), one(10, b)], '192.0.2.3'),
    'b.example,c.example/a.example',
  );
});

test('the site of a domain with very many hosts is short, and still its own', async () => {
  const siteOf = async (...names: string[]) => {
    const mx = names.map((name) => one(10, name));
    const { plan } = await planFor({ mx, a: Object.fromEntries(names.map((name) => [name, ['192.0.2.1']])) });
    return plan.kind === 'hosts' ? plan.site : plan.kind;
  };
  const names = Array.from({ length: 900 }, (_, index) => `h${index}.example`);
  const site = await siteOf(...names);
  assert.match(site, /^[0-9a-f]{64}$/);
  assert.equal(await siteOf(...names.toReversed()), site);
  assert.notEqual(await siteOf(...names, 'other.example'), site);
});

test('a plan holds as long as the least of its records, and half a minute at least', async () => {
  const ttl = async (mxSeconds: number, aSeconds: number) => {
    const dns = zoneDns(`x.example ${mxSeconds} MX 0 h.example\nh.example ${aSeconds} A 192.0.2.1`);
    const world = { dns, random: () => 0, clock: createFakeClock(0), config, targets };
    const plan = await planMx(world, 'x.example');
    return plan.kind === 'hosts' ? plan.ttlMs : plan.kind;
  };
  assert.deepEqual([await ttl(100, 200), await ttl(200, 100)], [100_000, 100_000]);
  assert.deepEqual([await ttl(0, 100), await ttl(100, 5)], [30_000, 30_000]);
});

test('a resolver that takes its time is given up after a minute, and nothing is said of the domain', async () => {
  const clock = createFakeClock(0);
  const never = () => new Promise<never>(() => {});
  const lookups = {
    mx: never,
    a: never,
    aaaa: never,
    txt: never,
    cname: never,
    ptr: never,
    srv: never,
    tlsa: never,
    caa: never,
  };
  const plan = planMx(
    { dns: { ...lookups, fresh: lookups }, random: () => 0, clock, config, targets },
    'slow.example',
  );
  await clock.advance(59_999);
  const early = await Promise.race([plan, Promise.resolve('still asking')]);
  assert.equal(early, 'still asking');
  await clock.advance(1);
  assert.deepEqual(await plan, {
    kind: 'unresolved',
    reason: 'resolving slow.example took longer than 60000 ms',
  });
});

test('an abandoned lookup asks DNS nothing more', async () => {
  const clock = createFakeClock(0);
  let asked = 0;
  const slow = async (): Promise<DnsAnswer<never>> => {
    asked++;
    await new Promise<void>((resolve) => clock.after(20_000, resolve));
    return { kind: 'failed', reason: 'ETIMEOUT' };
  };
  const records = Array.from({ length: 10 }, (_, index) => ({
    preference: 1,
    exchange: `mx${index}.example`,
  }));
  const mx = async (): Promise<DnsAnswer<MxRecord>> => ({ kind: 'found', records, ttlMs: 1 });
  const lookups = {
    mx,
    a: slow,
    aaaa: slow,
    txt: slow,
    cname: slow,
    ptr: slow,
    srv: slow,
    tlsa: slow,
    caa: slow,
  };
  const dns = { ...lookups, fresh: lookups };
  const plan = planMx({ dns, random: () => 0, clock, config, targets }, 'slow.example');
  await clock.advance(10 * 60_000);
  assert.equal((await plan).kind, 'unresolved');
  assert.equal(asked, 6, 'two addresses for each of three hosts');
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
    { numRuns: 60 },
  );
});

test('addresses that are not public are left out as if DNS did not have them, and only the operator learns of them', async () => {
  const refused: [string, readonly string[]][] = [];
  const onRefused = (host: string, addresses: readonly string[]) => refused.push([host, addresses]);
  const guard = createTargetGuard({ allow: [], own: ['198.41.0.4'], onRefused });
  const mx = [one(10, 'inside.example'), one(20, 'own.example')];
  const aaaa = { 'inside.example': ['fd00::1', '::ffff:10.0.0.2'] };
  const a = { 'inside.example': ['10.0.0.1'], 'own.example': ['198.41.0.4'] };
  const inside = await planFor({ mx, a, aaaa }, undefined, guard);
  assert.deepEqual(inside, await planFor({ mx }, undefined, guard), 'as where neither host has an address');
  assert.deepEqual(inside.plan, {
    kind: 'no-address',
    reason: 'inside.example: has no public address; own.example: has no public address',
  });
  assert.deepEqual(refused, [
    ['inside.example', ['10.0.0.1', 'fd00::1', '::ffff:10.0.0.2']],
    ['own.example', ['198.41.0.4']],
  ]);
  const mixed = { ...a, 'inside.example': ['10.0.0.1', '10.0.0.2', '10.0.0.3', '8.8.8.8'] };
  const { plan } = await planFor({ mx, a: mixed, aaaa }, undefined, guard);
  assert.deepEqual(plan.kind === 'hosts' && plan.hosts, [{ name: 'inside.example', addresses: ['8.8.8.8'] }]);
});

test('relays keep their order, may be addresses, and private ones are left out as if they had none', async () => {
  const world = {
    clock: createFakeClock(0),
    dns: zoneDns('b.example A 192.0.2.1\nin.example A 10.0.0.1'),
    random: () => 0,
    config,
  };
  const guard = createTargetGuard({ allow: ['192.0.2.0/24'], own: [] });
  const plan = await planRelays({ ...world, targets: guard }, [
    '192.0.2.9',
    'b.example',
    'in.example',
    '10.0.0.2',
  ]);
  assert.ok(plan.kind === 'hosts');
  assert.deepEqual(plan.hosts, [
    { name: '192.0.2.9', addresses: ['192.0.2.9'] },
    { name: 'b.example', addresses: ['192.0.2.1'] },
  ]);
  const none = await planRelays({ ...world, targets: guard }, ['in.example', '10.0.0.2']);
  assert.deepEqual(none, {
    kind: 'no-address',
    reason: 'in.example: has no public address; 10.0.0.2 has no public address',
  });
  const exempt = await planRelays({ ...world, targets: UNGUARDED }, ['in.example', '10.0.0.2']);
  assert.ok(exempt.kind === 'hosts' && exempt.hosts.length === 2);
});
