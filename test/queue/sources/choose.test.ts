import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseSource, poolFor, type SourceState } from '../../../src/queue/sources/choose.ts';
import { ipv4First, withoutIPv6 } from '../../../src/queue/sources/families.ts';
import type { Pool, Source } from '../../../src/queue/sources/source.ts';

const HOSTS = [{ name: 'mx.example', addresses: ['192.0.2.25', '2001:db8::25'] }];

function source(name: string, addresses = ['192.0.2.1']): Source {
  return { name, addresses, ehlo: `${name}.example`, ipv6: 'proven', way: { kind: 'address' } };
}

function pool(sources: Source[], more: Partial<Pool> = {}): Pool {
  return { name: 'p', sources, tenantId: null, domain: null, kind: null, ...more };
}

const allOf = ({ addresses }: Source): SourceState => ({
  usable: addresses,
  suspended: undefined,
  warmUp: null,
  warmUpUntil: undefined,
  isResting: false,
});

const queues = Array.from({ length: 300 }, (_, index) => `live transactional ten_1 d${index}.example`);

function chosenFor(queue: string, of: Pool, stateOf = allOf): string {
  const choice = chooseSource(of, { queue, hosts: HOSTS }, stateOf);
  return choice.kind === 'hosts' ? (choice.source?.name ?? '') : choice.kind;
}

test('a queue keeps its source, and all sources have queues', () => {
  const three = pool([source('a'), source('b'), source('c')]);
  const chosen = queues.map((queue) => chosenFor(queue, three));
  assert.deepEqual(
    queues.map((queue) => chosenFor(queue, pool([...three.sources].reverse()))),
    chosen,
  );
  for (const name of ['a', 'b', 'c']) assert.ok(chosen.filter((one) => one === name).length > 60, name);
});

test('when a source fails, only its queues move, and they come back', () => {
  const three = pool([source('a'), source('b'), source('c')]);
  const without = (one: Source): SourceState =>
    one.name === 'b' ? { ...allOf(one), usable: [], suspended: 'unplugged' } : allOf(one);
  for (const queue of queues) {
    const before = chosenFor(queue, three);
    const during = chosenFor(queue, three, without);
    if (before === 'b') assert.notEqual(during, 'b');
    else assert.equal(during, before);
    assert.equal(chosenFor(queue, three), before);
  }
});

test('mail leaves from another source while its own rests at the hosts, and from its own when all of them rest', () => {
  const three = pool([source('a'), source('b'), source('c')]);
  const resting = (names: string[]) => (one: Source) => ({
    ...allOf(one),
    isResting: names.includes(one.name),
  });
  for (const queue of queues.slice(0, 20)) {
    const own = chosenFor(queue, three);
    assert.notEqual(chosenFor(queue, three, resting([own])), own);
    assert.equal(chosenFor(queue, three, resting(['a', 'b', 'c'])), own);
  }
});

test('mail waits while every source of its pool is suspended, and the reason names each', () => {
  const choice = chooseSource(pool([source('a'), source('b')]), { queue: 'q', hosts: HOSTS }, (one) => ({
    ...allOf(one),
    usable: [],
    suspended: `${one.name} is unplugged`,
  }));
  assert.equal(choice.kind, 'wait');
  assert.match(JSON.stringify(choice), /a: a is unplugged/);
  assert.match(JSON.stringify(choice), /b: b is unplugged/);
});

test('a source is used for the families that it has at present', () => {
  const both = source('a', ['192.0.2.1', '2001:db8::1']);
  const choose = (usable: string[]) =>
    chooseSource(pool([both]), { queue: 'q', hosts: HOSTS }, () => ({ ...allOf(both), usable }));
  const hostsOf = (usable: string[]) => {
    const choice = choose(usable);
    return choice.kind === 'hosts' ? choice.hosts[0]?.addresses : choice;
  };
  assert.deepEqual(hostsOf(['192.0.2.1', '2001:db8::1']), ['192.0.2.25', '2001:db8::25']);
  assert.deepEqual(hostsOf(['192.0.2.1']), ['192.0.2.25']);
  assert.deepEqual(hostsOf(['2001:db8::1']), ['2001:db8::25']);
  const onlyIPv6 = [{ name: 'mx.example', addresses: ['2001:db8::25'] }];
  const unreached = chooseSource(pool([source('b')]), { queue: 'q', hosts: onlyIPv6 }, allOf);
  assert.equal(unreached.kind, 'unreachable');
  // Of two sources, the one that reaches the hosts is taken.
  const some = pool([source('b'), source('c', ['2001:db8::1'])]);
  const reached = chooseSource(some, { queue: 'q', hosts: onlyIPv6 }, allOf);
  assert.equal(reached.kind === 'hosts' && reached.source?.name, 'c');
});

test('the most specific pool counts: a domain before a tenant, a tenant before a kind', () => {
  const sources = [source('a')];
  const pools = [
    pool(sources, { name: 'all' }),
    pool(sources, { name: 'bulk', kind: 'broadcast' }),
    pool(sources, { name: 'tenant', tenantId: 'ten_1' }),
    pool(sources, { name: 'tenant-bulk', tenantId: 'ten_1', kind: 'broadcast' }),
    pool(sources, { name: 'domain', domain: 'big.example' }),
  ];
  const nameOf = (tenantId: string, domain: string, kind: 'transactional' | 'broadcast') =>
    poolFor(pools, { tenantId, domain, kind })?.name;
  assert.equal(nameOf('ten_2', 'x.example', 'transactional'), 'all');
  assert.equal(nameOf('ten_2', 'x.example', 'broadcast'), 'bulk');
  assert.equal(nameOf('ten_1', 'x.example', 'transactional'), 'tenant');
  assert.equal(nameOf('ten_1', 'x.example', 'broadcast'), 'tenant-bulk');
  assert.equal(nameOf('ten_1', 'big.example', 'broadcast'), 'domain');
  assert.equal(
    poolFor(pools.slice(1), { tenantId: 'ten_2', domain: 'x.example', kind: 'transactional' }),
    undefined,
  );
});

test('hosts and domains that get mail over IPv4 alone lose their IPv6 addresses', () => {
  assert.deepEqual(withoutIPv6([], 'a.example', HOSTS), HOSTS);
  const only = [{ name: 'mx.example', addresses: ['192.0.2.25'] }];
  assert.deepEqual(withoutIPv6(['A.example'], 'a.example', HOSTS), only);
  assert.deepEqual(withoutIPv6(['mx.example'], 'a.example', HOSTS), only);
  assert.deepEqual(withoutIPv6(['example'], 'a.example', HOSTS), only);
  assert.deepEqual(withoutIPv6(['x.example', 'ample'], 'a.example', HOSTS), HOSTS);
});

test('hosts of a provider that prefers IPv4 are connected to over IPv6 last, and other hosts as their addresses stand', () => {
  const addresses = ['2001:db8::25', '192.0.2.25', '2001:db8::26'];
  const orderOf = (name: string) => ipv4First([{ name, addresses }])[0]?.addresses;
  assert.deepEqual(orderOf('mx1.comcast.net'), ['192.0.2.25', '2001:db8::25', '2001:db8::26']);
  assert.deepEqual(orderOf('mx.example'), addresses);
});
