import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { DataTableError } from '../../../src/config/data-table.ts';
import type { ConfiguredSource } from '../../../src/config/sources.ts';
import { listSources } from '../../../src/queue/sources/list.ts';
import { Sources } from '../../../src/queue/sources/sources.ts';
import { capOn, lengthOf, packagedCurves, parseCurves } from '../../../src/queue/sources/warm-up/curves.ts';
import { beginWarmUp, endWarmUp } from '../../../src/queue/sources/warm-up/operate.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { setFirstAttempts } from '../../support/warm-ups.ts';

const closing = closeAfterTests();
const clock = createFakeClock(Date.parse('2026-03-01T22:00:00.000Z'));
const testApp = closing(await openTestApp({ system: { clock } }));
const { app: opened } = testApp;

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

/** Forgets what earlier tests have counted. */
beforeEach(async () => {
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

/** Sets what has left for a provider today. */
const setSent = (firstAttempts: number, provider = 'google') =>
  setFirstAttempts(testApp, {
    source: 'cold',
    provider,
    day: Math.floor(clock.now() / DAY_MS),
    firstAttempts,
  });

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
  setSent(49);
  assert.equal(await nameFor(), 'cold');
  setSent(50);
  assert.equal(await nameFor(), 'warm');
  await clock.advance(2 * 3_600_000);
  assert.equal(await nameFor(), 'cold', 'the next day begins at midnight UTC');
});

test('each provider has a number of its own, and only retries leave until the next day when no source of the pool takes more', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  assert.equal(await choose(sources), 'cold');
  setSent(50);
  const nextDay = (Math.floor(clock.now() / DAY_MS) + 1) * DAY_MS;
  assert.deepEqual(await choose(sources), {
    until: nextDay,
    reason:
      'all sources of the pool "all" have sent as many first attempts as their warm-up allows for today',
  });
  assert.equal(await choose(sources, SMALL), 'cold');
  const [shown] = await listSources(alone);
  assert.equal(shown?.warmUp?.day, 1);
  assert.deepEqual(
    shown?.warmUp?.providers.find(({ provider }) => provider === 'google'),
    { provider: 'google', firstAttempts: 50, cap: 50 },
  );
});

test('the last fifth of a day is left to transactional mail', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold');
  setSent(39);
  assert.equal(await choose(sources, GOOGLE, 'broadcast'), 'cold');
  setSent(40);
  assert.notEqual(await choose(sources, GOOGLE, 'broadcast'), 'cold');
  assert.equal(await choose(sources), 'cold');
});

test('a source is warm after the last day of its curve, and as soon as the operator ends its warm-up', async () => {
  const sources = new Sources(alone);
  await beginWarmUp(alone, 'cold', 'careful');
  setSent(20);
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
