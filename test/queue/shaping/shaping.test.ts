import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadConfig } from '../../../src/config/config.ts';
import { NO_REPORT } from '../../../src/queue/outcome/outcome.ts';
import type { ShapedSite } from '../../../src/queue/shaping/limits-of.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { deleteRestriction, listRestrictions } from '../../../src/queue/shaping/restrictions-store.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { isAt, type RefusedMail, Shaping, type ShapingChange } from '../../../src/queue/shaping/shaping.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

const RULES = new RuleTable(
  parseRules(`rules:
  - { id: site-rest, text: rest the site, matches: 2, within: 1h, on: site, rest: true, for: 2h, source: a test }
  - { id: slow, text: slow, matches: 2, within: 10m, on: provider, lower: { connections: 1, recipientsPerMinute: 10 }, for: 30m, source: a test }
  - { id: tenant-rest, text: rest the tenant, matches: 1, within: 1h, on: tenant, rest: true, for: 1h, source: a test }
  - { id: source-rest, text: rest the source, matches: 1, within: 1h, on: source, rest: true, for: 1h, source: a test }`),
);

const GOOGLE: ShapedSite = { key: 'mx1.google.com', hosts: ['mx1.google.com'], relay: null, source: null };
const OTHER_GOOGLE: ShapedSite = {
  key: 'mx2.google.com',
  hosts: ['mx2.google.com'],
  relay: null,
  source: null,
};
const SECOND: ShapedSite = { ...GOOGLE, key: 'mx1.google.com from second 1', source: 'second' };
const PLAIN: ShapedSite = { key: 'mx.rcpt.example', hosts: ['mx.rcpt.example'], relay: null, source: null };

/** Opens shaping over the database of the tests. `writes` counts the restrictions that are written. */
async function open(settings: Record<string, unknown> = {}, { isRestart = false } = {}) {
  const { app } = testApp;
  // A later write ends when those in the background have.
  await app.db.commit(deleteRestriction, { id: 'none' });
  if (!isRestart)
    for (const { id } of await listRestrictions(app.db.read, 0))
      await app.db.commit(deleteRestriction, { id });
  const counted = { writes: 0 };
  const commitInBackground: typeof app.db.commitInBackground = (write, input) => {
    counted.writes++;
    app.db.commitInBackground(write, input);
  };
  const config = { ...app.config, delivery: { ...app.config.delivery, ...settings } };
  const db = { ...app.db, read: app.db.read, commit: app.db.commit.bind(app.db), commitInBackground };
  const shaping = new Shaping({ ...app, config, db }, { table: RULES });
  await shaping.ready;
  for (const site of [GOOGLE, OTHER_GOOGLE, PLAIN, SECOND]) shaping.limitsOf(site);
  const changes: ShapingChange[] = [];
  shaping.listen((change) => void changes.push(change));
  return { shaping, counted, changes: () => changes.length, changed: changes };
}

const refusedBy = (site: ShapedSite, text: string, part: Partial<RefusedMail> = {}): RefusedMail => {
  const report = { ...NO_REPORT, phase: 'rcpt', mx: site.hosts[0] ?? null, smtpCode: 421, text } as const;
  return {
    site: site.key,
    tenantId: 'ten_a',
    refusals: [{ report, class: 'rate', ownNames: [] }],
    ...part,
  };
};

test('the second match within the window lets the site rest, and one outside of it does not', async () => {
  const { shaping } = await open();
  shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  await clock.advance(HOUR_MS + 1);
  shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  assert.deepEqual(shaping.restsOf(PLAIN), []);
  await clock.advance(MINUTE_MS);
  shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  const until = clock.elapsed() + 2 * HOUR_MS;
  assert.deepEqual(shaping.restsOf(PLAIN), [
    { tenantId: null, until, reason: 'site-rest: 421 rest the site' },
  ]);
  assert.deepEqual(shaping.restsOf(GOOGLE), [], 'no other site rests');
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(shaping.restsOf(PLAIN), []);
  shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  assert.equal(shaping.restsOf(PLAIN).length, 1, 'the message that tries renews the rest');
  shaping.stop();
});

test('a transaction counts once for a rule, however many recipients met it', async () => {
  const { shaping } = await open();
  const mail = refusedBy(PLAIN, '421 rest the site');
  shaping.observe({ ...mail, refusals: [...mail.refusals, ...mail.refusals, ...mail.refusals] });
  assert.deepEqual(shaping.restsOf(PLAIN), []);
  shaping.stop();
});

test('a rule about a provider lowers the limits of all its sites until its end', async () => {
  const { shaping, changes } = await open();
  for (let count = 0; count < 2; count++) shaping.observe(refusedBy(GOOGLE, '421 slow'));
  assert.equal(changes(), 1);
  const slowed = {
    connections: 1,
    connectionsPerMinute: null,
    recipientsPerMinute: 10,
    messagesPerConnection: 50,
    group: { name: 'google', connections: 1 },
  };
  for (const site of [GOOGLE, OTHER_GOOGLE]) assert.deepEqual(shaping.limitsOf(site), slowed);
  assert.equal(shaping.limitsOf(PLAIN).recipientsPerMinute, null);
  assert.deepEqual(shaping.resolve(GOOGLE).recipientsPerMinute, {
    value: 10,
    origin: { kind: 'rule', name: 'slow', until: clock.now() + 30 * MINUTE_MS },
  });
  await clock.advance(30 * MINUTE_MS);
  assert.equal(changes(), 2);
  assert.equal(shaping.limitsOf(GOOGLE).connections, 5);
  shaping.stop();
});

test('a tenant rests at the site alone, and a source at its provider alone', async () => {
  const { shaping } = await open();
  shaping.observe(refusedBy(GOOGLE, '421 rest the tenant', { tenantId: 'ten_b' }));
  assert.deepEqual(
    shaping.restsOf(GOOGLE).map(({ tenantId }) => tenantId),
    ['ten_b'],
  );
  assert.deepEqual(shaping.restsOf(OTHER_GOOGLE), []);
  shaping.observe(refusedBy(SECOND, '421 rest the source'));
  assert.deepEqual(
    shaping.restsOf({ ...OTHER_GOOGLE, source: 'second' }).map(({ tenantId }) => tenantId),
    [null],
  );
  assert.deepEqual(shaping.restsOf({ ...OTHER_GOOGLE, source: 'first' }), []);
  assert.deepEqual(shaping.restsOf({ ...PLAIN, source: 'second' }), []);
  shaping.stop();
});

test('only the places of a change are named, once for a limit that stays lowered, and a source that rests is said to', async () => {
  const { shaping, changed } = await open();
  for (let count = 0; count < 10; count++) shaping.observe(refusedBy(GOOGLE, '421 slow'));
  assert.deepEqual(changed, [{ place: 'provider google', isAboutSource: false }]);
  assert.deepEqual(
    [GOOGLE, OTHER_GOOGLE, SECOND, PLAIN].map((site) => isAt(site, 'provider google')),
    [true, true, true, false],
  );
  shaping.observe(refusedBy(SECOND, '421 rest the source'));
  assert.deepEqual(changed.at(-1), { place: 'provider google', isAboutSource: true });
  assert.deepEqual(
    [SECOND, GOOGLE, PLAIN].map((site) => shaping.isSourceResting(site)),
    [true, false, false],
  );
  shaping.observe(refusedBy(SECOND, '421 rest the source'));
  assert.deepEqual(changed.at(-1), { place: 'provider google', isAboutSource: false }, 'its rest is longer');
  await clock.advance(HOUR_MS);
  assert.deepEqual(changed.at(-1), { place: 'provider google', isAboutSource: true });
  shaping.stop();
});

test('without sources of the operator a rule about the source lets the site rest, for there is no other', async () => {
  const { shaping, changed } = await open();
  shaping.observe(refusedBy(PLAIN, '421 rest the source'));
  assert.equal(shaping.restsOf(PLAIN).length, 1);
  assert.equal(shaping.isSourceResting(PLAIN), false);
  assert.deepEqual(changed, [{ place: PLAIN.key, isAboutSource: false }]);
  shaping.stop();
});

test('each source has the connections of a provider for itself', async () => {
  const { shaping } = await open();
  assert.deepEqual(shaping.limitsOf(GOOGLE).group, { name: 'google', connections: 20 });
  assert.deepEqual(shaping.limitsOf(SECOND).group, { name: 'google from second', connections: 20 });
  assert.equal(shaping.limitsOf({ ...PLAIN, source: 'second' }).group, null);
  shaping.stop();
});

test('what is in force survives a restart, and is written only when it begins or has grown', async () => {
  const { shaping, counted } = await open();
  for (let count = 0; count < 2; count++) shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  for (let count = 0; count < 100; count++) {
    await clock.advance(1_000);
    shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  }
  assert.equal(counted.writes, 1);
  const [rest] = shaping.restrictionsAt(PLAIN);
  shaping.stop();
  await clock.advance(HOUR_MS);
  const { shaping: again } = await open({}, { isRestart: true });
  const [restored] = again.restrictionsAt(PLAIN);
  assert.equal(restored?.rule, 'site-rest');
  assert.ok((restored?.until ?? 0) <= (rest?.until ?? 0));
  const [{ until } = { until: 0 }] = again.restsOf(PLAIN);
  assert.equal(until, clock.elapsed() + (restored?.until ?? 0) - clock.now());
  await clock.advance(until - clock.elapsed());
  assert.deepEqual(again.restsOf(PLAIN), []);
  again.observe(refusedBy(PLAIN, '421 rest the site'));
  assert.equal(
    again.restsOf(PLAIN).length,
    1,
    'the first message after a restart that meets the rule renews the rest',
  );
  again.stop();
});

test('the operator ends a restriction before its time, also for the next start', async () => {
  const { shaping, changes } = await open();
  shaping.observe(refusedBy(PLAIN, '421 rest the tenant'));
  const [{ id } = { id: '' }] = shaping.restrictionsAt(PLAIN);
  assert.equal(await shaping.lift(id), true);
  assert.equal(await shaping.lift(id), false);
  assert.equal(changes(), 2);
  shaping.stop();
  const { shaping: again } = await open({}, { isRestart: true });
  assert.equal(
    again.restrictions.some((one) => one.id === id),
    false,
  );
  again.stop();
});

test('the operator comes before the table of providers, and what was learned below both', async () => {
  const { shaping } = await open({
    connectionsPerSite: 4,
    limits: loadConfig({ env: {} }).delivery.limits.concat([
      { provider: 'google', providerConnections: 8, messagesPerConnection: 200 },
      { host: 'mx2.google.com', connections: 7, recipientsPerMinute: 5 },
    ]),
  });
  const limits = shaping.resolve(GOOGLE);
  assert.deepEqual(limits.connections, {
    value: 4,
    origin: { kind: 'setting', name: 'delivery.connectionsPerSite' },
  });
  assert.deepEqual(limits.providerConnections, {
    value: 8,
    origin: { kind: 'setting', name: 'delivery.limits (google)' },
  });
  assert.deepEqual(limits.connectionsPerMinute, { value: null, origin: { kind: 'default' } });
  assert.deepEqual(shaping.resolve(OTHER_GOOGLE).connections, {
    value: 7,
    origin: { kind: 'setting', name: 'delivery.limits (mx2.google.com)' },
  });
  assert.equal(shaping.resolve(OTHER_GOOGLE).messagesPerConnection.value, 200);
  const relay = { route: 'provider', connections: 9, recipientsPerMinute: null };
  const relayed = shaping.resolve({ ...GOOGLE, key: 'relay provider', relay });
  assert.deepEqual(relayed.connections, { value: 9, origin: { kind: 'route', name: 'provider' } });
  assert.equal(relayed.providerConnections.value, null, 'a relay at a provider is no site of it');
  for (let count = 0; count < 2; count++) shaping.observe(refusedBy(OTHER_GOOGLE, '421 slow'));
  assert.equal(shaping.resolve(OTHER_GOOGLE).recipientsPerMinute.value, 5, 'a rule raises no limit');
  assert.equal(shaping.resolve(OTHER_GOOGLE).connections.value, 1);
  shaping.stop();
});
