/** Mail of keys that require approval: people find it, read it, and decide about what they have read. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { recordRestored } from '../../../src/db/installation/store.ts';
import { approvingIn, HOUR_MS } from '../../approvals/approving.ts';
import { TAG } from '../../broadcasts/fixtures.ts';
import { openCampaign } from '../../broadcasts/sending/campaign.ts';
import { logIn } from '../../support/browser.ts';
import { SENDER_DOMAIN } from '../../support/spool.ts';

const campaign = await openCampaign();
const { spool, audienceId } = campaign;
const { clock, request } = spool;
const { intern, states } = approvingIn(spool);
const key = await intern('broadcasts_and_emails');
await campaign.addContact('one@readers.example');
after(() => campaign[Symbol.asyncDispose]());
beforeEach(() => clock.advance(1));

const LIVE = '/t/default/live';
const email = (subject: string, more: object = {}) =>
  spool.accept('ann@readers.example', { key, subject, ...more });
const statusesOf = async (id: string) =>
  (await spool.email(id)).recipients.map(({ status }: { status: string }) => status);

async function broadcast(subject: string): Promise<string> {
  const html = `<p>Hello</p><a href="${TAG}">Unsubscribe</a>`;
  const body = { audienceId, from: `ada@${SENDER_DOMAIN}`, subject, html };
  const made = await request('POST', '/v1/broadcasts', { key, body });
  const { id } = made.body;
  const sent = await request('POST', `/v1/broadcasts/${id}/send`, { key });
  assert.equal(sent.body.approval?.state, 'pending', JSON.stringify(sent.body));
  return id;
}

test('the list has what waits, with the key that asks, and a person approves from there', async () => {
  const owner = await logIn(spool);
  const id = await email('<b>Order</b> one');
  await owner.open(LIVE);
  assert.match(owner.page.html, /Mail waits for approval/);
  await owner.open(`${LIVE}/approvals`);
  const { html } = owner.page;
  assert.match(html, /&lt;b>Order&lt;\/b> one/);
  assert.match(html, />intern</);
  assert.match(html, new RegExp(`href="${LIVE}/emails/${id}#content-parts"`));
  assert.match((await owner.open(`${LIVE}/emails/${id}`)).html, /Waits until somebody approves it/);
  await owner.open(`${LIVE}/approvals`);
  await owner.submit('approve');
  assert.match(owner.page.html, /Approved\./);
  assert.match(owner.page.html, /Nothing waits for approval/);
  assert.deepEqual([await states(id), await statusesOf(id)], [['approved'], ['queued']]);
  await owner.open(`${LIVE}/approvals?state=approved`);
  assert.match(owner.page.html, /&lt;b>Order&lt;\/b> one/);
  const { body } = await request('GET', '/v1/approvals?state=approved', { key: spool.liveKey });
  assert.match(body.data[0].decidedBy, /^per_/);
  await owner.open(`${LIVE}/audit`);
  assert.match(owner.page.html, /Approved mail<small[^>]*> \(Live\)/);
});

test('the page of an email declines with a reason for its author, and the email is canceled', async () => {
  const admin = await logIn(spool, { role: 'admin' });
  const id = await email('Too expensive');
  await admin.open(`${LIVE}/emails/${id}`);
  await admin.submit('decline', { reason: 'The price is wrong' });
  assert.match(admin.page.html, /Declined\./);
  assert.match(admin.page.html, /The price is wrong/);
  assert.doesNotMatch(admin.page.html, /value="approve"/);
  assert.deepEqual([await states(id), await statusesOf(id)], [['declined'], ['canceled']]);
  const shown = await request('GET', `/v1/emails/${id}`, { key: spool.liveKey });
  assert.equal(shown.body.approval.reason, 'The price is wrong');
});

test('what has changed since it was shown is not approved, which its row and its page say', async () => {
  const owner = await logIn(spool);
  const inHours = (hours: number) => new Date(clock.now() + hours * HOUR_MS).toISOString();
  const id = await email('Later', { scheduledAt: inHours(1) });
  const other = await email('Another');
  await owner.open(`${LIVE}/emails/${id}`);
  const [, former = ''] = /name="hash" value="(\w{64})"/.exec(owner.page.html) ?? [];
  const moved = await request('PATCH', `/v1/emails/${id}`, { key, body: { scheduledAt: inHours(2) } });
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  const refused = await owner.submit('approve');
  assert.equal(refused.status, 422);
  assert.match(refused.html, /role="alert"[^>]*>It has changed since/);
  assert.deepEqual(await states(id), ['pending']);
  await owner.open(`${LIVE}/approvals`);
  await owner.submit('approve', { id, hash: former });
  assert.equal(owner.page.html.split('It has changed since').length, 2, 'in one row alone');
  await owner.open(`${LIVE}/emails/${id}`);
  await owner.submit('approve');
  assert.deepEqual(await states(id), ['approved']);
  assert.deepEqual(await states(other), ['pending']);
  await owner.open(`${LIVE}/approvals`);
  await owner.submit('decline');
  assert.deepEqual(await states(other), ['declined']);
});

test('a broadcast shows on its page that it waits, and starts once it is approved there', async () => {
  const owner = await logIn(spool);
  const id = await broadcast('Spring news');
  await owner.open(`${LIVE}/approvals`);
  assert.match(owner.page.html, new RegExp(`href="${LIVE}/broadcasts/${id}#preview"`));
  await owner.open(`${LIVE}/broadcasts/${id}`);
  await owner.submit('approve');
  assert.match(owner.page.html, /Approved\./);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'sending');
});

test('a viewer sees what waits and decides nothing, and the other mode has nothing of it', async () => {
  const id = await email('For others');
  const viewer = await logIn(spool, { role: 'viewer' });
  for (const path of ['approvals', `emails/${id}`]) {
    await viewer.open(`${LIVE}/${path}`);
    assert.match(viewer.page.html, /For others/);
    assert.doesNotMatch(viewer.page.html, /value="(?:approve|decline)"/);
  }
  const shown = await request('GET', `/v1/emails/${id}`, { key: spool.liveKey });
  const body = `_action=approve&hash=${shown.body.approval.hash}`;
  assert.equal((await viewer.send(`${LIVE}/emails/${id}`, { method: 'POST', body })).status, 403);
  assert.deepEqual(await states(id), ['pending']);
  await viewer.open('/t/default/test/approvals');
  assert.doesNotMatch(viewer.page.html, /For others/);
});

test('the release of a restored installation lets other mail leave, and approves nothing', async () => {
  const { app } = spool;
  const [waiting, free] = [await email('Nobody has read this'), await spool.accept('bob@readers.example')];
  const mailing = await broadcast('Nobody has read this either');
  await app.db.commit(recordRestored, { now: clock.now() });
  app.egress.hold();
  const operator = await logIn(spool, { tenantId: null, isOperator: true });
  await operator.open('/operator/restoration');
  await operator.submit('release');
  assert.match(operator.page.html, /Released/);
  assert.equal(app.egress.isHeld, false);
  await campaign.work();
  const claimed = (await spool.claim()).map(({ message }) => message.id);
  assert.ok(claimed.includes(free as (typeof claimed)[number]));
  assert.ok(!claimed.includes(waiting as (typeof claimed)[number]));
  assert.deepEqual([await states(waiting), await states(mailing)], [['pending'], ['pending']]);
  assert.deepEqual(await statusesOf(waiting), ['held']);
  const { status, approval } = await campaign.show(mailing);
  assert.deepEqual([status, approval.state], ['draft', 'pending']);
});
