/** A suspended tenant sends nothing, and goes on as before once it is resumed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBroadcastKind } from '../../src/broadcasts/worker.ts';
import { createProbeWork } from '../../src/queue/held/probe.ts';
import { createResumptionKind } from '../../src/tenant-control/suspend.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { act } from '../support/queue-action.ts';
import { eventTypes } from '../support/spool.ts';
import { runDueTasks } from '../support/tasks.ts';
import { openWorldForEachTest } from './world.ts';

const HOUR_MS = 3_600_000;

let { spool, other, control } = await openWorldForEachTest((next) => {
  ({ spool, other, control } = next);
  ({ app, clock, tenantId, liveKey } = spool);
});
let { app, clock, tenantId, liveKey } = spool;

async function ask(
  path: string,
): Promise<{ status: number; body: { status?: string; error?: { type: string } } }> {
  const response = await control.inject({ method: 'POST', url: path });
  return { status: response.statusCode, body: response.json() };
}
const suspend = (tenant: string = tenantId) => ask(`/tenants/${tenant}/suspend`);
const resume = (tenant: string = tenantId) => ask(`/tenants/${tenant}/resume`);

/** Runs the slices of the resumption, one after another. Returns their number. */
async function runResumption(): Promise<number> {
  const kind = createResumptionKind(app);
  for (let slices = 0; ; slices++) {
    if ((await runDueTasks(app, kind)).length === 0) return slices;
    await clock.advance(1_000);
  }
}

const claimed = async () => (await spool.claim()).map(({ message }) => message.id).sort();

const rowOf = (messageId: string) =>
  app.db.read
    .selectFrom('recipients')
    .selectAll()
    .where('messageId', '=', messageId)
    .executeTakeFirstOrThrow();

test('every key of a suspended tenant is refused with 403, and those of other tenants are not', async () => {
  const testKey = await spool.newKey({ tenantId, mode: 'test' });
  assert.equal((await suspend()).body.status, 'suspended');
  for (const key of [liveKey, testKey])
    for (const [method, path] of [
      ['GET', '/v1/emails'],
      ['POST', '/v1/emails'],
    ] as const) {
      const { status, body } = await spool.request(method, path, {
        key,
        ...(method === 'POST' && { body: {} }),
      });
      assert.deepEqual([status, body.error.type], [403, 'restricted_api_key']);
      assert.match(body.error.message, /suspended your account/);
    }
  assert.equal((await spool.request('GET', '/v1/emails', { key: other.liveKey })).status, 200);
  assert.equal((await resume()).body.status, 'active');
  assert.equal((await spool.request('GET', '/v1/emails', { key: liveKey })).status, 200);
  await runResumption();
});

test('due mail of a suspended tenant is not claimed, and is due again when the tenant is resumed, unchanged', async () => {
  const fresh = await spool.accept('ann@one.example');
  const tried = await spool.accept('ann@two.example');
  await spool.deliverDue();
  const before = await rowOf(tried);
  assert.equal(before.state, 'deferred');
  const later = await spool.accept(['bob@three.example', 'eve@four.example']);
  const foreign = await spool.accept('ann@one.example', {
    key: other.liveKey,
    from: 'a@other.example',
  });
  await suspend();
  await clock.advance(HOUR_MS);
  assert.deepEqual(await claimed(), [foreign]);
  assert.deepEqual(await claimed(), [], 'nothing is found again');
  assert.deepEqual({ ...(await rowOf(tried)), dueAt: before.dueAt }, before);
  assert.equal((await rowOf(tried)).dueAt, null);
  await resume();
  assert.deepEqual(eventTypes(await spool.email(later)), ['email.queued', 'email.queued'], 'nothing is told');
  await runResumption();
  assert.deepEqual(await claimed(), [fresh, tried, later].sort());
});

test('scheduled mail keeps its time through a suspension', async () => {
  const at = clock.now() + 2 * HOUR_MS;
  const scheduledAt = new Date(at).toISOString();
  const [early, late] = [
    await spool.accept('ann@scheduled.example', {
      scheduledAt: new Date(clock.now() + HOUR_MS).toISOString(),
    }),
    await spool.accept('bob@scheduled.example', { scheduledAt }),
  ];
  await suspend();
  await clock.advance(HOUR_MS);
  assert.deepEqual(await claimed(), []);
  await resume();
  await runResumption();
  assert.deepEqual(await claimed(), [early]);
  assert.equal((await rowOf(late)).dueAt, at);
});

test('a resumption goes through all delivery queues in slices, and gives mail another day', async () => {
  const ids = [
    ...(await spool.acceptMany(130, 'many.example')),
    ...(await spool.acceptMany(2, 'few.example')),
  ].sort();
  await suspend();
  while ((await spool.claim()).length > 0);
  await clock.advance(10 * 24 * HOUR_MS);
  for (let round = 0; round < 5; round++) await spool.claim();
  const parked = await app.db.read
    .selectFrom('recipients')
    .select('messageId')
    .where('dueAt', 'is', null)
    .where('state', '=', 'ready')
    .execute();
  assert.deepEqual(parked.map(({ messageId }) => messageId).sort(), ids);
  await resume();
  assert.ok((await runResumption()) > 2);
  const rows = await app.db.read
    .selectFrom('messages')
    .innerJoin('recipients', 'recipients.messageId', 'messages.id')
    .select(['messages.id', 'recipients.dueAt', 'messages.expiresAt'])
    .where('recipients.domain', 'in', ['many.example', 'few.example'])
    .execute();
  assert.equal(rows.length, ids.length);
  for (const { dueAt, expiresAt } of rows) {
    assert.ok(dueAt !== null && dueAt <= clock.now());
    assert.ok(expiresAt >= dueAt + 24 * HOUR_MS);
  }
});

test('a hold of the operator outlives a suspension', async () => {
  const id = await spool.accept('ann@held.example');
  await act(app, 'hold', { domain: 'held.example' });
  await suspend();
  await spool.claim();
  await resume();
  await runResumption();
  assert.equal((await rowOf(id)).state, 'held');
  await act(app, 'release', { domain: 'held.example' });
  assert.deepEqual(await claimed(), [id]);
});

test('a suspect of a suspended tenant does not keep the probes of others waiting', async () => {
  const suspect = await spool.accept('ann@suspect.example');
  await spool.crash('first', 'second');
  assert.equal((await rowOf(suspect)).dueAt, null);
  await suspend();
  await spool.startProbe();
  assert.equal((await rowOf(suspect)).dueAt, null, 'its probe waits');
  assert.deepEqual((await createProbeWork(app).lease(1)).items, []);
  await resume();
  await runResumption();
  await spool.startProbe();
  assert.deepEqual(await claimed(), [suspect]);
});

test('a suspension that comes during a resumption ends it', async () => {
  const id = await spool.accept('ann@again.example');
  await suspend();
  await spool.claim();
  await resume();
  await suspend();
  assert.equal(await runResumption(), 0);
  assert.equal((await rowOf(id)).dueAt, null);
  await resume();
  await runResumption();
  assert.deepEqual(await claimed(), [id]);
});

test('mail that is parked behind a resumption which a suspension has ended is due again after the next one', async () => {
  const ids = [...(await spool.acceptMany(130, 'many.example'))].sort();
  await suspend();
  while ((await spool.claim()).length > 0);
  for (let round = 0; round < 5; round++) await spool.claim();
  const kind = createResumptionKind(app);
  await resume();
  assert.equal((await runDueTasks(app, kind)).length, 1, 'one slice of several');
  await suspend();
  for (let round = 0; round < 5; round++) await spool.claim();
  await clock.advance(1);
  await resume();
  for (let slices = 0; slices < 20; slices++) {
    await clock.advance(1_000);
    await runDueTasks(app, kind);
  }
  const rows = await app.db.read
    .selectFrom('recipients')
    .select(['messageId', 'dueAt'])
    .where('domain', '=', 'many.example')
    .execute();
  assert.deepEqual(rows.map(({ messageId }) => messageId).sort(), ids);
  assert.deepEqual(
    rows.filter(({ dueAt }) => dueAt === null),
    [],
  );
});

test('the broadcasts of a suspended tenant wait', async () => {
  const rules = () => createBroadcastKind(app).rules?.(tenantId);
  assert.deepEqual(await rules(), {});
  await suspend();
  assert.ok(((await rules())?.pausedUntil ?? 0) > clock.now() + HOUR_MS / 2);
  await resume();
  assert.deepEqual(await rules(), {});
});

test('suspending twice and resuming twice change nothing, and only tenants of people can be suspended', async () => {
  for (const [action, status] of [
    [suspend, 'suspended'],
    [resume, 'active'],
  ] as const)
    for (let times = 0; times < 2; times++) assert.equal((await action('other')).body.status, status);
  for (const name of ['nobody', INSTALLATION_TENANT, 'installation'])
    for (const action of [suspend, resume]) assert.equal((await action(name)).status, 404, name);
});
