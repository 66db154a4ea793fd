/** Retention keeps an approval while mail can still leave because of it. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { expireApprovals } from '../../src/approvals/store.ts';
import { failDomain } from '../broadcasts/fixtures.ts';
import { openCampaign } from '../broadcasts/sending/campaign.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { approvingIn, HOUR_MS } from './approving.ts';

const campaign = await openCampaign();
const { spool } = campaign;
const { app, clock, request } = spool;
const { intern, decide, states } = approvingIn(spool);
const key = await intern('broadcasts_and_emails');
after(() => campaign[Symbol.asyncDispose]());
beforeEach(() => clock.advance(1));

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString();
const expire = () => app.db.commit(expireApprovals, { after: '', before: 'apr_z', rows: 100 });

test('the approval of an email is kept while the email waits', async () => {
  const id = await spool.accept('ann@readers.example', { key, scheduledAt: inMs(HOUR_MS) });
  await decide(`/emails/${id}`, 'approve');
  await expire();
  assert.deepEqual(await states(id), ['approved']);
  await request('POST', `/v1/emails/${id}/cancel`, { key });
  await expire();
  assert.deepEqual(await states(id), []);
});

test('the approval of a broadcast is kept until the broadcast has ended', async () => {
  const html = '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>';
  const body = { from: `ada@${SENDER_DOMAIN}`, subject: 'News', html, audienceId: campaign.audienceId };
  const make = () => request('POST', '/v1/broadcasts', { key, body: { ...body, scheduleAt: inMs(HOUR_MS) } });
  const [approved, declined] = [(await make()).body.id, (await make()).body.id];
  await decide(`/broadcasts/${approved}`, 'approve');
  await decide(`/broadcasts/${declined}`, 'decline');
  await expire();
  assert.deepEqual([await states(approved), await states(declined)], [['approved'], []]);
  failDomain(spool, SENDER_DOMAIN);
  await clock.advance(HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(approved)).status, 'failed');
  await expire();
  assert.deepEqual(await states(approved), []);
});
