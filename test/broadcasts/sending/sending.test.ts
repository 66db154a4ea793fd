import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { type Campaign, openCampaign } from './campaign.ts';

let campaign: Campaign;
before(async () => {
  campaign = await openCampaign();
});
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
