/** Tests of the owners of tracking hosts: who has one first, and what a deletion, a lapse and a new owner of the domain change. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type Sqlite from 'better-sqlite3';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Verdict } from '../../src/domains/check.ts';
import { GRACE_MS, newFinding } from '../../src/domains/states.ts';
import { type Domain, endDomain, recordCheck } from '../../src/domains/store.ts';
import {
  findTrackingHost,
  listTrackingHosts,
  MAX_TRACKING_HOSTS,
} from '../../src/domains/tracking-host-store.ts';
import { updateDomain } from '../../src/domains/writes.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openPreviousDatabase } from '../support/previous-version.ts';
import { openTestApp } from '../support/test-app.ts';
import { addDomain } from './fixtures.ts';

const START = 1_800_000_000_000;
const world = await openTestApp({ system: { clock: createFakeClock(START) } });
after(() => world.close());
const { db } = world.app;

let tenants = 0;
/** Adds a domain of a new tenant, with a tracking host. */
async function add(name: string, trackingSubdomain: string): Promise<Domain> {
  const { tenantId } = await world.addTenant(`owner ${++tenants}`);
  const findings = { SPF: newFinding(), DKIM: newFinding(), DMARC: newFinding() };
  return addDomain(
    { ...world, tenantId },
    {
      ...{ id: `dom_${String(tenants).padStart(26, '0')}`, name, trackingSubdomain },
      findings: { ...findings, RETURN_PATH: newFinding(), MX: newFinding(), TRACKING: newFinding() },
    },
  );
}

const right: Verdict = { kind: 'verified', found: [] };
const absent: Verdict = { kind: 'absent', found: [], error: 'absent' };
async function check({ id, tenantId, trackingSubdomain: host }: Domain, now: number, isRight = true) {
  const verdict = isRight ? right : absent;
  const verdicts = {
    ...{ SPF: verdict, DKIM: verdict, DMARC: verdict, returnPath: null, mx: absent },
    tracking: host === null ? null : { host, verdict: right },
  };
  const checked = await db.commit(recordCheck, { id, tenantId, verdicts, now, isAsked: true, spread: 0 });
  return checked?.domain;
}

const ownerOf = async (host: string, now: number) => (await findTrackingHost(db.read, host, now))?.domainId;
const storedHostOf = async ({ id }: Domain) =>
  (await db.read.selectFrom('domains').select('trackingHost').where('id', '=', id).executeTakeFirst())
    ?.trackingHost;

test('a tracking host belongs to the tenant that verified it first, and goes to the next one when the domain is deleted', async () => {
  const host = 'links.shared.example';
  const [first, second] = [await add('shared.example', host), await add('shared.example', host)];
  await check(first, START);
  await check(second, START + 1);
  assert.equal(await ownerOf(host, START + 2), first.id);
  assert.deepEqual([await storedHostOf(first), await storedHostOf(second)], [host, null]);

  await db.commit(endDomain, { id: first.id, tenantId: first.tenantId, now: START + 3 });
  assert.equal(await ownerOf(host, START + 4), second.id);
  await check(second, START + 5);
  assert.equal(await storedHostOf(second), host);
  await db.commit(endDomain, { id: second.id, tenantId: second.tenantId, now: START + 6 });
  assert.equal(await ownerOf(host, START + 7), undefined);
  assert.deepEqual(await listTrackingHosts(db.read, START + 7), []);
});

test('a host below the domains of two tenants stays with the domain that had it first', async () => {
  const host = 'links.news.nested.example';
  const below = await add('news.nested.example', host);
  const above = await add('nested.example', host);
  await check({ ...above, trackingSubdomain: null }, START);
  await check(below, START + 1);
  await check(above, START + 2);
  assert.equal(await ownerOf(host, START + 3), below.id);
});

test('a lapsed domain keeps its host until another tenant has the domain, even one without a tracking host', async () => {
  const host = 'links.lapsed.example';
  const first = await add('lapsed.example', host);
  await check(first, START);
  await check(first, START + 1, false);
  const lapsedAt = START + 1 + GRACE_MS;
  assert.deepEqual(await findTrackingHost(db.read, host, lapsedAt), {
    ...{ host, domainId: first.id, tenantId: first.tenantId, isVerified: false },
  });
  const heir = await add('lapsed.example', 'other.lapsed.example');
  await check({ ...heir, trackingSubdomain: null }, lapsedAt);
  assert.equal(await ownerOf(host, lapsedAt + 1), undefined);
  await check(first, lapsedAt + 2);
  assert.equal(await storedHostOf(first), null);
});

test('a domain keeps a bounded number of hosts that it has had, the latest ones', async () => {
  const domain = await add('many.example', 'links-0.many.example');
  await check(domain, START);
  const { id, tenantId } = domain;
  const hosts = Array.from({ length: MAX_TRACKING_HOSTS + 2 }, (_, index) => `links-${index}.many.example`);
  for (const [index, trackingSubdomain] of hosts.entries()) {
    const change = { trackingSubdomain };
    const changed = await db.commit(updateDomain, {
      ...{ id, tenantId, change, ed25519: undefined },
      ...{ now: START + index, spread: 0 },
    });
    await check(changed, START + index);
  }
  const kept = (await listTrackingHosts(db.read, START + 100)).map(({ host }) => host);
  assert.deepEqual(
    kept.filter((host) => host.endsWith('.many.example')).toSorted(),
    hosts.slice(2).toSorted(),
  );
});

test('hosts of an earlier version go to the domain of their tenant, and those of deleted domains go', () => {
  const database: Sqlite.Database = openPreviousDatabase();
  const [domain] = database
    .prepare<[], { id: string; tenantId: string; name: string }>(
      'SELECT id, tenantId, name FROM domains WHERE deletedAt IS NULL ORDER BY id',
    )
    .all();
  assert.ok(domain);
  const insert = database.prepare('INSERT INTO trackingHosts (host, tenantId) VALUES (?, ?)');
  insert.run(`old.${domain.name}`, domain.tenantId);
  insert.run('old.gone.example', domain.tenantId);
  insert.run(`x${domain.name}`, domain.tenantId);
  migrate(database, 0, MAIN_SCHEMA);
  const read = database.prepare('SELECT host, domainId FROM trackingHosts WHERE host LIKE ?');
  assert.deepEqual(read.all('old.%'), [{ host: `old.${domain.name}`, domainId: domain.id }]);
  assert.deepEqual(read.all(`x${domain.name}`), []);
  database.close();
});
