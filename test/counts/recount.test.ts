/** Counters and events agree whatever happens: mail of all kinds is sent through the API and the queue, and counted again. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ALL_TOPICS } from '../../src/audiences/choices-store.ts';
import { decide } from '../../src/audiences/contacts/decide.ts';
import { COUNTERS } from '../../src/counts/tally.ts';
import { NO_REPORT, type Outcome } from '../../src/queue/outcome/outcome.ts';
import type { Id } from '../../src/system/ids.ts';
import { type EngagementRequest, recordEngagements } from '../../src/tracking/engagements/record.ts';
import { createClassificationWork } from '../../src/tracking/worker.ts';
import { type Campaign, openCampaign } from '../broadcasts/sending/campaign.ts';
import { attemptWith, deliverBy, type Spool } from '../support/spool.ts';
import { assertRecounted, countersOf } from './recount.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SIMULATOR = 'simulator.mx.postrider.example';
const HOUR_MS = 3_600_000;

let campaign: Campaign;
let spool: Spool;

before(async () => {
  campaign = await openCampaign();
  ({ spool } = campaign);
  for (const name of ['gmail.com', 'yahoo.com', 'outlook.com']) spool.addZone(`${name} A 127.0.0.1`);
});
after(() => campaign[Symbol.asyncDispose]());

const recounted = (
  ...args: Parameters<typeof assertRecounted> extends [unknown, ...infer Rest] ? Rest : never
) => assertRecounted(spool.app.db.read, ...args);

async function post(path: string, body: unknown, key = spool.liveKey) {
  return spool.request('POST', `/v1${path}`, { key, body });
}

/** Claims what is due, and ends every recipient with this outcome. */
async function endAll(outcome: Outcome): Promise<void> {
  for (const claim of await spool.claim())
    await deliverBy(spool.app, claim, async ({ recipients }) =>
      attemptWith(new Map(recipients.map(({ id }) => [id, { outcome }]))),
    );
}

async function engage(emailId: string, more: Partial<EngagementRequest>): Promise<void> {
  const request: EngagementRequest = {
    ...{ emailId: emailId as Id<'em'>, kind: 'click', link: 0, url: 'https://shop.example/' },
    ...{ at: spool.clock.now(), ip: '192.0.2.7', userAgent: FIREFOX, method: 'GET', isPrefetch: false },
    ...more,
  };
  await spool.app.db.commit(recordEngagements, [request]);
}

test('accepted, suppressed and canceled mail is counted by recipient', async () => {
  await post('/suppressions', { email: 'gone@gmail.com' });
  await spool.accept(['a@gmail.com', 'b@gmail.com', 'gone@gmail.com', 'c@yahoo.com'], {
    cc: ['d@d.example'],
  });
  const scheduledAt = new Date(spool.clock.now() + HOUR_MS).toISOString();
  assert.equal((await spool.cancel(await spool.accept('later@gmail.com', { scheduledAt }))).status, 200);
  await recounted(['accepted', 'suppressed', 'canceled']);
});

test('a batch is counted once, without the emails in it that are refused', async () => {
  const email = { from: 'Ada <ada@sender.example>', subject: 'Hi', text: 'Hi', type: 'transactional' };
  const emails = [
    { ...email, to: 'one@gmail.com' },
    { ...email, to: 'gone@gmail.com' },
    { ...email, to: ['two@gmail.com', 'three@outlook.com'] },
    { ...email, to: 'nobody' },
  ];
  const before = await countersOf(spool.app.db.read);
  const { body } = await post('/emails/batch', { emails });
  assert.deepEqual(
    body.data.map(({ status }: { status: string }) => status),
    ['queued', 'failed', 'queued', 'failed'],
  );
  assert.notDeepEqual(await countersOf(spool.app.db.read), before);
  await recounted();
});

test('a refused email and a repeated request count nothing', async () => {
  const email = { from: 'Ada <ada@sender.example>', subject: 'Hi', text: 'Hi', type: 'transactional' };
  const send = (to: string) =>
    spool.request('POST', '/v1/emails', {
      key: spool.liveKey,
      body: { ...email, to },
      headers: { 'idempotency-key': 'counted-once' },
    });
  assert.equal((await send('once@gmail.com')).status, 200);
  const before = await countersOf(spool.app.db.read);
  assert.equal((await send('once@gmail.com')).headers['idempotency-replayed'], 'true');
  assert.equal((await send('gone@gmail.com')).status, 409);
  assert.equal((await post('/emails', { ...email, to: 'gone@gmail.com' })).status, 422);
  assert.deepEqual(await countersOf(spool.app.db.read), before);
});

test('deliveries, bounces of each class and delays are counted once for each recipient', async () => {
  await spool.deliverDue();
  await recounted(['delivered']);
  const report = { ...NO_REPORT, phase: 'rcpt' as const, smtpCode: 550, text: 'No' };
  const codes = { permanent: '5.1.1', transient: '5.2.2', undetermined: '5.7.1' };
  for (const [bounce, enhancedCode] of Object.entries(codes)) {
    await spool.accept([`${bounce}@gmail.com`, `${bounce}@yahoo.com`]);
    await endAll({ kind: 'bounced', report: { ...report, enhancedCode } });
  }
  await spool.accept('slow@gmail.com');
  for (let attempt = 0; attempt < 4; attempt++) {
    await endAll({ kind: 'deferred', report: { ...report, smtpCode: 451 }, retryAfterMs: 5 * HOUR_MS });
    await spool.clock.advance(5 * HOUR_MS);
  }
  await spool.deliverDue();
  await recounted(['bouncedPermanent', 'bouncedTransient', 'bouncedUndetermined', 'delayed']);
  const { delayed } = await spool.app.db.read
    .selectFrom('recipients')
    .select(({ fn }) => fn.count<number>('delayNoticeAt').as('delayed'))
    .executeTakeFirstOrThrow();
  const counted = (await countersOf(spool.app.db.read)).filter((line) => / hour .* delayed = /.test(line));
  assert.equal(
    counted.reduce((sum, line) => sum + Number(line.split(' = ')[1]), 0),
    Number(delayed),
  );
});

test('mail of the simulator is counted with its complaints, opens and clicks, and apart by mode', async () => {
  const addresses = ['complained', 'opened', 'clicked', 'bounced', 'delayed'].map(
    (name) => `${name}@${SIMULATOR}`,
  );
  await spool.accept(addresses);
  await spool.accept(addresses, { key: spool.testKey });
  await spool.deliverDue();
  await spool.clock.advance(10_000);
  await spool.deliverDue();
  await recounted(['complained']);
  const modes = (await countersOf(spool.app.db.read)).filter((line) => line.includes(' complained = '));
  assert.deepEqual(
    modes.map((line) => [line.split(' ')[1], line.split(' = ')[1]]),
    ['live', 'live', 'test', 'test'].map((mode) => [mode, '1']),
  );
});

test('opens and clicks are counted by who made them, and the first of each email apart', async () => {
  const id = await spool.accept('reader@gmail.com');
  await spool.deliverDue();
  await spool.clock.advance(60_000);
  const open = { kind: 'open', link: null, url: null } as const;
  const work = createClassificationWork(spool.app);
  for (let round = 0; round < 2; round++) {
    for (const [index, what] of [open, {}].entries()) {
      await engage(id, what);
      await engage(id, { ...what, ip: `192.0.2.${100 + index}`, method: 'HEAD' });
    }
    await spool.clock.advance(HOUR_MS);
    await work.lease(1);
  }
  await recounted(['opened', 'uniqueOpened', 'machineOpened', 'clicked', 'uniqueClicked', 'machineClicked']);
  const uniques = (await countersOf(spool.app.db.read)).filter((line) => / gmail hour .* unique/.test(line));
  assert.deepEqual(
    uniques.map((line) => line.split(' ').slice(-3).join(' ')),
    ['uniqueClicked = 1', 'uniqueOpened = 1'],
  );
});

test('copies of a broadcast are counted under it, and readers who leave are counted', async () => {
  const contacts = ['x@gmail.com', 'y@gmail.com', 'z@readers.example', `complained@${SIMULATOR}`];
  const ids = await Promise.all(contacts.map((email) => campaign.addContact(email)));
  const broadcastId = await campaign.draft();
  assert.equal((await campaign.act(broadcastId, 'send')).status, 200);
  for (let round = 0; round < 10 && (await campaign.show(broadcastId)).status === 'sending'; round++) {
    await campaign.work();
    await spool.deliverDue();
    await spool.clock.advance(100);
  }
  await recounted();
  const lines = (await countersOf(spool.app.db.read)).filter((line) =>
    line.includes(`${broadcastId} gmail hour`),
  );
  assert.deepEqual(
    lines.map((line) => line.split(' ').slice(-3).join(' ')),
    ['accepted = 2', 'delivered = 2'],
  );
  await decide(spool.app, {
    tenantId: spool.tenantId,
    address: 'x@gmail.com',
    choices: { [ALL_TOPICS]: false },
  });
  await spool.request('PATCH', `/v1/audiences/${campaign.audienceId}/contacts/${ids[2]}`, {
    key: spool.liveKey,
    body: { unsubscribed: true },
  });
  const other = await spool.request('PATCH', `/v1/audiences/${campaign.audienceId}/contacts/${ids[1]}`, {
    key: spool.liveKey,
    body: { firstName: 'Yara' },
  });
  assert.equal(other.status, 200, 'a change that leaves nothing counts nothing');
  await recounted(COUNTERS);
});

test('an event at the end of an hour belongs to it, and the next millisecond to the next', async () => {
  const { clock } = spool;
  const next = (Math.floor(clock.now() / HOUR_MS) + 2) * HOUR_MS;
  await clock.advance(next - 1 - clock.now());
  await spool.accept('border@yahoo.com');
  await clock.advance(1);
  await spool.accept('border@yahoo.com');
  await recounted();
  const times = (await countersOf(spool.app.db.read))
    .filter((line) => / yahoo hour .* accepted = 1/.test(line))
    .map((line) => Date.parse(line.split(' ').at(-4) ?? ''));
  assert.deepEqual(times.slice(-2), [next - HOUR_MS, next]);
});
