/** `GET /v1/metrics`: times and their limits, filters, groups, rates, modes, keys, and the recount by tag. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readQuery } from '../../src/statistics/query.ts';
import { createReports, MAX_ROWS } from '../../src/statistics/report.ts';
import { openSpool, type Spool } from '../support/spool.ts';

const SIMULATOR = 'simulator.mx.postrider.example';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let spool: Spool;

before(async () => {
  spool = await openSpool();
});
after(() => spool.close());

/** A tenant of its own, with a sender. */
async function newTenant(name: string) {
  const { tenantId, liveKey: key, testKey } = await spool.addTenant(name);
  await spool.addDomain(key, `${name}.example`);
  const ask = (query: string, askingKey = key) =>
    spool.request('GET', `/v1/metrics?${query}`, { key: askingKey });
  return {
    tenantId,
    key,
    testKey,
    ask,
    async get(query = '', askingKey = key) {
      const { status, body } = await ask(query, askingKey);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async refused(query: string) {
      const { status, body } = await ask(query);
      assert.deepEqual([status, body.error.type], [400, 'validation_error'], JSON.stringify(body));
      return [body.error.param, body.error.message];
    },
    send: (to: string | string[], more: object = {}) =>
      spool.accept(to, { key, from: `a@${name}.example`, ...more }),
  };
}

const at = (ms: number) => new Date(ms).toISOString();

test('hours and days have their sums, and totals have those of all of them', async () => {
  const tenant = await newTenant('sums');
  const { clock } = spool;
  await clock.advance(DAY_MS - (clock.now() % DAY_MS) - HOUR_MS / 2);
  const evening = clock.now();
  await tenant.send([
    'a@gmail.com',
    `bounced@${SIMULATOR}`,
    `complained@${SIMULATOR}`,
    `opened@${SIMULATOR}`,
  ]);
  await clock.advance(HOUR_MS);
  await tenant.send('b@gmail.com');

  const byDay = await tenant.get();
  const day = Math.floor(evening / DAY_MS) * DAY_MS;
  assert.deepEqual([byDay.interval, byDay.to], ['day', at(day + 2 * DAY_MS)]);
  assert.equal(byDay.from, at(day - 29 * DAY_MS));
  assert.deepEqual(
    byDay.data.map(({ start, group, accepted }: Record<string, unknown>) => [start, group, accepted]),
    [
      [at(day), null, 4],
      [at(day + DAY_MS), null, 1],
    ],
  );
  assert.deepEqual([byDay.totals.accepted, byDay.groups], [5, []]);

  const byHour = await tenant.get('interval=hour');
  assert.deepEqual([byHour.from, byHour.to], [at(day), at(day + DAY_MS + HOUR_MS)]);
  assert.deepEqual(
    byHour.data.map(({ start, accepted }: Record<string, unknown>) => [start, accepted]),
    [
      [at(day + 23 * HOUR_MS), 4],
      [at(day + DAY_MS), 1],
    ],
  );
  const one = await tenant.get(`interval=hour&from=${at(day + DAY_MS)}&to=${at(day + DAY_MS + 1)}`);
  assert.deepEqual([one.to, one.totals.accepted], [at(day + DAY_MS + HOUR_MS), 1]);
  const before = await tenant.get(`interval=hour&to=${at(day + DAY_MS)}`);
  assert.deepEqual(
    [before.to, before.totals.accepted],
    [at(day + DAY_MS), 4],
    'the end does not belong to it',
  );
});

test('rates compare people with deliveries, and are null without any', async () => {
  const tenant = await newTenant('rates');
  const none = {
    delivered: null,
    bounced: null,
    complained: null,
    opened: null,
    clicked: null,
    unsubscribed: null,
  };
  assert.deepEqual((await tenant.get()).totals.rates, none);
  const behaviours = [
    'bounced',
    'complained',
    'opened',
    'clicked',
    'delivered',
    'delivered+1',
    'delivered+2',
  ];
  await tenant.send(behaviours.map((name) => `${name}@${SIMULATOR}`));
  await spool.deliverDue();
  const { totals } = await tenant.get();
  assert.deepEqual(
    [totals.accepted, totals.delivered, totals.bounced, totals.bouncedPermanent, totals.uniqueOpened],
    [7, 6, 1, 1, 1],
  );
  assert.deepEqual(totals.rates, {
    ...{ delivered: 0.857143, bounced: 0.142857, complained: 0.166667 },
    ...{ opened: 0.166667, clicked: 0.166667, unsubscribed: 0 },
  });
});

test('filters and groups divide the same sums', async () => {
  const tenant = await newTenant('groups');
  await spool.addDomain(tenant.key, 'second.example');
  const domains = (await spool.request('GET', '/v1/domains', { key: tenant.key })).body.data;
  const idOf = (name: string) => domains.find((domain: { name: string }) => domain.name === name).id;
  await tenant.send(['a@gmail.com', 'b@yahoo.fr', 'c@example.com']);
  await tenant.send('d@gmail.com', { from: 'b@second.example' });
  const count = async (query: string) => (await tenant.get(query)).totals.accepted;
  assert.equal(await count(''), 4);
  assert.equal(await count('provider=gmail'), 2);
  assert.equal(await count('provider=apple'), 0);
  assert.equal(await count(`domainId=${idOf('second.example')}`), 1);
  assert.equal(await count(`domainId=${idOf('groups.example')}&provider=gmail`), 1);
  assert.equal(await count('domainId=dom_x'), 0);
  assert.equal(await count('type=transactional'), 4);
  assert.equal(await count('type=broadcast'), 0);
  assert.equal(await count('broadcastId=brd_x'), 0);
  const groupsBy = async (groupBy: string) => {
    const { groups, data } = await tenant.get(`groupBy=${groupBy}`);
    const pairs = (rows: { group: string; accepted: number }[]) =>
      rows.map((row) => [row.group, row.accepted]);
    assert.deepEqual(pairs(groups), pairs(data));
    return pairs(groups);
  };
  assert.deepEqual(await groupsBy('provider'), [
    ['gmail', 2],
    ['other', 1],
    ['yahoo', 1],
  ]);
  assert.deepEqual(
    await groupsBy('domain'),
    [
      [idOf('groups.example'), 3],
      [idOf('second.example'), 1],
    ].sort(),
  );
  assert.deepEqual(await groupsBy('type'), [['transactional', 4]]);
  assert.deepEqual(await groupsBy('broadcast'), [['', 4]]);
});

test('a key sees its own mode, and a key of one domain sees that domain', async () => {
  const tenant = await newTenant('keys');
  await spool.addDomain(tenant.key, 'other.example');
  const tags = { campaign: 'x' };
  await tenant.send('a@gmail.com', { tags });
  await tenant.send('b@gmail.com', { from: 'b@other.example', tags });
  assert.equal((await tenant.get()).totals.accepted, 2);
  assert.equal((await tenant.get('', tenant.testKey)).totals.accepted, 0);
  const stranger = await newTenant('stranger');
  assert.equal((await stranger.get()).totals.accepted, 0);
  const domains = (await spool.request('GET', '/v1/domains', { key: tenant.key })).body.data;
  const [mine, others] = ['keys.example', 'other.example'].map(
    (name) => domains.find((domain: { name: string }) => domain.name === name).id,
  );
  const created = await spool.request('POST', '/v1/api-keys', {
    key: tenant.key,
    body: { name: 'one', permission: 'full_access', domainId: mine },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const limited = created.body.key ?? created.body.token;
  for (const tag of ['', '&tag=campaign:x']) {
    const { totals } = await tenant.get(`domainId=${others}${tag}`, limited);
    assert.equal(totals.accepted, 0);
  }
  for (const tag of ['', 'tag=campaign:x']) assert.equal((await tenant.get(tag, limited)).totals.accepted, 1);
});

test('times and lengths outside the limits are refused', async () => {
  const tenant = await newTenant('limits');
  const from = (days: number, more = '') => `from=${at(spool.clock.now() - days * DAY_MS)}${more}`;
  for (const allowed of [from(400), from(31, '&interval=hour'), from(31, '&tag=a:b')])
    await tenant.get(allowed);
  for (const [query, param, message] of [
    [from(400.001), 'from', 'With `interval=day`, `from` may be at most 400 days before `to`'],
    [
      from(31.001, '&interval=hour'),
      'from',
      'With `interval=hour`, `from` may be at most 31 days before `to`',
    ],
    [from(31.001, '&tag=a:b'), 'from', 'With `tag`, `from` may be at most 31 days before `to`'],
    [from(-1), 'to', '`to` must be later than `from`'],
    [`${from(1)}&to=${at(spool.clock.now() - DAY_MS)}`, 'to', '`to` must be later than `from`'],
    ['tag=spring', 'tag', '`tag` must be a key and a value such as campaign:spring'],
  ] as const)
    assert.deepEqual(await tenant.refused(query), [param, message]);
  for (const [param, value] of [
    ['from', 'yesterday'],
    ['to', '2026-02-30T00:00:00Z'],
    ['interval', 'week'],
    ['type', 'marketing'],
    ['provider', 'hotmail'],
    ['groupBy', 'tag'],
  ] as const)
    assert.equal((await tenant.refused(`${param}=${value}`))[0], param);
});

test('an answer of too many rows is refused', async () => {
  const tenant = await newTenant('rows');
  const { clock } = spool;
  const seed = Array.from({ length: MAX_ROWS + 1 }, (_, index) => index);
  const query = readQuery(
    { groupBy: 'broadcast' },
    { tenantId: tenant.tenantId, mode: 'live', domainId: null },
    clock.now(),
  );
  const spans = seed.map((index) => ({ start: 0, group: `brd_${index}` }) as never);
  const reports = createReports({ db: { query: async () => ({ spans, next: null }) } as never });
  await assert.rejects(
    reports.read(query, AbortSignal.any([])),
    /more than 4000 rows: choose a shorter time/,
  );
});

test('mail with a tag is counted again from its events, and agrees with the counters', async () => {
  const tenant = await newTenant('tagged');
  const tags = { campaign: 'spring:a' };
  const behaviours = ['bounced', 'complained', 'opened', 'clicked', 'delayed', 'delivered'];
  for (let index = 0; index < 3; index++)
    await tenant.send([`r${index}@gmail.com`, ...behaviours.map((name) => `${name}+${index}@${SIMULATOR}`)], {
      tags,
    });
  await tenant.send('later@gmail.com', { tags, scheduledAt: at(spool.clock.now() + HOUR_MS) });
  await spool.deliverDue();
  await spool.clock.advance(10_000);
  await spool.deliverDue();
  for (const query of [
    '',
    'interval=hour',
    'groupBy=provider',
    'groupBy=domain',
    'provider=gmail',
    'type=broadcast',
  ]) {
    const counted = await tenant.get(query);
    assert.deepEqual(await tenant.get(`${query}&tag=campaign:spring:a`), counted, query);
    if (query === '') assert.equal(counted.totals.complained, 3);
  }
  await tenant.send('untagged@gmail.com');
  assert.equal((await tenant.get('tag=campaign:spring:a')).totals.accepted, 22);
  assert.equal((await tenant.get('')).totals.accepted, 23);
  assert.equal((await tenant.get('tag=campaign:spring')).totals.accepted, 0);
  const soon = `from=${at(spool.clock.now() + HOUR_MS)}&to=${at(spool.clock.now() + 2 * HOUR_MS)}`;
  assert.equal((await tenant.get(`interval=hour&tag=campaign:spring:a&${soon}`)).totals.accepted, 0);
});

test('a tenant gets one report by tag at a time, and others get theirs meanwhile', async () => {
  const held = Promise.withResolvers<void>();
  const query = async () => {
    await held.promise;
    return { spans: [], next: null };
  };
  const reports = createReports({ db: { query } as never });
  const never = AbortSignal.any([]);
  const read = (tenantId: 'ten_a' | 'ten_b') => {
    const caller = { tenantId, mode: 'live', domainId: null } as const;
    return reports.read(readQuery({ tag: 'a:b' }, caller, spool.clock.now()), never);
  };
  const first = read('ten_a');
  await assert.rejects(read('ten_a'), /Another report by tag is being made/);
  const second = read('ten_b');
  held.resolve();
  assert.deepEqual([await first, await second], [[], []]);
  assert.deepEqual(await read('ten_a'), []);
});

test('many long reports of a tenant leave the reader threads to others, who get theirs in turn', async () => {
  const ended: string[] = [];
  let [running, most] = [0, 0];
  const query = async (_: unknown, { tenantId, after }: { tenantId: string; after: number | null }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    const slice = (after ?? 0) + 1;
    return { spans: [], next: tenantId === 'ten_a' && slice < 5 ? slice : null };
  };
  const reports = createReports({ db: { query } as never });
  const read = async (tenantId: 'ten_a' | 'ten_b') => {
    const caller = { tenantId, mode: 'live', domainId: null } as const;
    await reports.read(readQuery({}, caller, spool.clock.now()), AbortSignal.any([]));
    ended.push(tenantId);
  };
  const long = Array.from({ length: 20 }, () => read('ten_a'));
  await Promise.all([...long, read('ten_b')]);
  assert.deepEqual([most, ended[0]], [2, 'ten_b']);
});

test('a report ends when its caller leaves', async () => {
  const gone = new AbortController();
  let slices = 0;
  const query = async () => {
    slices++;
    gone.abort(new Error('left'));
    return { spans: [], next: 'em_x' };
  };
  const reports = createReports({ db: { query } as never });
  const caller = { tenantId: 'ten_a', mode: 'live', domainId: null } as const;
  await assert.rejects(
    reports.read(readQuery({ tag: 'a:b' }, caller, spool.clock.now()), gone.signal),
    /left/,
  );
  assert.equal(slices, 1);
});
