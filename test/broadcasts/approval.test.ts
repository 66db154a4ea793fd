/** Broadcasts of keys that require approval stay drafts, or scheduled, until a person has approved what they are. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { approvingIn, DECISION_MS, HOUR_MS } from '../approvals/approving.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { failDomain, TAG } from './fixtures.ts';
import { openCampaign } from './sending/campaign.ts';

const campaign = await openCampaign();
const { spool, audienceId } = campaign;
const { clock, request, liveKey } = spool;
const { intern, decide, states, events, expire } = approvingIn(spool);
const key = await intern('broadcasts');
await campaign.addContact('one@readers.example');
after(() => campaign[Symbol.asyncDispose]());
// Ids of one millisecond are in no order.
beforeEach(() => clock.advance(1));

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString();
const HTML = `<p>Hello</p><a href="${TAG}">Unsubscribe</a>`;
const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, as = key) =>
  request(method, `/v1${path}`, { key: as, ...(body !== undefined && { body }) });

async function draft(more: object = {}, as = key): Promise<string> {
  const body = { audienceId, from: `ada@${SENDER_DOMAIN}`, subject: 'News', html: HTML, ...more };
  const made = await ask('POST', '/broadcasts', body, as);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

/** Creates a draft that waits for approval. */
async function sent(more: object = {}): Promise<string> {
  const id = await draft(more);
  const answer = await ask('POST', `/broadcasts/${id}/send`);
  assert.deepEqual(
    [answer.status, answer.body.status, answer.body.approval?.state],
    [200, 'draft', 'pending'],
  );
  return id;
}

const approve = (id: string, more = {}) => decide(`/broadcasts/${id}`, 'approve', more);
const decline = (id: string, more = {}) => decide(`/broadcasts/${id}`, 'decline', more);

/** Returns the status of a broadcast and the state of its approval, once its work is done. */
async function rest(id: string): Promise<[string, string | undefined]> {
  await campaign.work();
  const { status, approval } = await campaign.show(id);
  return [status, approval?.state];
}

test('a broadcast that such a key sends stays a draft, and an approval starts it', async () => {
  const id = await sent();
  assert.deepEqual(await rest(id), ['draft', 'pending']);
  assert.equal((await campaign.show(id)).approval.expiresAt, inMs(DECISION_MS));
  const answer = await approve(id);
  assert.deepEqual([answer.status, answer.body.broadcastId, answer.body.state], [200, id, 'approved']);
  assert.deepEqual(await rest(id), ['sending', 'approved']);
  assert.equal((await campaign.show(id)).counts.queued, 1);
  assert.deepEqual(await events(id), ['approval.requested', 'approval.approved']);
});

test('a repeated send asks once, and after the approval it starts nothing twice', async () => {
  const id = await sent();
  await ask('POST', `/broadcasts/${id}/send`);
  assert.deepEqual(await states(id), ['pending']);
  const both = await Promise.all([approve(id), approve(id), ask('POST', `/broadcasts/${id}/send`)]);
  assert.deepEqual(
    both
      .slice(0, 2)
      .map(({ status }) => status)
      .sort(),
    [200, 409],
  );
  assert.deepEqual(await rest(id), ['sending', 'approved']);
  assert.equal((await campaign.show(id)).counts.recipients, 1);
});

test('a scheduled one stays scheduled, waits beyond its time, and starts once it is approved', async () => {
  const [early, late] = [
    await draft({ scheduleAt: inMs(HOUR_MS) }),
    await draft({ scheduleAt: inMs(HOUR_MS) }),
  ];
  assert.deepEqual(await rest(early), ['scheduled', 'pending']);
  assert.equal((await approve(early)).status, 200);
  assert.deepEqual(await rest(early), ['scheduled', 'approved']);
  await clock.advance(HOUR_MS);
  assert.deepEqual(
    [await rest(early), await rest(late)],
    [
      ['sending', 'approved'],
      ['scheduled', 'pending'],
    ],
  );
  await clock.advance(5 * HOUR_MS);
  await approve(late);
  assert.deepEqual(await rest(late), ['sending', 'approved']);
});

test('any change asks again: of its fields, its time, its pace, and of what it names', async () => {
  const template = await ask('POST', '/templates', { name: 'News', subject: 'News', html: HTML }, liveKey);
  assert.equal(template.status, 201, JSON.stringify(template.body));
  const filter = (value: boolean) => ({ op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value }] });
  const segment = await ask(
    'POST',
    '/segments',
    { audienceId, name: 'Some', filter: filter(false) },
    liveKey,
  );
  assert.equal(segment.status, 201, JSON.stringify(segment.body));
  const segmentId: string = segment.body.id;
  const topic = await ask('POST', '/topics', { name: 'By choice', defaultOptIn: false }, liveKey);
  const topicId: string = topic.body.id;
  const changes: Record<string, (id: string) => Promise<{ status: number }>> = {
    subject: (id) => ask('PATCH', `/broadcasts/${id}`, { subject: 'Other' }, liveKey),
    html: (id) => ask('PATCH', `/broadcasts/${id}`, { templateId: null, html: `${HTML}!` }),
    time: (id) => ask('PATCH', `/broadcasts/${id}`, { scheduleAt: inMs(2 * HOUR_MS) }),
    pace: (id) => ask('PATCH', `/broadcasts/${id}`, { pace: { perHour: 10 } }),
    audience: (id) => ask('PATCH', `/broadcasts/${id}`, { segmentId: null, audienceId }),
    template: () => ask('PATCH', `/templates/${template.body.id}`, { html: `${HTML} ${clock.now()}` }),
    segment: () => ask('PATCH', `/segments/${segmentId}`, { filter: filter(true) }),
    'name of the topic': () => ask('PATCH', `/topics/${topicId}`, { name: 'Ours' }),
    'text of the topic': () => ask('PATCH', `/topics/${topicId}`, { description: 'Ours' }),
    'default of the topic': () => ask('PATCH', `/topics/${topicId}`, { defaultOptIn: true }),
  };
  for (const [name, change] of Object.entries(changes)) {
    await clock.advance(1);
    const id = await draft({
      html: null,
      templateId: template.body.id,
      segmentId,
      topicId,
      scheduleAt: inMs(HOUR_MS),
    });
    const { hash } = (await campaign.show(id)).approval;
    assert.equal((await approve(id)).status, 200, name);
    assert.equal((await change(id)).status, 200, name);
    await clock.advance(2 * HOUR_MS);
    await campaign.work();
    const { status, approval } = await campaign.show(id);
    assert.deepEqual([status, approval.state], ['scheduled', 'pending'], name);
    assert.notEqual(approval.hash, hash, name);
    assert.equal((await approve(id, { hash })).status, 409, name);
    await ask('DELETE', `/broadcasts/${id}`);
  }
});

test('what has changed since it was read is not approved, but asks again', async () => {
  const template = await ask('POST', '/templates', { name: 'Late', subject: 'News', html: HTML }, liveKey);
  const id = await sent({ html: null, templateId: template.body.id });
  const { hash } = (await campaign.show(id)).approval;
  await ask('PATCH', `/templates/${template.body.id}`, { html: `${HTML}!` });
  assert.equal((await approve(id, { hash })).status, 409);
  assert.deepEqual(await states(id), ['pending']);
  assert.deepEqual(await rest(id), ['draft', 'pending']);
  assert.equal((await approve(id)).status, 200);
  assert.deepEqual(await rest(id), ['sending', 'approved']);
});

test('a topic for few that is made one for all before the decision asks again', async () => {
  const topic = await ask('POST', '/topics', { name: 'For few', defaultOptIn: false }, liveKey);
  const id = await sent({ topicId: topic.body.id });
  const { hash } = (await campaign.show(id)).approval;
  assert.equal((await ask('PATCH', `/topics/${topic.body.id}`, { defaultOptIn: true })).status, 200);
  assert.equal((await approve(id, { hash })).status, 409);
  assert.deepEqual(await rest(id), ['draft', 'pending']);
});

test('an approval and a change at the same time never send what nobody has approved', async () => {
  for (let round = 0; round < 10; round++) {
    await clock.advance(1);
    const id = await sent();
    await Promise.all([
      approve(id),
      ask('PATCH', `/broadcasts/${id}`, { subject: 'Other' }),
      campaign.work(),
    ]);
    const { approval, status, subject } = await campaign.show(id);
    // Either the broadcast has started with the subject that was approved, or it waits with the other one.
    assert.ok(
      (approval.state === 'approved' && subject === 'News') ||
        (approval.state === 'pending' && status === 'draft'),
      JSON.stringify([approval.state, status, subject]),
    );
  }
});

test('a declined broadcast is a draft again, which can be changed and sent again', async () => {
  const id = await draft({ scheduleAt: inMs(HOUR_MS) });
  assert.equal((await decline(id, { reason: 'Too early' })).status, 200);
  const { status, scheduleAt, approval } = await campaign.show(id);
  assert.deepEqual(
    [status, scheduleAt, approval.state, approval.reason],
    ['draft', null, 'declined', 'Too early'],
  );
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(await rest(id), ['draft', 'declined']);
  await ask('PATCH', `/broadcasts/${id}`, { scheduleAt: inMs(HOUR_MS) });
  assert.deepEqual(await rest(id), ['scheduled', 'pending']);
});

test('an approval that nobody gives expires, and one that was given in time does not', async () => {
  const [late, timely] = [await draft({ scheduleAt: inMs(HOUR_MS) }), await sent()];
  await clock.advance(HOUR_MS);
  await approve(timely);
  await clock.advance(DECISION_MS - 1);
  await expire();
  assert.deepEqual(await states(late), ['pending']);
  await clock.advance(1);
  const [refused] = await Promise.all([approve(late), expire()]);
  assert.equal(refused.status, 409);
  assert.deepEqual(await rest(late), ['draft', 'expired']);
  assert.deepEqual(await states(timely), ['approved']);
});

test('a key that needs no approval sends what waits, and the approval is withdrawn', async () => {
  const id = await sent();
  assert.equal((await ask('POST', `/broadcasts/${id}/send`, undefined, liveKey)).body.status, 'sending');
  assert.deepEqual(await states(id), ['withdrawn']);
});

test('a canceled, unscheduled or deleted broadcast asks no more', async () => {
  const at = { scheduleAt: inMs(HOUR_MS) };
  const [canceled, unscheduled, deleted] = [await draft(at), await draft(at), await draft(at)];
  assert.equal((await ask('POST', `/broadcasts/${canceled}/cancel`)).status, 200);
  assert.equal((await ask('PATCH', `/broadcasts/${unscheduled}`, { scheduleAt: null })).body.approval, null);
  assert.equal((await ask('DELETE', `/broadcasts/${deleted}`)).status, 204);
  for (const id of [canceled, unscheduled, deleted]) assert.deepEqual(await states(id), ['withdrawn']);
  await clock.advance(2 * HOUR_MS);
  assert.deepEqual(await rest(unscheduled), ['draft', undefined]);
});

test('a change by such a key makes a broadcast wait that needed no approval before', async () => {
  const id = await draft({ scheduleAt: inMs(HOUR_MS) }, liveKey);
  assert.equal((await campaign.show(id)).approval, null);
  assert.equal(
    (await ask('PATCH', `/broadcasts/${id}`, { subject: 'Other' })).body.approval.state,
    'pending',
  );
  await clock.advance(HOUR_MS);
  assert.deepEqual(await rest(id), ['scheduled', 'pending']);
});

test('such a key pauses and cancels, but neither resumes nor changes the pace of what has started', async () => {
  const id = await sent();
  await approve(id);
  await rest(id);
  assert.equal((await ask('PATCH', `/broadcasts/${id}`, { pace: null })).status, 403);
  assert.equal((await ask('POST', `/broadcasts/${id}/pause`)).status, 200);
  assert.equal((await ask('POST', `/broadcasts/${id}/resume`)).status, 403);
  assert.equal((await ask('POST', `/broadcasts/${id}/cancel`)).status, 200);
});

test('a test of such a broadcast is mail of the type broadcast, and waits too', async () => {
  const id = await draft();
  const answer = await ask('POST', `/broadcasts/${id}/test`, { to: ['ada@readers.example'] });
  const [{ id: emailId }] = answer.body.data;
  assert.equal((await spool.email(emailId)).approval.state, 'pending');
});

/** Creates a broadcast that is scheduled by a key that needs no approval, and asks with the other key to send it now. */
async function hurried(ms: number, more: object = {}): Promise<string> {
  const id = await draft({ scheduleAt: inMs(ms), ...more }, liveKey);
  const { body } = await ask('POST', `/broadcasts/${id}/send`);
  assert.deepEqual([body.status, body.approval.state], ['scheduled', 'pending']);
  return id;
}

test('a request to send now leaves the schedule of another key, whether it is declined, expires or waits', async () => {
  const [declined, expired, waiting] = [
    await hurried(DECISION_MS + HOUR_MS),
    await hurried(DECISION_MS + HOUR_MS),
    await hurried(HOUR_MS),
  ];
  assert.equal((await decline(declined)).status, 200);
  await clock.advance(HOUR_MS);
  assert.deepEqual([await rest(waiting), await states(waiting)], [['sending', undefined], ['withdrawn']]);
  await clock.advance(DECISION_MS - HOUR_MS);
  await expire();
  assert.deepEqual([await states(declined), await states(expired)], [['declined'], ['expired']]);
  const statuses = async () => [(await rest(declined))[0], (await rest(expired))[0]];
  assert.deepEqual(await statuses(), ['scheduled', 'scheduled']);
  assert.equal((await campaign.show(declined)).scheduleAt, inMs(HOUR_MS));
  await clock.advance(HOUR_MS);
  assert.deepEqual(await statuses(), ['sending', 'sending']);
});

test('a request to send now is approved before the schedule, and one that is late ends with it', async () => {
  const [approved, late] = [await hurried(HOUR_MS), await hurried(HOUR_MS)];
  await approve(approved);
  assert.deepEqual(await rest(approved), ['sending', 'approved']);
  await clock.advance(3 * HOUR_MS);
  assert.deepEqual(await rest(late), ['paused', undefined]);
  assert.equal((await campaign.show(approved)).counts.recipients, 1);
});

test('a schedule that needs no approval stays when its owner changes the broadcast, and not when such a key does', async () => {
  const [byOwner, byIntern] = [await hurried(HOUR_MS), await hurried(HOUR_MS)];
  const { approval } = await campaign.show(byOwner);
  const subject = { subject: 'Other' };
  const own = await ask('PATCH', `/broadcasts/${byOwner}`, subject, liveKey);
  assert.notEqual(own.body.approval.hash, approval.hash);
  await ask('PATCH', `/broadcasts/${byIntern}`, subject);
  await clock.advance(HOUR_MS);
  assert.deepEqual(
    [await rest(byOwner), await rest(byIntern)],
    [
      ['sending', undefined],
      ['scheduled', 'pending'],
    ],
  );
  await decline(byIntern);
  assert.equal((await campaign.show(byIntern)).status, 'draft');
});

test('what was approved to be sent now and has changed since asks again, and leaves at its schedule', async () => {
  const template = await ask('POST', '/templates', { name: 'T', subject: 'News', html: HTML }, liveKey);
  const id = await hurried(HOUR_MS, { html: null, templateId: template.body.id });
  await approve(id);
  await ask('PATCH', `/templates/${template.body.id}`, { html: `${HTML}!` }, liveKey);
  assert.deepEqual(await rest(id), ['scheduled', 'pending']);
  await clock.advance(HOUR_MS);
  assert.deepEqual(await rest(id), ['sending', undefined]);
});

test('a request to send now gives up a time that needs approval', async () => {
  for (const isApproved of [false, true]) {
    const id = await draft({ scheduleAt: inMs(HOUR_MS) });
    if (isApproved) await approve(id);
    const { body } = await ask('POST', `/broadcasts/${id}/send`);
    assert.deepEqual([body.status, body.scheduleAt, body.approval.state], ['draft', null, 'pending']);
    await clock.advance(HOUR_MS);
    assert.deepEqual(await rest(id), ['draft', 'pending']);
    await approve(id);
    assert.deepEqual(await rest(id), ['sending', 'approved']);
  }
});

test('an approved draft that can no longer be sent fails, and says why', async () => {
  const id = await sent();
  await approve(id);
  failDomain(spool, SENDER_DOMAIN);
  const [status] = await rest(id);
  assert.equal(status, 'failed');
  assert.match((await campaign.show(id)).failure, /sender\.example/);
});
