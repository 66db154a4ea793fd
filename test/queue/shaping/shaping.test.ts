import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { loadConfig } from '../../../src/config/config.ts';
import { providerOfSite } from '../../../src/providers/provider-of-site.ts';
import { NO_REPORT } from '../../../src/queue/outcome/outcome.ts';
import type { ShapedSite } from '../../../src/queue/shaping/limits-of.ts';
import { listMatches, recordMatches } from '../../../src/queue/shaping/matches-store.ts';
import { parseRules } from '../../../src/queue/shaping/parse.ts';
import { deleteRestriction, listRestrictions } from '../../../src/queue/shaping/restrictions-store.ts';
import { RuleTable } from '../../../src/queue/shaping/rule-table.ts';
import { shapedSite } from '../../../src/queue/shaping/shaped-site.ts';
import { isAt, type RefusedMail, Shaping, type ShapingChange } from '../../../src/queue/shaping/shaping.ts';
import { MAX_WINDOWS } from '../../../src/queue/shaping/windows.ts';
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
async function open(
  settings: Record<string, unknown> = {},
  { isRestart = false, isOwn = (_place: string): boolean => true } = {},
) {
  const { app } = testApp;
  // A later write ends when those in the background have.
  await app.db.commit(deleteRestriction, { id: 'none' });
  if (!isRestart) {
    const forgotten = (await listMatches(app.db.read, 0)).map(({ id }) => id);
    await app.db.commit(recordMatches, { windows: [], forgotten, now: 0 });
    for (const { id } of await listRestrictions(app.db.read, 0))
      await app.db.commit(deleteRestriction, { id });
  }
  const counted = { writes: 0 };
  const commitInBackground: typeof app.db.commitInBackground = (write, input) => {
    counted.writes++;
    app.db.commitInBackground(write, input);
  };
  const config = { ...app.config, delivery: { ...app.config.delivery, ...settings } };
  const db = { ...app.db, read: app.db.read, commit: app.db.commit.bind(app.db), commitInBackground };
  const shaping = new Shaping({ ...app, config, db }, { table: RULES }, isOwn);
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

test('a server that is none of a provider slows none of its mail down, whatever else its domain names', async () => {
  const { shaping } = await open();
  const hosts = ['mx.stranger.example', 'mx1.google.com'];
  const mixed: ShapedSite = { key: hosts.join('/'), hosts, relay: null, source: null };
  const limits = shaping.limitsOf(mixed);
  assert.equal(limits.group, null, 'its connections are none of those of the provider');
  for (const site of [mixed, GOOGLE])
    for (let count = 0; count < 2; count++) {
      const [refusal] = refusedBy(mixed, '421 slow').refusals;
      if (refusal) shaping.observe(refusedBy(site, '', { refusals: [refusal] }));
    }
  assert.deepEqual(shaping.restrictionsAt(OTHER_GOOGLE), []);
  assert.equal(shaping.resolve(mixed).connections.value, 1);
});

test('the provider of a site is the same whichever of its hosts have an address', () => {
  const route = (site: string, ...names: string[]) => {
    const hosts = names.map((name) => ({ name, addresses: ['192.0.2.1'] }));
    return shapedSite({
      kind: 'hosts',
      site,
      hosts,
      ttlMs: 0,
      relay: null,
      source: null,
      warmUp: null,
      fullWarmUp: null,
    });
  };
  const key = 'mx1.google.com,mx2.google.com/mx.backup.example dnssec';
  assert.equal(providerOfSite(route(key, 'mx1.google.com')), undefined);
  assert.equal(providerOfSite(route('mx1.google.com,mx2.google.com', 'mx2.google.com'))?.name, 'google');
});

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
  await shaping.stop();
});

test('a transaction counts once for a rule, however many recipients met it', async () => {
  const { shaping } = await open();
  const mail = refusedBy(PLAIN, '421 rest the site');
  shaping.observe({ ...mail, refusals: [...mail.refusals, ...mail.refusals, ...mail.refusals] });
  assert.deepEqual(shaping.restsOf(PLAIN), []);
  await shaping.stop();
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
  await shaping.stop();
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
  await shaping.stop();
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
  await shaping.stop();
});

test('without sources of the operator a rule about the source lets the site rest, for there is no other', async () => {
  const { shaping, changed } = await open();
  shaping.observe(refusedBy(PLAIN, '421 rest the source'));
  assert.equal(shaping.restsOf(PLAIN).length, 1);
  assert.equal(shaping.isSourceResting(PLAIN), false);
  assert.deepEqual(changed, [{ place: PLAIN.key, isAboutSource: false }]);
  await shaping.stop();
});

test('each source has the connections of a provider for itself', async () => {
  const { shaping } = await open();
  assert.deepEqual(shaping.limitsOf(GOOGLE).group, { name: 'google', connections: 20 });
  assert.deepEqual(shaping.limitsOf(SECOND).group, { name: 'google from second', connections: 20 });
  assert.equal(shaping.limitsOf({ ...PLAIN, source: 'second' }).group, null);
  await shaping.stop();
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
  await shaping.stop();
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
  await again.stop();
});

test('after a restart each delivery thread has the restrictions of its own sites and providers alone', async () => {
  const first = await open();
  for (let count = 0; count < 2; count++)
    for (const site of [PLAIN, GOOGLE]) first.shaping.observe(refusedBy(site, '421 rest the site'));
  await first.shaping.stop();
  const places = async (isOwn: (place: string) => boolean) => {
    const { shaping } = await open({}, { isRestart: true, isOwn });
    await shaping.stop();
    return shaping.restrictions.map(({ place }) => place);
  };
  assert.deepEqual((await places(() => true)).toSorted(), [GOOGLE.key, PLAIN.key].toSorted());
  assert.deepEqual(await places((place) => place !== PLAIN.key), [GOOGLE.key]);
  assert.deepEqual(await places((place) => place === PLAIN.key), [PLAIN.key]);
});

test('matches are counted over a restart, and a rest that has ended meanwhile begins again with the first match', async () => {
  const first = await open();
  first.shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  first.shaping.observe(refusedBy(GOOGLE, '421 slow'));
  await first.shaping.stop();
  await clock.advance(5 * MINUTE_MS);
  const second = await open({}, { isRestart: true });
  second.shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  second.shaping.observe(refusedBy(GOOGLE, '421 slow'));
  assert.equal(second.shaping.restsOf(PLAIN).length, 1, 'one match before the restart, and one after it');
  assert.equal(second.shaping.limitsOf(GOOGLE).recipientsPerMinute, 10);
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(second.shaping.restsOf(PLAIN), []);
  await second.shaping.stop();
  const third = await open({}, { isRestart: true });
  third.shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  assert.equal(third.shaping.restsOf(PLAIN).length, 1, 'the rest had ended before the restart');
  await clock.advance(3 * HOUR_MS);
  await third.shaping.stop();
  const fourth = await open({}, { isRestart: true });
  fourth.shaping.observe(refusedBy(PLAIN, '421 rest the site'));
  assert.deepEqual(fourth.shaping.restsOf(PLAIN), [], 'what is long ago counts for nothing');
  await fourth.shaping.stop();
});

test('counts are stored together some seconds later, a clock that is set back makes none longer, and old rows go', async () => {
  const { shaping } = await open();
  const { app } = testApp;
  for (let count = 0; count < 50; count++)
    shaping.observe(refusedBy(PLAIN, '421 rest the site', { tenantId: 'ten_a' }));
  shaping.observe(refusedBy(GOOGLE, '421 slow'));
  assert.deepEqual(await listMatches(app.db.read, 0), []);
  await clock.advance(5_000);
  await shaping.stop();
  const rows = await listMatches(app.db.read, 0);
  assert.deepEqual(
    rows.map(({ rule, place, times, actedAt }) => [rule, place, times.length, actedAt]),
    [
      ['slow', 'provider google', 1, null],
      ['site-rest', PLAIN.key, 0, clock.now() - 5_000],
    ],
  );
  const [slow] = rows;
  assert.ok(slow);
  const ahead = { ...slow, times: [clock.now() + HOUR_MS], staleAt: clock.now() + 2 * HOUR_MS };
  await app.db.commit(recordMatches, { windows: [ahead], forgotten: [], now: clock.now() });
  const { shaping: again } = await open({}, { isRestart: true });
  await clock.advance(10 * MINUTE_MS + 1);
  again.observe(refusedBy(GOOGLE, '421 slow'));
  assert.equal(again.limitsOf(GOOGLE).recipientsPerMinute, null, 'the window of ten minutes is over');
  again.forgetMatches(PLAIN.key);
  await again.stop();
  await app.db.commit(recordMatches, { windows: [], forgotten: [], now: clock.now() + 3 * HOUR_MS });
  assert.deepEqual(await listMatches(app.db.read, 0), []);
});

test('the table of matches is bounded, and those that were met last stay', async () => {
  const { shaping } = await open();
  await shaping.stop();
  const { app } = testApp;
  const windows = Array.from({ length: MAX_WINDOWS + 20 }, (_, index) => ({
    id: `r - - s${index}`,
    rule: 'r',
    place: `s${index}`,
    tenantId: null,
    source: null,
    times: [clock.now()],
    actedAt: null,
    staleAt: clock.now() + HOUR_MS + index,
  }));
  await app.db.commit(recordMatches, { windows, forgotten: [], now: clock.now() });
  const kept = await listMatches(app.db.read, 0);
  assert.equal(kept.length, MAX_WINDOWS);
  assert.deepEqual([kept[0]?.place, kept.at(-1)?.place], ['s20', `s${MAX_WINDOWS + 19}`]);
});

test('the operator has matches at a site forgotten, also for the next start', async () => {
  const { shaping } = await open();
  for (const site of [PLAIN, GOOGLE]) shaping.observe(refusedBy(site, '421 rest the site'));
  shaping.observe(refusedBy(GOOGLE, '421 slow'));
  await clock.advance(5_000);
  shaping.forgetMatches(GOOGLE.key);
  await shaping.stop();
  const { shaping: again } = await open({}, { isRestart: true });
  for (const site of [PLAIN, GOOGLE]) again.observe(refusedBy(site, '421 rest the site'));
  again.observe(refusedBy(GOOGLE, '421 slow'));
  assert.equal(again.restsOf(PLAIN).length, 1);
  assert.deepEqual(again.restrictionsAt(GOOGLE), []);
  await again.stop();
});

test('the operator ends a restriction before its time, also for the next start', async () => {
  const { shaping, changes } = await open();
  shaping.observe(refusedBy(PLAIN, '421 rest the tenant'));
  const [{ id } = { id: '' }] = shaping.restrictionsAt(PLAIN);
  assert.equal(await shaping.lift(id), true);
  assert.equal(await shaping.lift(id), false);
  assert.equal(changes(), 2);
  await shaping.stop();
  const { shaping: again } = await open({}, { isRestart: true });
  assert.equal(
    again.restrictions.some((one) => one.id === id),
    false,
  );
  await again.stop();
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
  await shaping.stop();
});
