import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { createBroadcastKind } from '../../../src/broadcasts/worker.ts';
import type { BroadcastRow } from '../../../src/db/marketing-tables.ts';
import { BROADCAST_TASKS } from '../../../src/ledger/run-store.ts';
import { importCsv } from '../../imports/jobs.ts';
import type { Spool } from '../../support/spool.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { insertRow } from '../fixtures.ts';
import { createInterruptible } from './between.ts';
import { openCampaign } from './campaign.ts';
import { createStepper } from './stepper.ts';

const campaign = await openCampaign();
after(() => campaign[Symbol.asyncDispose]());

/** Delivers until the sink has got everything, and returns what it got meanwhile by recipient. */
async function deliverAll(id: string): Promise<Map<string, Buffer[]>> {
  const { sink, spool } = campaign;
  for (let rounds = 0; rounds < 10; rounds++) {
    await campaign.work();
    await spool.deliverDue();
    if ((await campaign.show(id)).status !== 'sending') break;
    await spool.clock.advance(100);
  }
  const got = new Map<string, Buffer[]>();
  for (const { recipients, raw } of sink.messages.splice(0))
    for (const recipient of recipients)
      got.set(recipient, [...(got.get(recipient) ?? []), raw ?? Buffer.alloc(0)]);
  return got;
}

test('each contact gets the broadcast once, with values of its own', async () => {
  for (let index = 0; index < 120; index++)
    await campaign.addContact(`r${index}@readers.example`, { firstName: `Reader ${index}` });
  await campaign.addContact('nameless@readers.example');
  await campaign.addContact('left@readers.example', { unsubscribed: true });
  const id = await campaign.draft();
  const started = await campaign.act(id, 'send');
  assert.equal(started.status, 200, JSON.stringify(started.body));
  assert.equal(started.body.status, 'sending');
  const got = await deliverAll(id);
  assert.equal(got.size, 121);
  assert.ok([...got.values()].every((copies) => copies.length === 1));
  const shown = await campaign.show(id);
  assert.equal(shown.status, 'sent');
  assert.ok(shown.sentAt);
  const { recipients, delivered, optedOut, sent } = shown.counts;
  assert.deepEqual(
    { recipients, delivered, optedOut, sent },
    { recipients: 122, delivered: 121, optedOut: 1, sent: 121 },
  );
  const mail = await simpleParser(got.get('r7@readers.example')?.[0] ?? '');
  assert.equal(mail.subject, 'News, Reader 7');
  assert.match(String(mail.html), /Hello Reader 7<\/p><a href="https:\/\/track\./);
  assert.match(mail.text ?? '', /Hello Reader 7/);
  assert.match(String(mail.headers.get('feedback-id')), new RegExp(`^${id}:aud_`));
  const nameless = await simpleParser(got.get('nameless@readers.example')?.[0] ?? '');
  assert.equal(nameless.subject, 'News, friend');
});

test('nothing is claimed after a pause, and a resume sends what is left', async () => {
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  await campaign.work();
  const before = await campaign.show(id);
  assert.equal(before.counts.queued, 121);
  assert.equal((await campaign.act(id, 'pause')).body.pausedReason, 'manual');
  assert.deepEqual(await campaign.spool.claim(), []);
  assert.equal((await deliverAll(id)).size, 0);
  assert.equal((await campaign.act(id, 'pause')).status, 409);
  assert.equal((await campaign.act(id, 'resume')).body.status, 'sending');
  assert.equal((await deliverAll(id)).size, 121);
  assert.equal((await campaign.show(id)).status, 'sent');
});

test('a canceled broadcast reaches nobody else, and its counts say so', async () => {
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  await campaign.work();
  await campaign.act(id, 'cancel');
  assert.deepEqual(await campaign.spool.claim(), [], 'before the background work has canceled the copies');
  await campaign.work();
  const { status, counts } = await campaign.show(id);
  assert.equal(status, 'canceled');
  assert.equal(counts.canceled, 121);
  assert.equal((await campaign.act(id, 'resume')).status, 409);
  assert.equal((await deliverAll(id)).size, 0);
});

test('of two requests to send, one starts the broadcast', async () => {
  const id = await campaign.draft();
  const answers = await Promise.all([campaign.act(id, 'send'), campaign.act(id, 'send')]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  assert.equal((await deliverAll(id)).size, 121);
});

test('a contact who unsubscribes, is suppressed or is deleted while waiting gets no copy', async () => {
  const id = await campaign.draft();
  const { request, liveKey: key, clock } = campaign.spool;
  await campaign.act(id, 'send');
  const contacts = `/v1/audiences/${campaign.audienceId}/contacts`;
  await campaign.work();
  await request('PATCH', `${contacts}/r1@readers.example`, { key, body: { unsubscribed: true } });
  await request('POST', '/v1/suppressions', { key, body: { email: 'r2@readers.example' } });
  await request('DELETE', `${contacts}/r3@readers.example`, { key });
  await clock.advance(1);
  const got = await deliverAll(id);
  assert.equal(got.has('r1@readers.example'), false);
  assert.equal(got.has('r2@readers.example'), false);
  const { counts } = await campaign.show(id);
  assert.equal(counts.optedOut, 2);
  assert.equal(counts.suppressed, 1);
});

test('the end of a broadcast is one event, with its counts', async () => {
  const id = await campaign.draft();
  const ends = async () => {
    const { read } = campaign.spool.app.db;
    const rows = await read.selectFrom('events').selectAll().where('type', '=', 'broadcast.sent').execute();
    return rows.flatMap(({ data, mode, emailId }) => {
      const shown = JSON.parse(data);
      return shown.id === id ? [{ shown, mode, emailId }] : [];
    });
  };
  await campaign.act(id, 'send');
  await campaign.work();
  assert.deepEqual(await ends(), [], 'copies are in the queue');
  await deliverAll(id);
  for (let rounds = 0; rounds < 3; rounds++) {
    await campaign.spool.clock.advance(60_000);
    await campaign.work();
    await campaign.spool.deliverDue();
  }
  const [end, ...others] = await ends();
  assert.deepEqual(others, []);
  assert.deepEqual([end?.mode, end?.emailId, end?.shown.status], ['live', null, 'sent']);
  const { html: _, text: __, ...summary } = await campaign.show(id);
  assert.deepEqual(end?.shown.counts.recipients, summary.counts.recipients);
  assert.equal(end?.shown.sentAt, summary.sentAt);
});

test('a second broadcast goes to those who got the first one and did not open it', async () => {
  await using campaign = await openCampaign();
  const { spool, sink } = campaign;
  const ask = (method: 'GET' | 'POST', path: string, body?: unknown, key = spool.liveKey) =>
    spool.request(method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
  const deliver = async (id: string): Promise<string[]> => {
    assert.equal((await campaign.act(id, 'send')).status, 200);
    for (let rounds = 0; rounds < 10 && (await campaign.show(id)).status === 'sending'; rounds++) {
      await campaign.work();
      await spool.deliverDue();
      await spool.clock.advance(100);
    }
    return sink.messages.splice(0).flatMap(({ recipients }) => recipients);
  };
  const reader = await campaign.addContact('reader@readers.example');
  await campaign.addContact('missed@readers.example');
  const id = await campaign.draft();
  assert.equal((await deliver(id)).length, 2);
  await campaign.addContact('new@readers.example');
  insertRow(spool, 'broadcastEngagements', {
    ...{
      broadcastId: id as BroadcastRow['id'],
      contactId: reader,
      openedAt: 1,
      clickedAt: null,
      links: '[]',
    },
  });

  const { audienceId } = campaign;
  const ofBroadcast = (field: string, cmp: string, value: unknown = id) => ({ field, cmp, value });
  const count = async (...rules: object[]) => {
    const answer = await ask('POST', '/segments/count', { audienceId, filter: { op: 'and', rules } });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.contactCount;
  };
  assert.equal(await count(ofBroadcast('delivered', 'eq')), 2);
  assert.equal(await count(ofBroadcast('delivered', 'within_days', 1)), 2);
  assert.equal(await count(ofBroadcast('delivered', 'not_within_days', 1)), 1);
  const rules = [ofBroadcast('delivered', 'eq'), ofBroadcast('opened', 'ne')];
  const segment = await ask('POST', '/segments', {
    name: 'Missed',
    audienceId,
    filter: { op: 'and', rules },
  });
  assert.equal(segment.status, 201, JSON.stringify(segment.body));
  const again = await campaign.draft({ audienceId: undefined, segmentId: segment.body.id });
  assert.deepEqual(await deliver(again), ['missed@readers.example']);

  const other = await spool.addTenant('other');
  const theirs = await ask('POST', '/audiences', { name: 'Theirs' }, other.liveKey);
  const filter = { op: 'or', rules };
  const refused = await ask('POST', '/segments/count', { audienceId: theirs.body.id, filter }, other.liveKey);
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'filter.rules[0].value']);
  assert.match(refused.body.error.message, /does not name one of your broadcasts/);
});

/** One resume makes the copies due again in several writes. */
const PARKED = 250;

/** Returns the number of copies that wait for the resume of their broadcast. */
async function countParked({ app }: Spool): Promise<number> {
  const { parked } = await app.db.read
    .selectFrom('recipients')
    .select(({ fn }) => fn.countAll<number>().as('parked'))
    .where('state', '=', 'deferred')
    .where('dueAt', 'is', null)
    .executeTakeFirstOrThrow();
  return parked;
}

test('deferred copies that a pause parked are all tried again after the resume, also when nobody else waits', async () => {
  await using campaign = await openCampaign();
  const { spool, audienceId } = campaign;
  const rows = Array.from({ length: PARKED }, (_, index) => `r${index}@readers.example`);
  await importCsv(spool, `/v1/audiences/${audienceId}/contacts/imports`, `email\n${rows.join('\n')}\n`);
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  const stepper = createStepper(spool);
  while ((await campaign.show(id)).counts.queued < PARKED) assert.ok(await stepper.step());
  while ((await stepper.claim()) > 0);
  while (stepper.claims > 0) await stepper.deliver('deferred');
  assert.equal((await campaign.act(id, 'pause')).status, 200);
  await spool.clock.advance(120_000);
  while ((await countParked(spool)) < PARKED) assert.equal(await stepper.claim(), 0);
  assert.equal((await campaign.act(id, 'resume')).status, 200);
  await stepper.drain();
  assert.equal(stepper.got.size, PARKED);
  await spool.clock.advance(100);
  await stepper.drain();
  const { status, counts } = await campaign.show(id);
  assert.deepEqual([status, counts.delivered], ['sent', PARKED]);
});

test('a broadcast that is paused and resumed right before its end tries the copies that were parked meanwhile', async () => {
  await using campaign = await openCampaign();
  const { spool } = campaign;
  await campaign.addContact('r@readers.example');
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  const { app, before } = createInterruptible(spool.app);
  const stepper = createStepper(spool, app);
  while ((await campaign.show(id)).counts.queued < 1) assert.ok(await stepper.step());
  await stepper.claim();
  await stepper.deliver('deferred');
  await spool.clock.advance(120_000);
  before('broadcasts.copy', async () => {
    assert.equal((await campaign.act(id, 'pause')).status, 200);
    assert.equal(await stepper.claim(), 0);
    assert.equal(await countParked(spool), 1);
    assert.equal((await campaign.act(id, 'resume')).status, 200);
  });
  await stepper.drain();
  await spool.clock.advance(100);
  await stepper.drain();
  assert.equal(stepper.got.size, 1);
});

test('a broadcast is served although an earlier one of its tenant is due again and again', async () => {
  await using campaign = await openCampaign();
  const { app, clock } = campaign.spool;
  for (const name of ['a', 'b', 'c']) await campaign.addContact(`${name}@readers.example`);
  for (let count = 0; count < 2; count++) {
    const id = await campaign.draft({ pace: { perDay: 1 } });
    await campaign.act(id, 'send');
    await clock.advance(1_000);
  }
  const kind = createBroadcastKind(app);
  const served = new Set<string>();
  for (let steps = 0; steps < 4; steps++) {
    for (const broadcastId of await runDueTasks(app, kind, 1)) served.add(broadcastId);
    await clock.advance(10_000);
  }
  assert.equal(served.size, 2);
});

test('a broadcast takes no step while its copies wait for their first attempt, and ends once the last was attempted', async () => {
  await using campaign = await openCampaign();
  const { app, clock } = campaign.spool;
  for (const name of ['a', 'b']) await campaign.addContact(`${name}@readers.example`);
  const id = await campaign.draft();
  await campaign.act(id, 'send');
  await campaign.work();
  await clock.advance(3_600_000);
  assert.deepEqual(await runDueTasks(app, createBroadcastKind(app)), []);
  const woken = Promise.withResolvers<void>();
  const stopListening = app.wakeups.listen('tasks', (subjects = []) => {
    if (subjects.includes(`${BROADCAST_TASKS} ${campaign.spool.tenantId}`)) woken.resolve();
  });
  await campaign.spool.deliverDue();
  await woken.promise;
  stopListening();
  await clock.advance(100);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'sent');
});
