/** A pending contact gets no marketing mail: it is in no ledger and no preflight, and no attempt to deliver reaches it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createConfirmationKind } from '../../src/confirmations/feature.ts';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { type Campaign, openCampaign } from '../broadcasts/sending/campaign.ts';
import { runDueTasks } from '../support/tasks.ts';
import { FROM } from './world.ts';

let campaign: Campaign;
let topicId: string;
const key = () => campaign.spool.liveKey;
before(async () => {
  campaign = await openCampaign();
  const { audienceId } = campaign;
  await ask('PATCH', `/audiences/${audienceId}`, { optIn: { from: FROM } });
  topicId = (await ask('POST', '/topics', { name: 'News', defaultOptIn: true })).id;
});
after(() => campaign[Symbol.asyncDispose]());

async function ask(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) {
  const answer = await campaign.spool.request(method, `/v1${path}`, {
    key: key(),
    ...(body !== undefined && { body }),
  });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

const pend = (email: string) => campaign.addContact(email, { status: 'pending' });

/** Returns the status that a marketing email to the address gets. */
async function statusOfMail(address: string, topic = topicId): Promise<number> {
  const body = { from: FROM, to: address, subject: 's', text: 't', type: 'broadcast', topicId: topic };
  return (await campaign.spool.request('POST', '/v1/emails', { key: key(), body })).status;
}

test('the ledger, the preflight and the counts of a broadcast leave pending contacts out; lists and segments show them', async () => {
  const { audienceId } = campaign;
  await campaign.addContact('sure@readers.example');
  const pendingId = await pend('perhaps@readers.example');
  const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };
  const segment = await ask('POST', '/segments', { name: 'All', audienceId, filter });
  for (const target of [{}, { audienceId: undefined, segmentId: segment.id }]) {
    const id = await campaign.draft({ topicId, ...target });
    const preflight = await ask('GET', `/broadcasts/${id}/preflight`);
    assert.equal(preflight.recipients.total ?? preflight.recipients, 1, JSON.stringify(preflight));
    await campaign.act(id, 'send');
    await campaign.work();
    await campaign.spool.deliverDue();
    await campaign.work();
    const { counts } = await campaign.show(id);
    assert.deepEqual([counts.recipients, counts.delivered], [1, 1]);
    const recipients = await ask('GET', `/broadcasts/${id}/recipients`);
    assert.deepEqual(
      recipients.data.map(({ email }: { email: string }) => email),
      ['sure@readers.example'],
    );
  }
  const members = await ask('GET', `/segments/${segment.id}/contacts`);
  const shown = members.data.find(({ id }: { id: string }) => id === pendingId);
  assert.deepEqual([shown.status, shown.confirmation.count], ['pending', 1]);
  assert.equal((await ask('GET', `/segments/${segment.id}`)).contactCount, 2);
  const listed = await ask('GET', `/audiences/${audienceId}/contacts`);
  assert.deepEqual(listed.data.map(({ status }: { status: string }) => status).toSorted(), [
    'pending',
    'subscribed',
  ]);
});

test('a contact that becomes pending while its mail waits is not mailed', async () => {
  const { audienceId } = campaign;
  const email = 'again@readers.example';
  await campaign.addContact(email);
  const id = await campaign.draft({ topicId });
  await campaign.act(id, 'send');
  await campaign.work();
  await ask('DELETE', `/audiences/${audienceId}/contacts/${email}`);
  await pend(email);
  const before = campaign.sink.messages.length;
  await campaign.spool.deliverDue();
  await campaign.work();
  const mailed = campaign.sink.messages.slice(before).flatMap(({ recipients }) => recipients);
  assert.ok(!mailed.includes(email), mailed.join());
});

test('a single marketing email is refused to a pending address, and not to one that is subscribed elsewhere', async () => {
  const [alone, elsewhere] = ['alone@rcpt.example', 'elsewhere@rcpt.example'];
  const other = await ask('POST', '/audiences', { name: 'Others' });
  await pend(alone);
  await pend(elsewhere);
  await ask('POST', `/audiences/${other.id}/contacts`, { email: elsewhere });
  assert.deepEqual([await statusOfMail(alone), await statusOfMail(elsewhere.toUpperCase())], [422, 200]);
  const body = { from: FROM, to: alone, subject: 's', text: 't', type: 'transactional' };
  assert.equal((await campaign.spool.request('POST', '/v1/emails', { key: key(), body })).status, 200);
  await ask('DELETE', `/audiences/${other.id}`);
  assert.equal(await statusOfMail(elsewhere), 422, 'a deleted audience subscribes nobody');
});

test('a single marketing email that waits is not sent to an address that became pending', async () => {
  const email = 'late@readers.example';
  const body = { from: FROM, to: email, subject: 's', text: 't', type: 'broadcast', topicId };
  const { id } = await ask('POST', '/emails', body);
  await pend(email);
  await campaign.spool.deliverDue();
  const { recipients } = await ask('GET', `/emails/${id}`);
  assert.equal(recipients[0].status, 'suppressed', JSON.stringify(recipients));
  const mailed = campaign.sink.messages.flatMap((message) => message.recipients);
  assert.ok(!mailed.includes(email), mailed.join());
});

test('the opt-ins of a pending contact hold only once it has confirmed', async () => {
  const { id: rare } = await ask('POST', '/topics', { name: 'Rare', defaultOptIn: false });
  const other = await ask('POST', '/audiences', { name: 'Reliable' });
  const email = 'chooser@rcpt.example';
  await ask('POST', `/audiences/${other.id}/contacts`, { email });
  await campaign.addContact(email, { status: 'pending', topics: [{ id: rare, subscription: 'opt_in' }] });
  assert.equal(await statusOfMail(email, rare), 422);
  const { app } = campaign.spool;
  await runDueTasks(app, createConfirmationKind(app));
  const [mail] = (await ask('GET', `/emails?to=${email}`)).data;
  const { text } = await ask('GET', `/emails/${mail.id}`);
  const pages = createPreferencesApp(app).app;
  const confirmed = await pages.inject({
    method: 'POST',
    url: /\/confirm\/[\w-]+/.exec(text)?.[0] ?? '',
    payload: 'action=confirm',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await pages.close();
  assert.equal(confirmed.statusCode, 200);
  assert.equal(await statusOfMail(email, rare), 200);
});
