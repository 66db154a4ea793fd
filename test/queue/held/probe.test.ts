import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import type { Claim } from '../../../src/queue/claim.ts';
import { DELIVERY_DEADLINE_MS } from '../../../src/queue/claim.ts';
import { createProbeWork } from '../../../src/queue/held/probe.ts';
import { findWaitingSuspect } from '../../../src/queue/held/store.ts';
import { NO_REPORT, verdictForAll } from '../../../src/queue/outcome/outcome.ts';
import { simulateDelivery } from '../../../src/queue/sessions/decided-transport.ts';
import { releaseUnsent } from '../../../src/queue/state/recover.ts';
import { recoverQueue } from '../../../src/queue/worker.ts';
import { newId } from '../../../src/system/ids.ts';
import { attemptWith, deliverBy, openSpool } from '../../support/spool.ts';

const spool = await openSpool();
after(() => spool.close());
const { app, clock } = spool;
const AT_SIMULATOR = '@simulator.mx.postrider.example';
const PROBE_MS = 30_000;
const CRASH_AFTER_MS = 40_000;
const HANGS = { ...NO_REPORT, phase: 'rcpt', text: 'the host did not answer' } as const;

/** Runs a daemon from its start to a crash, or until no work is left. */
async function live(crasher: string, arrivals: () => Promise<void> = async () => {}) {
  const runId = newId('req', clock.now());
  const start = { ...app, runId };
  await recoverQueue(start);
  await clock.advance(10_000);
  const probes = createProbeWork(start);
  for (;;) {
    await arrivals();
    const claimed = await spool.claim(runId);
    if (claimed.some(({ message }) => message.id === crasher)) return 'crashed';
    for (const one of claimed) await settle(start, one);
    const [probe] = (await probes.lease(1)).items;
    if (probe) await probes.run(probe);
    else if (claimed.length === 0) return 'idle';
  }
}

function settle(start: typeof app, claim: Claim): Promise<void> {
  const verdicts = simulateDelivery(app.config, claim);
  return deliverBy(start, claim, async () => attemptWith(verdicts));
}

/** Accepts an email to `delivered+name` at the simulator for each name. */
async function acceptEach(...names: string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const name of names) ids.push(await spool.accept(`delivered+${name}${AT_SIMULATOR}`));
  return ids;
}

/** Changes recipients behind the back of the daemon, as an earlier version may have left them. */
function change(sql: string, ...values: unknown[]): void {
  const database = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  database.prepare(`UPDATE recipients SET ${sql}`).run(...values);
  database.close();
}

function interruptedAttempts(): Promise<{ messageId: string; interruptedAttempts: number; state: string }[]> {
  return app.db.read
    .selectFrom('recipients')
    .select(['messageId', 'interruptedAttempts', 'state'])
    .where('interruptedAttempts', '>', 0)
    .orderBy('interruptedAttempts', 'desc')
    .orderBy('messageId')
    .execute();
}

test('only the delivery that crashes the daemon five times is held, among many in flight', async () => {
  const ids = await acceptEach(...Array.from({ length: 60 }, (_, index) => `${index}`));
  const crasher = ids[37] ?? '';
  for (let life = 1; life <= 5; life++) assert.equal(await live(crasher), 'crashed', `life ${life}`);
  assert.equal(await live(crasher), 'idle', 'nothing crashes a daemon that holds it');
  for (const id of ids) {
    const { recipients } = await spool.email(id);
    assert.equal(recipients[0].status, id === crasher ? 'held' : 'delivered');
  }
  await spool.cancel(crasher);
  assert.deepEqual(await interruptedAttempts(), []);
});

test('mail that arrives while a suspect is tried is delivered, and is not held with it', async () => {
  const crasher = await spool.accept(`delivered${AT_SIMULATOR}`);
  const others: string[] = [];
  const arrivals = async () => {
    if (others.length < 30) others.push(...(await acceptEach(`${others.length}`)));
  };
  while ((await live(crasher, arrivals)) === 'crashed');
  assert.equal((await spool.recipient(crasher)).status, 'held');
  assert.ok(others.length >= 6, 'some arrived in each life');
  for (const id of others) assert.equal((await spool.recipient(id)).status, 'delivered');
});

test('suspects that a clean stop or an earlier version left behind become due one at a time', async () => {
  const ids = await acceptEach('ann', 'bob', 'cid');
  assert.deepEqual(await spool.crash('third', 'fourth'), [3, 3]);
  const makeDue = () => change("dueAt = ? WHERE state = 'ready'", clock.now());
  makeDue();
  const claimed = await spool.claim('stopped');
  assert.equal(claimed.length, 3);
  const claims = claimed.map(({ message, recipients }) => ({
    messageId: message.id,
    recipientIds: recipients.map(({ id }) => id),
  }));
  const stop = { now: clock.now(), runId: 'stopped', claims };
  assert.equal(await app.db.commit(releaseUnsent, stop), 3);
  assert.deepEqual(await spool.claim(), [], 'a clean stop leaves none due');
  makeDue();
  await recoverQueue({ ...app, runId: 'after an update' });
  assert.deepEqual(await spool.claim(), [], 'none is due after a start');
  const probes = createProbeWork(app);
  for (const _ of ids) {
    await spool.startProbe(probes);
    const claimed = await spool.claim();
    assert.equal(claimed.length, 1);
    for (const one of claimed) await settle(app, one);
  }
  for (const id of ids) assert.equal((await spool.email(id)).status, 'delivered');
});

/** Runs a daemon whose receivers answer nothing until the delivery deadline, and which the culprit crashes after 40 s. */
async function liveWithHangingHosts(culprit: string): Promise<'crashed' | 'idle'> {
  const runId = newId('req', clock.now());
  const start = { ...app, runId };
  await recoverQueue(start);
  const probes = createProbeWork(start);
  let inFlight: Claim[] = [];
  for (let step = 0; step < 2_000; step++) {
    await clock.advance(10_000);
    await spool.startProbe(probes);
    inFlight.push(...(await spool.claim(runId)));
    for (const one of inFlight) {
      const lastedMs = clock.elapsed() - one.claimedAt;
      if (one.message.id === culprit && lastedMs >= CRASH_AFTER_MS) return 'crashed';
      if (lastedMs < DELIVERY_DEADLINE_MS) continue;
      const verdicts = verdictForAll(one, { kind: 'deferred', report: HANGS });
      await deliverBy(start, one, async () => attemptWith(verdicts));
      inFlight = inFlight.filter((other) => other !== one);
    }
    if (inFlight.length === 0 && (await findWaitingSuspect(app.db.read)) === undefined) return 'idle';
  }
  return assert.fail('the daemon neither crashed nor came to rest');
}

test('a culprit that crashes later than the next probe begins is held, and mail to hosts that hang is not', async () => {
  const culprit = await spool.accept(`delivered${AT_SIMULATOR}`);
  // The oldest of several suspects is tried first, so the others hang beside it when it crashes.
  await clock.advance(1_000);
  const innocent = await acceptEach('one', 'two');
  let crashes = 0;
  while ((await liveWithHangingHosts(culprit)) === 'crashed') {
    crashes += 1;
    assert.ok(crashes <= 5, 'no more crashes than a culprit alone would cause');
  }
  assert.equal((await spool.recipient(culprit)).status, 'held');
  for (const id of innocent) {
    assert.equal((await spool.recipient(id)).status, 'deferred');
    await spool.cancel(id);
  }
  await spool.cancel(culprit);
});

test('a suspect with three interrupted attempts is tried while no other suspect is', async () => {
  const ids = await acceptEach('eva', 'fay', 'gus');
  await spool.crash('fifth', 'sixth');
  change('interruptedAttempts = 3 WHERE messageId = ?', ids[1]);
  change('interruptedAttempts = 4 WHERE messageId = ?', ids[2]);
  const probes = createProbeWork(app);
  for (const id of ids) {
    await spool.startProbe(probes);
    const claimed = await spool.claim();
    assert.deepEqual(
      claimed.map(({ message }) => message.id),
      [id],
    );
    await clock.advance(PROBE_MS);
    assert.deepEqual((await probes.lease(1)).items, [], 'the next one waits until it is settled');
    for (const one of claimed) await settle(app, one);
  }
});

test('suspects with two interrupted attempts are tried one at a time, and the next one no later than half a minute after', async () => {
  await acceptEach('one', 'two', 'three');
  assert.deepEqual(await spool.crash('first', 'second'), [3, 3]);
  assert.deepEqual(await spool.claim(), [], 'none is due before its probe');
  const probes = createProbeWork(app);
  const next = async () => {
    await spool.startProbe(probes);
    return spool.claim();
  };
  const first = await next();
  assert.equal(first.length, 1);
  assert.deepEqual(await next(), [], 'the first is in flight');
  const due = (await probes.lease(1)).nextDueAt;
  assert.equal(due, clock.now() + PROBE_MS);
  for (const one of first) await settle(app, one);
  const second = await next();
  assert.equal(second.length, 1, 'the first is settled');
  await clock.advance(PROBE_MS);
  const third = await next();
  assert.equal(third.length, 1, 'the second takes long');
  await recoverQueue({ ...app, runId: 'after a crash' });
  assert.deepEqual(
    (await interruptedAttempts()).filter(({ state }) => state === 'ready'),
    [second, third]
      .flatMap((claimed) => claimed.map(({ message }) => message.id))
      .toSorted()
      .map((messageId) => ({ messageId, interruptedAttempts: 3, state: 'ready' })),
    'a crash beside both interruptedAttempts both',
  );
});
