import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { findSealedKeys } from '../../src/domains/sending-store.ts';
import { setupLogPath } from '../../src/domains/set-up.ts';
import { endDomain, getDomain, purgeDomains } from '../../src/domains/store.ts';
import { verifyDomain } from '../../src/domains/verify.ts';
import { createDomainCheckKind, createDomainSweep } from '../../src/domains/worker.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { fanOutEvents } from '../../src/webhooks/fan-out.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { leaseTasksOf, runDueTasks } from '../support/tasks.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ZoneDns, zoneDns } from '../support/zone-dns.ts';
import { addDomain, zoneOfDomain } from './fixtures.ts';
import { scheduleMail } from './mail.ts';

const START = Date.parse('2026-05-01T10:00:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type World = { t: TestApp; dns: ZoneDns; clock: FakeClock };

const opened: TestApp[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

/** A database of its own, so that nothing but the test's domains falls due. */
async function openWorld(): Promise<World> {
  const clock = createFakeClock(START);
  const dns = zoneDns('');
  const t = await openTestApp({ system: { clock, dns, random: () => 0 } });
  opened.push(t);
  return { t, dns, clock };
}

const create = async ({ t }: World, name: string) => {
  const { body } = await t.request('POST', '/v1/domains', { body: { name } });
  return getDomain(t.app.db.read, t.tenantId, body.id);
};
const status = async ({ t }: World, id: string) => (await getDomain(t.app.db.read, t.tenantId, id)).status;

/** Runs everything due now; answers how many checks ran. */
async function runDue({ t }: World): Promise<number> {
  return (await runDueTasks(t.app, createDomainCheckKind(t.app))).length;
}

async function events({ t }: World) {
  const rows = await t.app.db.read
    .selectFrom('events')
    .selectAll()
    .orderBy('createdAt')
    .orderBy('mode')
    .execute();
  return rows.map(({ type, mode, tenantId, emailId, data }) => ({
    ...{ type, mode, tenantId, emailId, data: JSON.parse(data) },
  }));
}

test('nothing looks up the records of a new domain while a set-up runs, and the checks begin once it has ended', async (context) => {
  const world = await openWorld();
  const { t, clock, dns } = world;
  const { id } = await create(world, 'setup.example');
  const lookUp = context.mock.method(dns.fresh, 'txt');
  const log = setupLogPath(t.dataDir);
  writeFileSync(log, '');
  const markLog = () => utimesSync(log, clock.now() / 1_000, clock.now() / 1_000);
  for (let minute = 0; minute < 10; minute++) {
    await clock.advance(MINUTE_MS);
    markLog();
    await runDue(world);
  }
  assert.equal(lookUp.mock.callCount(), 0);
  const domain = await getDomain(t.app.db.read, t.tenantId, id);
  dns.setZone(zoneOfDomain(domain));
  await clock.advance(2 * MINUTE_MS);
  assert.equal(await runDue(world), 1);
  assert.equal(await status(world, id), 'verified');

  // A verified domain is checked as ever: its records have been there.
  lookUp.mock.resetCalls();
  await clock.advance(DAY_MS);
  markLog();
  assert.equal(await runDue(world), 1);
  assert.notEqual(lookUp.mock.callCount(), 0);
});

test('a domain that is never published is looked for to the end of 72 hours, then has failed, and rests', async () => {
  const world = await openWorld();
  const { id } = await create(world, 'never.example');
  assert.equal(await runDue(world), 0);
  const times: number[] = [];
  const nextCheck = async () => (await getDomain(world.t.app.db.read, world.t.tenantId, id)).nextCheckAt;
  for (let due = await nextCheck(); due !== null; due = await nextCheck()) {
    await world.clock.advance(due - world.clock.now());
    assert.equal(await runDue(world), 1);
    times.push(due - START);
    assert.ok(times.length < 1_000);
  }
  assert.deepEqual(times.slice(0, 3), [5 * MINUTE_MS, 10 * MINUTE_MS, 15 * MINUTE_MS]);
  assert.deepEqual(times.slice(11, 13), [HOUR_MS, HOUR_MS + 30 * MINUTE_MS]);
  assert.equal(times.at(-1), 72 * HOUR_MS);
  assert.equal(await status(world, id), 'failed');
  await world.clock.advance(1_000 * DAY_MS);
  assert.equal(await runDue(world), 0);
  await world.t.request('POST', `/v1/domains/${id}/verify`);
  assert.equal(await status(world, id), 'pending');
  await world.clock.advance(5 * MINUTE_MS);
  assert.equal(await runDue(world), 1);
});

test('a published domain is found by itself, looked at daily, and lapses and heals by itself', async () => {
  const world = await openWorld();
  const domain = await create(world, 'self.example');
  world.dns.setZone(zoneOfDomain(domain));
  await world.clock.advance(5 * MINUTE_MS);
  await runDue(world);
  assert.equal(await status(world, domain.id), 'verified');
  await world.clock.advance(DAY_MS - 1);
  assert.equal(await runDue(world), 0);
  await world.clock.advance(1);
  world.dns.setZone(zoneOfDomain(domain, { DKIM: '' }));
  assert.equal(await runDue(world), 1);
  assert.equal(await status(world, domain.id), 'temporary_failure');
  world.dns.setZone(zoneOfDomain(domain));
  await world.clock.advance(HOUR_MS);
  assert.equal(await runDue(world), 1);
  assert.equal(await status(world, domain.id), 'verified');
});

test('a lapse of 72 hours is a failure at its very end', async () => {
  const world = await openWorld();
  const lapsed = { status: 'temporary_failure', verifiedAt: START, failingSince: START } as const;
  const { id } = await addDomain(world.t, { name: 'lapse.example', ...lapsed, nextCheckAt: START });
  for (let hour = 0; hour < 72; hour += 1) {
    assert.equal(await runDue(world), 1);
    assert.equal(await status(world, id), 'temporary_failure');
    await world.clock.advance(HOUR_MS);
  }
  await runDue(world);
  assert.equal(await status(world, id), 'failed');
});

test('a resolver that is down changes no state, however long', async () => {
  const world = await openWorld();
  const domain = await create(world, 'silent.example');
  world.dns.setZone(zoneOfDomain(domain));
  await verifyDomain(world.t.app, domain.tenantId, domain.id);
  const { records } = (await world.t.request('GET', `/v1/domains/${domain.id}`)).body;
  for (const { name } of records) world.dns.fail(name, 'ETIMEOUT');
  for (let day = 0; day < 10; day += 1) {
    await world.clock.advance(DAY_MS);
    assert.equal(await runDue(world), 1);
  }
  assert.equal(await status(world, domain.id), 'verified');
});

test('becoming verified and failing are told once, in both modes, with the change', async () => {
  const world = await openWorld();
  const domain = await create(world, 'events.example');
  const { id: domainId, tenantId } = domain;
  const tell = (type: string, state: string) =>
    (['live', 'test'] as const).map((mode) => ({
      ...{ type, mode, tenantId, emailId: null },
      data: { domainId, name: 'events.example', status: state },
    }));
  await world.clock.advance(5 * MINUTE_MS);
  await runDue(world);
  assert.deepEqual(await events(world), []);

  world.dns.setZone(zoneOfDomain(domain));
  await world.clock.advance(5 * MINUTE_MS);
  await runDue(world);
  const verified = tell('domain.verified', 'verified');
  assert.deepEqual(await events(world), verified);
  await verifyDomain(world.t.app, tenantId, domainId);
  assert.deepEqual(await events(world), verified);

  world.dns.setZone('');
  await verifyDomain(world.t.app, tenantId, domainId);
  assert.deepEqual(await events(world), verified, 'a lapse is no event');
  await world.clock.advance(72 * HOUR_MS);
  await verifyDomain(world.t.app, tenantId, domainId);
  assert.deepEqual(await events(world), [...verified, ...tell('domain.failed', 'failed')]);
  await verifyDomain(world.t.app, tenantId, domainId);
  assert.equal((await events(world)).length, 4);
});

test('an endpoint that asks for them is posted the domain events of its mode', async () => {
  const world = await openWorld();
  const { t, dns } = world;
  const body = { url: 'https://hooks.example/', events: ['domain.verified', 'domain.failed'] };
  for (const key of [t.testKey, t.liveKey]) {
    assert.equal((await t.request('POST', '/v1/webhooks', { body, key })).status, 201);
  }
  const domain = await create(world, 'hooks.example');
  dns.setZone(zoneOfDomain(domain));
  await verifyDomain(t.app, t.tenantId, domain.id);
  const made = await t.app.db.commit(fanOutEvents, { now: t.app.clock.now(), limit: 10 });
  assert.deepEqual(made, { events: 2, deliveries: 2 });
  const posts = await t.app.db.read
    .selectFrom('webhookDeliveries')
    .innerJoin('webhookEndpoints', 'webhookEndpoints.id', 'webhookDeliveries.endpointId')
    .innerJoin('events', 'events.id', 'webhookDeliveries.eventId')
    .select(['webhookEndpoints.mode as asked', 'events.mode as told', 'events.type'])
    .orderBy('asked')
    .execute();
  assert.deepEqual(
    posts,
    ['live', 'test'].map((mode) => ({ asked: mode, told: mode, type: 'domain.verified' })),
  );
});

test('a domain is updated when something of it changed, not when it was looked at', async () => {
  const world = await openWorld();
  const domain = await create(world, 'updated.example');
  const read = async () => (await world.t.request('GET', `/v1/domains/${domain.id}`)).body;
  const before = await read();
  await world.clock.advance(5 * MINUTE_MS);
  await runDue(world);
  const seen = await read();
  assert.equal(seen.updatedAt, before.updatedAt);
  assert.equal(seen.records[0].lastCheckedAt, new Date(world.clock.now()).toISOString());
  world.dns.setZone(zoneOfDomain(domain, { SPF: '' }));
  await world.clock.advance(5 * MINUTE_MS);
  await runDue(world);
  assert.equal((await read()).updatedAt, new Date(world.clock.now()).toISOString());
});

test('the worker asks about eight domains at a time, and about all of them in the end', async () => {
  const world = await openWorld();
  for (let index = 0; index < 20; index += 1) {
    await addDomain(world.t, { name: `many${index}.example`, checksSince: START, nextCheckAt: START });
  }
  const waiting: (() => void)[] = [];
  const { txt } = world.dns.fresh;
  world.dns.fresh.txt = async (name) => {
    if (/^many\d+\.example$/.test(name)) await new Promise<void>((resolve) => void waiting.push(resolve));
    return txt(name);
  };
  const running = startTasks(world.t.app, [createDomainCheckKind(world.t.app)]);
  for (const expected of [8, 8, 4]) {
    await waitUntil(() => waiting.length >= expected, `${expected} look-ups wait`);
    assert.equal(waiting.length, expected);
    for (const answer of waiting.splice(0)) answer();
  }
  await running.stop(1_000);
  world.dns.fresh.txt = txt;
  await world.clock.advance(5 * MINUTE_MS - 1);
  assert.equal(await runDue(world), 0);
  await world.clock.advance(1);
  assert.equal(await runDue(world), 20);
});

test('a domain deleted while it is asked about is left alone, and is never due again', async () => {
  const world = await openWorld();
  const domain = await create(world, 'gone.example');
  await world.clock.advance(5 * MINUTE_MS);
  const kind = createDomainCheckKind(world.t.app);
  const [leased] = await leaseTasksOf(world.t.app, { kind: kind.name });
  assert.ok(leased);
  world.dns.setZone(zoneOfDomain(domain));
  const { txt } = world.dns.fresh;
  const end = { id: domain.id, tenantId: domain.tenantId, now: world.clock.now() };
  let ending: Promise<unknown> | undefined;
  world.dns.fresh.txt = async (name) => {
    ending ??= world.t.app.db.commit(endDomain, end);
    await ending;
    return txt(name);
  };
  assert.equal(await kind.run(leased), 'done');
  assert.deepEqual(await events(world), []);
  await world.clock.advance(DAY_MS);
  assert.equal(await runDue(world), 0);
});

test('a deleted domain keeps its key until its mail has ended, then it is removed with it', async () => {
  const world = await openWorld();
  const { t, clock } = world;
  const now = clock.now();
  const states = ['ready', 'deferred', 'in_flight', 'held'] as const;
  const ended = ['delivered', 'bounced', 'complained', 'suppressed', 'canceled'] as const;
  const domains = new Map<string, Awaited<ReturnType<typeof addDomain>>>();
  for (const state of [...states, ...ended, 'none'] as const) {
    const domain = await addDomain(t, { name: `${state.replace('_', '-')}.example`, nextCheckAt: null });
    domains.set(state, domain);
    if (state !== 'none') {
      const mail = {
        tenantId: t.tenantId,
        domainId: domain.id,
        now,
        datedAt: now,
        status: 'delivered',
      } as const;
      scheduleMail(t.dataDir, {
        ...mail,
        state,
        dueAt: state === 'held' ? null : now + HOUR_MS,
        attempts: 1,
      });
    }
    await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now });
  }
  const live = await addDomain(t, { name: 'live.example', nextCheckAt: null });
  const late = await addDomain(t, { name: 'late.example', nextCheckAt: null });
  await t.app.db.commit(endDomain, { id: late.id, tenantId: t.tenantId, now: now + 1 });
  const sweep = createDomainSweep(t.app);
  const kept = async () => {
    const rows = await t.app.db.read.selectFrom('domains').select('id').execute();
    const known = new Set(rows.map(({ id }) => id));
    return [...domains].filter(([, { id }]) => known.has(id)).map(([state]) => state);
  };
  await clock.advance(HOUR_MS);
  await sweep.run('run');
  assert.deepEqual(await kept(), [...domains.keys()], 'mail that was being accepted may still come');
  await clock.advance(1);
  await sweep.run('run');
  assert.deepEqual(await kept(), [...states]);
  const [deferred] = states.map((state) => domains.get(state));
  assert.ok(deferred && (await findSealedKeys(t.app.db.read, deferred.id)).length > 0);
  await t.app.db.commit(purgeDomains, { ids: [live.id] });
  for (const { id } of [live, late]) assert.equal((await findSealedKeys(t.app.db.read, id)).length, 1);
});
