import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { MIN_RETIRED_MS, MIN_UNUSED_MS } from '../../../src/domains/keys/states.ts';
import { createDomainKeysKind } from '../../../src/domains/rotation/kind.ts';
import { createSigningKeys } from '../../../src/domains/signing-key.ts';
import { listPublishedKeys } from '../../../src/domains/spool-store.ts';
import { type Domain, endDomain, getDomain } from '../../../src/domains/store.ts';
import { createDomainSweep } from '../../../src/domains/worker.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { openTestApp, type TestApp } from '../../support/test-app.ts';
import { type ZoneDns, zoneDns } from '../../support/zone-dns.ts';
import { type Published, zoneOf } from '../fixtures.ts';
import { scheduleMail } from '../mail.ts';

const START = Date.parse('2026-05-01T10:00:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

type Shown = {
  id: string;
  status: string;
  ed25519: boolean;
  records: Published[];
  optionalRecords: (Published & { status: string; error: string | null })[];
  dkimKeys: { selector: string; algorithm: string; state: string; since: string | null }[];
};

const opened: TestApp[] = [];
after(async () => {
  for (const one of opened) await one.close();
});

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld() {
  const clock: FakeClock = createFakeClock(START);
  const dns: ZoneDns = zoneDns('');
  const t = await openTestApp({ system: { clock, dns, random: () => 0 } });
  opened.push(t);
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, body?: unknown) =>
    (await t.request(method, url, { ...(body !== undefined && { body }) })) as {
      status: number;
      body: Shown;
    };
  const { body } = await call('POST', '/v1/domains', { name: 'rotate.example' });
  const id = body.id as Domain['id'];
  const url = `/v1/domains/${id}`;
  const show = async () => (await call('GET', url)).body;
  const rotate = async () => (await call('POST', `${url}/rotate-dkim`)).body;
  const look = async () => (await runDueTasks(t.app, createDomainKeysKind(t.app))).length;
  const states = async () => (await show()).dkimKeys.map(({ algorithm, state }) => `${algorithm} ${state}`);
  const signers = async () => (await createSigningKeys(t.app).find(id)).map(({ selector }) => selector);
  const published = async () => {
    const { keys } = await t.app.db.query(listPublishedKeys, { after: '', limit: 100 });
    return keys.map(({ selector }) => selector).toSorted();
  };
  return { t, dns, clock, id, url, call, show, rotate, look, states, signers, published };
}

/** Returns the record with this name in the list of optional ones. */
function optional({ optionalRecords }: Shown, wanted: string) {
  const found = optionalRecords.find(({ record }) => record === wanted);
  assert.ok(found, wanted);
  return found;
}

/** Publishes the records of the domain, and those of its keys as they are named. */
function publish({ dns }: World, shown: Shown, ...lines: string[]): void {
  dns.setZone([zoneOf(shown.records), ...lines].join('\n'));
}

const cname = ({ name, value }: Published) => `${name} CNAME ${value}`;
const keyAt = ({ value, alternative }: Published) => `${value} TXT "${alternative?.value}"`;
const text = ({ name, alternative }: Published) => `${name} TXT "${alternative?.value}"`;

test('the next key signs once it was seen behind the CNAME, and the key before stays for seven days', async () => {
  const world = await openWorld();
  const { clock, show, rotate, look, signers, published } = world;
  const before = await show();
  const [main = ''] = await signers();
  const cnameInAdvance = cname(optional(before, 'DKIM_NEXT'));
  assert.equal(optional(before, 'DKIM_NEXT').alternative, undefined);
  assert.deepEqual(await published(), [main]);

  const rotated = await rotate();
  const next = optional(rotated, 'DKIM_NEXT');
  const [spare = ''] = next.name.split('.');
  assert.equal(cname(next), cnameInAdvance, 'a record that was published in advance stays right');
  assert.deepEqual(await published(), [main, spare].toSorted());
  assert.deepEqual(await rotate(), rotated, 'a repeated request changes nothing');
  publish(world, before, cnameInAdvance);
  await clock.advance(MINUTE_MS);
  assert.equal(await look(), 1);
  assert.deepEqual(await signers(), [main], 'a CNAME without a key is not a key');
  world.dns.fail(next.name, 'ESERVFAIL');
  await clock.advance(MINUTE_MS);
  assert.equal(await look(), 1);
  assert.deepEqual(await signers(), [main]);
  world.dns.heal(next.name);

  publish(world, before, cnameInAdvance, keyAt(next));
  await clock.advance(MINUTE_MS);
  assert.equal(await look(), 1);
  assert.deepEqual(await signers(), [spare]);
  const signing = await show();
  assert.deepEqual(await world.states(), ['rsa signing', 'rsa retired']);
  const dkim = signing.records.find(({ record }) => record === 'DKIM') as Published & { status: string };
  assert.deepEqual([dkim.name, dkim.status], [next.name, 'verified']);
  assert.equal(optional(signing, 'DKIM_NEXT').name.split('.')[0], main);
  assert.deepEqual(await published(), [main, spare].toSorted());

  await clock.advance(MIN_RETIRED_MS - 1);
  assert.equal(await look(), 0);
  await clock.advance(1);
  assert.equal(await look(), 1);
  assert.deepEqual(await published(), [spare]);
  const early = await world.call('POST', `${world.url}/rotate-dkim`);
  assert.equal(early.status, 409);
  assert.match(JSON.stringify(early.body), /can begin on 2026-05-09T10:03:00\.000Z or later/);
  await clock.advance(MIN_UNUSED_MS);
  assert.equal(optional(await rotate(), 'DKIM_NEXT').name.split('.')[0], main);
  assert.deepEqual(await published(), [main, spare].toSorted());
});

test('a key in a TXT record of the owner signs once that has the next key', async () => {
  const world = await openWorld();
  const before = await world.show();
  const [main = ''] = await world.signers();
  const next = optional(await world.rotate(), 'DKIM_NEXT');
  publish(world, before, text(next).replace('p=', 'p=AAAA'));
  await world.clock.advance(MINUTE_MS);
  await world.look();
  assert.deepEqual(await world.signers(), [main], 'another key there is not the key');
  publish(world, before, text(next));
  const verified = await world.call('POST', `${world.url}/verify`);
  assert.equal(optional(verified.body, 'DKIM_NEXT').status, 'verified');
  assert.equal(await world.look(), 1, 'a check that is asked for makes the next look due');
  assert.deepEqual(await world.signers(), [next.name.split('.')[0]]);
});

type Stored = { state: 'deferred' | 'ready' | 'in_flight' | 'delivered'; signature: string | null };

/** Puts mail of the domain into the spool, with the signature of its first attempt. */
function spool({ t, id, clock }: World, { state, signature }: Stored): void {
  const now = clock.now();
  scheduleMail(t.dataDir, { tenantId: t.tenantId, domainId: id, now, datedAt: now, state, attempts: 1 });
  change(t, 'UPDATE messages SET signature = ? WHERE signature IS NULL', [signature]);
}

function change({ dataDir }: TestApp, statement: string, values: unknown[] = []): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.prepare(statement).run(values);
  database.close();
}

/** Brings a rotation to the point at which the first key is retired. Returns its selector. */
async function retireFirst(world: World): Promise<string> {
  const before = await world.show();
  const [main = ''] = await world.signers();
  const next = optional(await world.rotate(), 'DKIM_NEXT');
  publish(world, before, text(next));
  await world.clock.advance(MINUTE_MS);
  await world.look();
  assert.deepEqual(await world.states(), ['rsa signing', 'rsa retired']);
  return main;
}

test('the key before stays published while mail waits that was signed with it, however long', async () => {
  for (const state of ['deferred', 'ready', 'in_flight'] as const) {
    const world = await openWorld();
    const main = await retireFirst(world);
    spool(world, { state, signature: `DKIM-Signature: v=1; d=rotate.example;\r\n s=${main}; t=1;\r\n` });
    for (let day = 0; day < 12; day += 1) {
      await world.clock.advance(DAY_MS);
      await world.look();
    }
    assert.equal((await world.published()).length, 2, state);
    change(world.t, "UPDATE recipients SET state = 'delivered', dueAt = NULL");
    await world.clock.advance(DAY_MS);
    await world.look();
    assert.deepEqual(await world.published(), await world.signers(), state);
  }
});

test('mail that was signed with another key, or is signed at each attempt, keeps no key published', async () => {
  const world = await openWorld();
  await retireFirst(world);
  spool(world, { state: 'deferred', signature: 'DKIM-Signature: v=1;\r\n s=prother; t=1;\r\n' });
  spool(world, { state: 'deferred', signature: null });
  await world.clock.advance(MIN_RETIRED_MS);
  await world.look();
  assert.deepEqual(await world.published(), await world.signers());
});

test('a domain that is deleted in the middle keeps what has signed, and is removed after its last key', async () => {
  const world = await openWorld();
  const { t, clock, id } = world;
  const main = await retireFirst(world);
  await t.app.db.commit(endDomain, { id, tenantId: t.tenantId, now: clock.now() });
  spool(world, { state: 'deferred', signature: ` s=${main};` });
  const sweep = createDomainSweep(t.app);
  const [spare = ''] = await world.signers();
  for (let day = 0; day < 9; day += 1) {
    await clock.advance(DAY_MS);
    await world.look();
    await sweep.run('run');
  }
  assert.deepEqual(await world.published(), [main, spare].toSorted());
  change(t, "UPDATE recipients SET state = 'delivered', dueAt = NULL");
  await sweep.run('run');
  assert.deepEqual(await world.published(), [main, spare].toSorted(), 'the retired key goes first');
  await clock.advance(DAY_MS);
  await world.look();
  assert.deepEqual(await world.published(), [spare]);
  await sweep.run('run');
  assert.deepEqual(await world.published(), []);
});

test('a key that waits when its domain is deleted never signs', async () => {
  const world = await openWorld();
  const { t, clock, id } = world;
  const before = await world.show();
  const signers = await world.signers();
  const next = optional(await world.rotate(), 'DKIM_NEXT');
  publish(world, before, text(next));
  await t.app.db.commit(endDomain, { id, tenantId: t.tenantId, now: clock.now() });
  await clock.advance(MINUTE_MS);
  await world.look();
  assert.deepEqual([await world.signers(), await world.published()], [signers, signers]);
});

test('a restored installation makes no key, and its task waits', async () => {
  const world = await openWorld();
  world.t.app.egress.hold();
  const { status, body } = await world.call('POST', `${world.url}/rotate-dkim`);
  assert.equal(status, 503);
  assert.match(JSON.stringify(body), /restore release/);
  assert.equal((await world.call('PATCH', world.url, { ed25519: true })).status, 503);
  assert.equal((await world.call('PATCH', world.url, { ed25519: false })).status, 200, 'nothing changes');
  const wanted = { name: 'later.example', ed25519: true };
  for (let times = 0; times < 2; times++)
    assert.equal(
      (await world.call('POST', '/v1/domains', wanted)).status,
      503,
      'and the domain is not added',
    );
  assert.deepEqual(await world.states(), ['rsa signing']);
  assert.equal(createDomainKeysKind(world.t.app).leavesHost, true);
});

test('an Ed25519 key signs beside RSA once it was seen, and rotates with it', async () => {
  const world = await openWorld();
  const [main = ''] = await world.signers();
  const on = (await world.call('PATCH', world.url, { ed25519: true })).body;
  assert.deepEqual([on.ed25519, on.records.length], [true, 3]);
  assert.deepEqual(await world.signers(), [main], 'not seen yet');
  const first = optional(on, 'DKIM_ED25519');
  assert.match(first.alternative?.value ?? '', /^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
  publish(world, on, cname(first), keyAt(first));
  await world.clock.advance(MINUTE_MS);
  await world.look();
  const [selector] = first.name.split('.');
  assert.deepEqual(await world.signers(), [selector, main]);
  const keys = await createSigningKeys(world.t.app).find(world.id);
  assert.deepEqual(
    keys.map(({ algorithm }) => algorithm),
    ['ed25519-sha256', 'rsa-sha256'],
  );
  assert.equal(optional(await world.show(), 'DKIM_ED25519').status, 'verified');

  const rotated = await world.rotate();
  const nextOnes = ['DKIM_NEXT', 'DKIM_ED25519_NEXT'].map((record) => optional(rotated, record));
  publish(world, on, cname(first), keyAt(first), ...nextOnes.map(text));
  await world.clock.advance(MINUTE_MS);
  await world.look();
  assert.deepEqual(await world.signers(), nextOnes.map(({ name }) => name.split('.')[0]).toReversed());
  assert.equal((await world.published()).length, 4);
  const off = (await world.call('PATCH', world.url, { ed25519: false })).body;
  assert.equal(off.ed25519, false);
  assert.equal((await world.signers()).length, 1);
  assert.equal((await world.published()).length, 4);
  assert.equal((await world.call('PATCH', world.url, { ed25519: true })).status, 409);
  await world.clock.advance(MIN_RETIRED_MS);
  await world.look();
  assert.deepEqual(await world.published(), await world.signers());
  assert.equal((await world.call('PATCH', world.url, { ed25519: true })).status, 200);
});

/** Lets the database refuse a change, as a full disk does. */
function refuse({ t }: World, change: string): void {
  const database = new Sqlite(join(t.dataDir, 'postrider.db'));
  database.exec(`CREATE TRIGGER refuse BEFORE ${change} BEGIN SELECT RAISE(ABORT, 'refused'); END`);
  database.close();
}

test('an Ed25519 key and settings of one request are stored together, or neither is', async () => {
  const world = await openWorld();
  const before = await world.show();
  refuse(world, 'UPDATE OF openTracking ON domains');
  const both = { ed25519: true, openTracking: true };
  assert.equal((await world.call('PATCH', world.url, both)).status, 500);
  assert.deepEqual(await world.show(), before);
  assert.equal((await world.published()).length, 1);
});

test('settings stay as they are when the Ed25519 key of the same request is refused', async () => {
  const world = await openWorld();
  refuse(world, "INSERT ON domainKeys WHEN NEW.algorithm = 'ed25519'");
  const before = await world.show();
  const both = { ed25519: true, openTracking: true };
  assert.equal((await world.call('PATCH', world.url, both)).status, 500);
  assert.deepEqual(await world.show(), before);
  const wanted = { name: 'whole.example', ed25519: true };
  for (let times = 0; times < 2; times++)
    assert.equal((await world.call('POST', '/v1/domains', wanted)).status, 500, 'and no domain is left');
});

test('a domain can be added with Ed25519, and still has three records', async () => {
  const world = await openWorld();
  const { status, body } = await world.call('POST', '/v1/domains', { name: 'both.example', ed25519: true });
  assert.equal(status, 201);
  assert.deepEqual(
    [body.ed25519, body.records.map(({ record }) => record)],
    [true, ['SPF', 'DKIM', 'DMARC']],
  );
  optional(body, 'DKIM_ED25519');
  const { keys } = await getDomain(world.t.app.db.read, world.t.tenantId, body.id);
  assert.equal(keys.length, 3);
});
