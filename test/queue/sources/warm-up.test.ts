import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DataTableError } from '../../../src/config/data-table.ts';
import type { ConfiguredSource } from '../../../src/config/sources.ts';
import { listSources } from '../../../src/queue/sources/list.ts';
import type { Source } from '../../../src/queue/sources/source.ts';
import { Sources } from '../../../src/queue/sources/sources.ts';
import { capOn, lengthOf, packagedCurves, parseCurves } from '../../../src/queue/sources/warm-up/curves.ts';
import { beginWarmUp, endWarmUp } from '../../../src/queue/sources/warm-up/operate.ts';
import { addFirstAttempts } from '../../../src/queue/sources/warm-up/store.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { createLog } from '../../../src/system/log.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { waitUntil } from '../../support/wait-until.ts';

const closing = closeAfterTests();
const clock = createFakeClock(Date.parse('2026-03-01T22:00:00.000Z'));
const { app: opened } = closing(await openTestApp({ system: { clock } }));

const GOOGLE = [{ name: 'aspmx.l.google.com', addresses: ['192.0.2.25'] }];
const SMALL = [{ name: 'mx.small.example', addresses: ['192.0.2.26'] }];

const configured: ConfiguredSource[] = [
  { name: 'cold', addresses: ['192.0.2.1'] },
  { name: 'warm', addresses: ['192.0.2.2'] },
];
const appWith = (sources: ConfiguredSource[]) => ({
  ...opened,
  config: { ...opened.config, outbound: { ...opened.config.outbound, sources } },
});
const app = appWith(configured);
const alone = appWith(configured.slice(0, 1));

/** Stores what earlier tests have counted, and forgets it. */
beforeEach(async () => {
  await clock.advance(1_000);
  await endWarmUp(app, 'cold').catch(() => {});
});

/** Returns the choice for a queue that prefers the cold source. */
async function choose(
  sources: Sources,
  hosts = GOOGLE,
  kind: 'transactional' | 'broadcast' = 'transactional',
) {
  const queue = { mode: 'live', kind, tenantId: 'ten_1', domain: 'd2.example', target: undefined } as const;
  const choice = await sources.choose(queue, hosts);
  if (choice.kind !== 'hosts') return choice;
  return choice.fullWarmUp ?? choice.source?.name;
}

const COLD: Source = {
  name: 'cold',
  addresses: ['192.0.2.1'],
  ehlo: 'mx.postrider.example',
  ipv6: 'proven',
  way: { kind: 'address' },
};
const first = (count: number) => Array.from({ length: count }, () => ({ attempts: 1 }));

test('a source that is warmed up takes the first attempts of its day, and warm sources of its pool take the others', async () => {
  const sources = new Sources(app);
  const queues = Array.from({ length: 8 }, (_, index) => `d${index}.example`);
  const chosen = await Promise.all(
    queues.map(async (domain) => {
      const queue = {
        mode: 'live',
        kind: 'transactional',
        tenantId: 'ten_1',
        domain,
        target: undefined,
      } as const;
      const choice = await sources.choose(queue, GOOGLE);
      return choice.kind === 'hosts' ? choice.source?.name : undefined;
    }),
  );
  const domain = queues[chosen.indexOf('cold')] ?? '';
  const queue = {
    mode: 'live',
    kind: 'transactional',
    tenantId: 'ten_1',
    domain,
    target: undefined,
  } as const;
  const nameFor = async () => {
    const choice = await sources.choose(queue, GOOGLE);
    return choice.kind === 'hosts' ? choice.source?.name : choice.kind;
  };
  await beginWarmUp(app, 'cold');
  assert.equal(await nameFor(), 'cold');
  sources.countSent(COLD, 'aspmx.l.google.com', first(49));
  assert.equal(await nameFor(), 'cold');
  let routed = 0;
  const end = app.wakeups.listen('outbound-routes', () => routed++);
  sources.countSent(COLD, 'alt1.aspmx.l.google.com', first(1));
  end();
  assert.equal(routed, 1, 'queues are routed again at once');
  assert.equal(await nameFor(), 'warm');
  await clock.advance(2 * 3_600_000);
  assert.equal(await nameFor(), 'cold', 'the next day begins at midnight UTC');
});

test('retries are not counted, and each provider has a number of its own', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  assert.equal(await choose(sources), 'cold');
  sources.countSent(COLD, 'aspmx.l.google.com', [{ attempts: 2 }, ...first(49), { attempts: 7 }]);
  assert.equal(await choose(sources), 'cold');
  sources.countSent(COLD, 'aspmx.l.google.com', first(1));
  assert.notEqual(await choose(sources), 'cold');
  assert.equal(await choose(sources, SMALL), 'cold');
  const [shown] = await listSources(alone);
  assert.equal(shown?.warmUp?.day, 1);
});

test('transactional mail waits last, and only retries leave until the next day when no source of the pool takes more', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  assert.equal(await choose(sources, GOOGLE, 'broadcast'), 'cold');
  let routed = 0;
  const end = app.wakeups.listen('outbound-routes', () => routed++);
  sources.countSent(COLD, 'aspmx.l.google.com', first(40));
  end();
  assert.equal(routed, 1, 'queues are routed again when the part of broadcasts is used up');
  assert.notEqual(await choose(sources, GOOGLE, 'broadcast'), 'cold');
  assert.equal(await choose(sources, GOOGLE), 'cold');
  sources.countSent(COLD, 'aspmx.l.google.com', first(10));
  const nextDay = (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS;
  assert.deepEqual(await choose(sources), {
    until: nextDay,
    reason:
      'all sources of the pool "all" have sent as many first attempts as their warm-up allows for today',
  });
});

test('what was sent is stored together, and a restart knows it', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  await choose(sources);
  for (let sent = 0; sent < 50; sent++) sources.countSent(COLD, 'aspmx.l.google.com', first(1));
  const sentToday = async () =>
    (await listSources(alone))[0]?.warmUp?.providers.find(({ provider }) => provider === 'google')
      ?.firstAttempts;
  assert.notEqual(await choose(sources), 'cold');
  assert.equal(await sentToday(), undefined, 'nothing is stored for each message');
  await clock.advance(1_000);
  await waitUntil(async () => (await sentToday()) === 50);
  assert.notEqual(await choose(new Sources(alone)), 'cold');
});

test('a stop stores what was counted, and counts go on after the clock was set back by a day', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  const [sent, today] = [20, Math.floor(clock.now() / DAY_MS)];
  await alone.db.commit(addFirstAttempts, {
    counts: [{ source: 'cold', provider: 'google', day: today + 1, firstAttempts: 5 }],
  });
  await choose(sources);
  sources.countSent(COLD, 'aspmx.l.google.com', first(sent));
  await sources.stop();
  const [shown] = await listSources(alone);
  assert.equal(shown?.warmUp?.providers.find(({ provider }) => provider === 'google')?.firstAttempts, sent);
});

test('counts that cannot be stored, because the disk is full, are stored later', async () => {
  let isFull = true;
  const commit: typeof alone.db.commit = async (write, input) => {
    if (isFull) throw new Error('The disk is full');
    return alone.db.commit(write, input);
  };
  const sources = new Sources({
    ...alone,
    log: createLog('silent'),
    db: { ...alone.db, read: alone.db.read, commit },
  });
  await beginWarmUp(alone, 'cold');
  await choose(sources);
  sources.countSent(COLD, 'aspmx.l.google.com', first(30));
  await clock.advance(1_000);
  sources.countSent(COLD, 'aspmx.l.google.com', first(20));
  assert.notEqual(await choose(sources), 'cold');
  isFull = false;
  await clock.advance(1_000);
  const sentToday = async () =>
    (await listSources(alone))[0]?.warmUp?.providers.find(({ provider }) => provider === 'google')
      ?.firstAttempts;
  await waitUntil(async () => (await sentToday()) === 50);
});

test('delivery threads divide the number of the day of receivers that all of them send to, and whatever each does, it is not exceeded', async () => {
  await beginWarmUp(alone, 'cold');
  const [one, other] = [new Sources(alone, 2), new Sources(alone, 2)];
  /** Sends single first attempts until the source takes no more, and returns their number. */
  const exhaust = async (sources: Sources, hosts: typeof SMALL, most = 1_000) => {
    let sent = 0;
    while (sent < most && (await choose(sources, hosts)) === 'cold') {
      sources.countSent(COLD, hosts[0]?.name ?? '', first(1));
      sent++;
    }
    return sent;
  };
  const [shown] = await listSources(alone);
  const cap = shown?.warmUp?.providers.find(({ provider }) => provider === 'other')?.cap ?? 0;
  assert.equal(await exhaust(one, SMALL, 10), 10);
  await one.stop();
  const restarted = new Sources(alone, 2);
  const [rest, its] = [await exhaust(one, SMALL), await exhaust(restarted, SMALL)];
  assert.equal(rest, cap / 2 - 10, 'its half');
  assert.equal(its, Math.floor((cap - 10) / 2), 'half of what was left when it began');
  assert.equal(await exhaust(other, GOOGLE), cap, 'a provider is served by one thread');
});

test('a source is warm after the last day of its curve, and as soon as the operator ends its warm-up', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold', 'careful');
  await choose(sources);
  sources.countSent(COLD, 'aspmx.l.google.com', first(20));
  assert.notEqual(await choose(sources), 'cold');
  await endWarmUp(alone, 'cold');
  assert.equal(await choose(sources), 'cold');
  await assert.rejects(endWarmUp(alone, 'cold'), { code: 'not_found' });
  await assert.rejects(beginWarmUp(alone, 'other'), { code: 'not_found' });
  await assert.rejects(beginWarmUp(alone, 'cold', 'steep'), {
    code: 'validation_error',
    message: '`curve` must be one of standard, careful',
  });
});

test('the curves that come with the program rise, and end', () => {
  for (const curve of packagedCurves().values()) {
    for (const days of [curve.days, ...Object.values(curve.providers ?? {})])
      for (const [index, cap] of days.entries())
        assert.ok(cap > (days[index - 1] ?? 0), `${curve.name} ${index}`);
    assert.equal(capOn(curve, 'google', lengthOf(curve)), undefined);
    assert.equal(capOn(curve, '__proto__', 0), curve.days[0]);
  }
});

test('a table of curves that cannot be right is refused, and its row is named', () => {
  const refused = (yaml: string, reason: RegExp) =>
    assert.throws(
      () => parseCurves(yaml),
      (error) => error instanceof DataTableError && reason.test(error.message),
    );
  refused('curves: [{ name: a, days: [], origin: x }]', /row "a": days/);
  refused('curves: [{ name: a, days: [0], origin: x }]', /row "a": days/);
  refused('curves: [{ name: a, days: [1] }]', /origin/);
  refused(
    'curves: [{ name: a, days: [1], origin: x }, { name: a, days: [2], origin: x }]',
    /another row has the same name/,
  );
  refused(
    'curves: [{ name: a, days: [1], providers: { nobody: [1] }, origin: x }]',
    /has no provider nobody/,
  );
});
