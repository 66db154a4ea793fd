/** Emails of keys that require approval wait until a person has approved what they are. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { defineWrite } from '../../src/db/operation.ts';
import { getMail } from '../../src/queue/mail-store.ts';
import { changeEach } from '../../src/queue/state/change.ts';
import { releaseRecipients } from '../../src/queue/state/hold.ts';
import { approvingIn, DECISION_MS, fillApprovals, HOUR_MS } from '../approvals/approving.ts';
import { act } from '../support/queue-action.ts';
import { eventTypes, openSpool, SENDER_DOMAIN } from '../support/spool.ts';

const spool = await openSpool();
const { app, clock, request, liveKey } = spool;
const { intern, decide, states, events, expire } = approvingIn(spool);
const key = await intern('broadcasts_and_emails');
after(() => spool.close());
// Ids of one millisecond are in no order.
beforeEach(() => clock.advance(1));

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString();
const accept = (more: object = {}) => spool.accept('ann@readers.example', { key, ...more });
const isClaimed = async (id: string) => (await spool.claim()).some(({ message }) => message.id === id);
const statuses = async (id: string): Promise<string[]> =>
  (await spool.email(id)).recipients.map(({ status }: { status: string }) => status);

test('an email of such a key stays queued, its recipients held with the reason approval', async () => {
  const body = {
    ...{ from: `ada@${SENDER_DOMAIN}`, to: ['ann@readers.example', 'bob@readers.example'] },
    ...{ subject: 'Hi', text: 'Hello', type: 'transactional' },
  };
  const sent = await request('POST', '/v1/emails', { key, body });
  assert.deepEqual([sent.body.status, sent.body.approval.state], ['queued', 'pending']);
  const email = await spool.email(sent.body.id);
  assert.equal(email.status, 'queued');
  assert.deepEqual(
    email.recipients.map((one: { status: string; holdReason: string }) => [one.status, one.holdReason]),
    [
      ['held', 'approval'],
      ['held', 'approval'],
    ],
  );
  assert.deepEqual(email.approval, {
    state: 'pending',
    hash: sent.body.approval.hash,
    expiresAt: inMs(DECISION_MS),
    decidedAt: null,
    reason: null,
  });
  assert.deepEqual(eventTypes(email).slice(0, 2), ['email.queued', 'email.queued']);
  assert.deepEqual(await events(email.id), ['approval.requested']);
  assert.deepEqual(await spool.claim(), []);
});

test('an approved email leaves, dated by the approval, and everybody else sees who has approved it', async () => {
  const id = await accept();
  await clock.advance(HOUR_MS);
  const answer = await decide(`/emails/${id}`, 'approve');
  assert.equal(answer.status, 200);
  const { state, decidedAt, decidedBy, emailId } = answer.body;
  const keys = await request('GET', '/v1/api-keys', { key: liveKey });
  const decider = keys.body.data.find(({ id }: { id: string }) => id === decidedBy);
  assert.deepEqual([state, decidedAt, decider.name, emailId], ['approved', inMs(0), 'live key', id]);
  const [claim] = await spool.claim();
  assert.deepEqual([claim?.message.id, claim?.message.datedAt], [id, clock.now()]);
  assert.equal(claim?.recipients[0]?.holdReason, null);
  assert.deepEqual(await events(id), ['approval.requested', 'approval.approved']);
});

test('mail is approved once, and not what somebody else has read', async () => {
  const id = await accept();
  const stale = await decide(`/emails/${id}`, 'approve', { hash: '0'.repeat(64) });
  assert.deepEqual([stale.status, stale.body.error.type], [409, 'invalid_state']);
  const both = await Promise.all([
    decide(`/emails/${id}`, 'approve'),
    decide(`/emails/${id}`, 'approve'),
    decide(`/emails/${id}`, 'decline'),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.equal((await states(id)).length, 1);
});

test('a declined email is canceled with the reason, and can no longer be approved', async () => {
  const id = await accept();
  assert.equal((await decide(`/emails/${id}`, 'decline', { reason: 'The price is wrong' })).status, 200);
  const email = await spool.email(id);
  assert.deepEqual(
    [email.status, email.recipients[0].diagnostic, email.approval.state, email.approval.reason],
    ['canceled', 'The email was not approved: The price is wrong', 'declined', 'The price is wrong'],
  );
  assert.equal((await decide(`/emails/${id}`, 'approve')).status, 409);
  assert.deepEqual(await events(id), ['approval.requested', 'approval.declined']);
});

test('nobody approves an email after its time, and the task cancels it', async () => {
  const [late, decided] = [await accept(), await accept()];
  await decide(`/emails/${decided}`, 'approve');
  await clock.advance(DECISION_MS - 1);
  await expire();
  assert.deepEqual(await states(late), ['pending']);
  await clock.advance(1);
  assert.equal((await decide(`/emails/${late}`, 'approve')).status, 409);
  await expire();
  const email = await spool.email(late);
  assert.deepEqual(
    [email.status, email.approval.state, email.recipients[0].diagnostic],
    ['canceled', 'expired', 'Nobody has approved the email in time'],
  );
  assert.deepEqual(await states(decided), ['approved']);
});

test('no release of the operator approves mail, and its other holds stay as they are', async () => {
  const [unapproved, other] = [await accept(), await spool.accept('bob@readers.example')];
  await act(app, 'hold', { emailId: other });
  for (const criteria of [
    {},
    { emailId: unapproved },
    { tenantId: spool.tenantId },
    { domain: 'readers.example' },
  ])
    await act(app, 'release', criteria);
  assert.deepEqual([await statuses(unapproved), await statuses(other)], [['held'], ['queued']]);
  for (const verb of ['retry', 'reroute'] as const)
    await act(app, verb, { target: verb === 'reroute' ? 'relay.example' : null });
  assert.deepEqual(await statuses(unapproved), ['held']);
  assert.ok((await spool.claim()).every(({ message }) => message.id !== unapproved));
  await decide(`/emails/${unapproved}`, 'approve');
  assert.ok((await spool.claim()).some(({ message }) => message.id === unapproved));
  await act(app, 'reroute', {});
});

test('the state machine itself refuses to release mail that waits for approval', async () => {
  const id = await accept();
  const release = defineWrite('test.release', async (tx, messageId: string) => {
    const mail = await getMail(tx, messageId);
    assert.equal(await releaseRecipients(tx, mail, { now: clock.now(), isReleased: () => true }), 0);
    await assert.rejects(
      changeEach(tx, mail, { now: 0, transitionOf: () => ({ cause: 'released', dueAt: 0 }) }),
      /is held for approval/,
    );
  });
  await release.run(app.db.read as never, id);
});

test('mail that the operator cancels or fails, or its tenant cancels, waits for no approval any more', async () => {
  const [canceled, failed, withdrawn] = [await accept(), await accept(), await accept()];
  await act(app, 'cancel', { emailId: canceled });
  await act(app, 'fail', { emailId: failed });
  assert.equal((await request('POST', `/v1/emails/${withdrawn}/cancel`, { key })).status, 200);
  for (const id of [canceled, failed, withdrawn]) {
    assert.deepEqual(await states(id), ['withdrawn']);
    assert.equal((await decide(`/emails/${id}`, 'approve')).status, 409);
  }
  assert.deepEqual(await events(withdrawn), ['approval.requested', 'approval.withdrawn']);
});

test('a held email that an operator holds too is released by both alone', async () => {
  const id = await accept();
  const hold = await act(app, 'hold', { domain: 'readers.example' });
  await decide(`/emails/${id}`, 'approve');
  await spool.claim();
  assert.deepEqual(await statuses(id), ['held']);
  assert.equal((await spool.recipient(id)).holdReason, 'operator');
  await act(app, 'release', { domain: 'readers.example' });
  assert.equal(hold.verb, 'hold');
  assert.deepEqual(await statuses(id), ['queued']);
});

test('another time asks again, whoever sets it, and the approval before counts no more', async () => {
  const id = await accept({ scheduledAt: inMs(HOUR_MS) });
  const first = (await spool.email(id)).approval.hash;
  const move = (ms: number, as = key) =>
    request('PATCH', `/v1/emails/${id}`, { key: as, body: { scheduledAt: inMs(ms) } });
  assert.equal((await move(2 * HOUR_MS)).body.approval.state, 'pending');
  assert.equal((await decide(`/emails/${id}`, 'approve', { hash: first })).status, 409);
  const approved = await decide(`/emails/${id}`, 'approve');
  assert.deepEqual([approved.status, approved.body.sendAt], [200, inMs(2 * HOUR_MS)]);
  assert.deepEqual(await statuses(id), ['queued']);
  assert.equal((await move(2 * HOUR_MS)).body.approval.state, 'approved', 'nothing has changed');
  assert.equal((await move(3 * HOUR_MS, liveKey)).body.approval.state, 'pending');
  assert.deepEqual(await statuses(id), ['held']);
  await clock.advance(3 * HOUR_MS);
  assert.equal(await isClaimed(id), false);
  assert.equal((await decide(`/emails/${id}`, 'approve')).status, 200);
  assert.equal(await isClaimed(id), true, 'its time has passed');
  assert.deepEqual(await states(id), ['withdrawn', 'approved']);
});

test('an email that waits asks for each new time in the same row, without another event, and the decision has its whole time', async () => {
  const id = await accept({ scheduledAt: inMs(HOUR_MS) });
  const first = (await spool.email(id)).approval;
  for (let hours = 2; hours <= 5; hours++) {
    await clock.advance(HOUR_MS);
    const body = { scheduledAt: inMs(HOUR_MS) };
    assert.equal((await request('PATCH', `/v1/emails/${id}`, { key, body })).status, 200);
  }
  const { state, hash, expiresAt } = (await spool.email(id)).approval;
  assert.deepEqual([state, expiresAt], ['pending', inMs(HOUR_MS + DECISION_MS)]);
  assert.notEqual(hash, first.hash);
  assert.deepEqual([await states(id), await events(id)], [['pending'], ['approval.requested']]);
  await clock.advance(DECISION_MS);
  await expire();
  assert.deepEqual(await states(id), ['pending']);
  await clock.advance(HOUR_MS);
  await expire();
  assert.deepEqual(await states(id), ['expired']);
});

test('an approved scheduled email leaves at its time', async () => {
  const id = await accept({ scheduledAt: inMs(HOUR_MS) });
  assert.equal((await spool.email(id)).approval.expiresAt, inMs(HOUR_MS + DECISION_MS));
  await decide(`/emails/${id}`, 'approve');
  assert.deepEqual(await spool.claim(), []);
  await clock.advance(HOUR_MS);
  assert.deepEqual(
    (await spool.claim()).map(({ message }) => message.id),
    [id],
  );
});

test('an approval and a change at the same time end in one that binds to what is sent', async () => {
  for (let round = 0; round < 10; round++) {
    await clock.advance(1);
    const id = await accept({ scheduledAt: inMs(HOUR_MS) });
    const [, approval] = await Promise.all([
      request('PATCH', `/v1/emails/${id}`, { key, body: { scheduledAt: inMs(2 * HOUR_MS) } }),
      decide(`/emails/${id}`, 'approve'),
    ]);
    const email = await spool.email(id);
    assert.equal(email.scheduledAt, inMs(2 * HOUR_MS));
    if (email.approval.state === 'approved') assert.equal(approval.body.sendAt, email.scheduledAt);
    else assert.deepEqual([email.approval.state, email.recipients[0].status], ['pending', 'held']);
    await request('POST', `/v1/emails/${id}/cancel`, { key: liveKey });
  }
});

test('each email of a batch asks for itself, and a key for broadcasts alone asks for mail of that type', async () => {
  const email = { from: `ada@${SENDER_DOMAIN}`, to: ['ann@readers.example'], subject: 'Hi', text: 'Hello' };
  const batch = await request('POST', '/v1/emails/batch', {
    key,
    body: { emails: [1, 2].map(() => ({ ...email, type: 'transactional' })) },
  });
  assert.deepEqual(
    batch.body.data.map(({ approval }: { approval: { state: string } }) => approval.state),
    ['pending', 'pending'],
  );
  const marketer = await intern('broadcasts');
  const topic = await request('POST', '/v1/topics', {
    key: liveKey,
    body: { name: 'News', defaultOptIn: true },
  });
  const send = (more: object) =>
    request('POST', '/v1/emails', { key: marketer, body: { ...email, ...more } });
  const [news, receipt] = [
    await send({ type: 'broadcast', topicId: topic.body.id }),
    await send({ type: 'transactional' }),
  ];
  assert.equal(news.body.approval?.state, 'pending', JSON.stringify(news.body));
  assert.equal(receipt.body.approval, undefined);
  assert.equal((await spool.email(receipt.body.id)).approval, null);
});

test('a tenant has a bounded number of emails that wait, and an email beyond it leaves nothing behind', async () => {
  const testKey = await spool.newKey({ requiresApproval: 'broadcasts_and_emails' });
  const { tenantId } = spool;
  fillApprovals(spool, { tenantId, mode: 'test' });
  const before = await app.db.read.selectFrom('emails').select('id').execute();
  const email = {
    ...{ from: 'ada@sandbox.mx.postrider.example', to: ['delivered@simulator.mx.postrider.example'] },
    ...{ subject: 'Hi', text: 'Hello', type: 'transactional' },
  };
  const refused = await request('POST', '/v1/emails', { key: testKey, body: email });
  assert.deepEqual([refused.status, refused.body.error.type], [429, 'quota_exceeded']);
  assert.match(refused.body.error.message, /wait for approval/);
  assert.equal(refused.headers['retry-after'], '3600');
  const batch = await request('POST', '/v1/emails/batch', { key: testKey, body: { emails: [email] } });
  assert.equal(batch.body.data[0].error.type, 'quota_exceeded');
  assert.equal((await app.db.read.selectFrom('emails').select('id').execute()).length, before.length);
});
