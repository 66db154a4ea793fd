/** Keys that require approval do not change what mail is made of that others have planned without one. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { approvingIn, HOUR_MS } from '../approvals/approving.ts';
import { TAG } from '../broadcasts/fixtures.ts';
import { openCampaign } from '../broadcasts/sending/campaign.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';

const campaign = await openCampaign();
const { spool, audienceId } = campaign;
const { clock, request, liveKey } = spool;
const { intern, decide } = approvingIn(spool);
const key = await intern('broadcasts');
const full = await intern('broadcasts_and_emails');
await campaign.addContact('one@readers.example');
after(() => campaign[Symbol.asyncDispose]());

const HTML = `<a href="${TAG}">Unsubscribe</a><a href="{{{confirm_url}}}">Yes</a>`;
const MARKETING_HTML = `<a href="${TAG}">Unsubscribe</a>`;
const ask = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown, as = key) =>
  request(method, `/v1${path}`, { key: as, ...(body !== undefined && { body }) });
const filter = (value: boolean) => ({ op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value }] });
const inMs = (ms: number) => new Date(clock.now() + ms).toISOString();

async function make(path: string, body: object, as = liveKey): Promise<string> {
  const made = await ask('POST', path, body, as);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return made.body.id;
}

const newTemplate = (html = MARKETING_HTML) => make('/templates', { name: 'T', subject: 'News', html });
const newSegment = () => make('/segments', { audienceId, name: 'S', filter: filter(false) });

async function refuses(answer: Promise<{ status: number; body: { error: { type: string } } }>) {
  const { status, body } = await answer;
  assert.deepEqual([status, body.error?.type], [403, 'restricted_api_key'], JSON.stringify(body));
}

/** Tries each change of the content of a template and of the rules of a segment. */
async function refusesChanges(templateId: string, segmentId: string, as = key): Promise<void> {
  const path = `/templates/${templateId}`;
  const versions = await ask('GET', `${path}/versions`);
  const oldest = versions.body.data.at(-1).id;
  await refuses(ask('PATCH', path, { html: `${MARKETING_HTML}?` }, as));
  await refuses(ask('POST', `${path}/versions/${oldest}/restore`, undefined, as));
  await refuses(ask('DELETE', path, undefined, as));
  const rules = [...filter(true).rules, ...filter(false).rules];
  await refuses(ask('PATCH', `/segments/${segmentId}`, { filter: { op: 'or', rules } }, as));
  await refuses(ask('DELETE', `/segments/${segmentId}`, undefined, as));
}

test('what a broadcast names that needs no approval is changed by others alone until it has started', async () => {
  const [templateId, segmentId] = [await newTemplate(), await newSegment()];
  const broadcast = { from: `ada@${SENDER_DOMAIN}`, subject: 'News', templateId, segmentId };
  const id = await make('/broadcasts', { ...broadcast, scheduleAt: inMs(HOUR_MS) });
  const path = `/templates/${templateId}`;
  assert.equal((await ask('PATCH', path, { html: `${MARKETING_HTML}!` }, liveKey)).status, 200);
  await refusesChanges(templateId, segmentId);
  await ask('POST', `/broadcasts/${id}/send`);
  await refusesChanges(templateId, segmentId);
  assert.equal((await ask('PATCH', path, { name: 'Renamed' })).status, 200);
  assert.equal((await ask('PATCH', `/segments/${segmentId}`, { name: 'Renamed' })).status, 200);
  await clock.advance(HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'sending');
  assert.equal((await ask('PATCH', path, { html: `${MARKETING_HTML}?` })).status, 200);
  assert.equal((await ask('DELETE', `/segments/${segmentId}`)).status, 204);
});

test('what a broadcast names that is paused before its start is not changed, although it was approved', async () => {
  const [templateId, segmentId] = [await newTemplate(), await newSegment()];
  await ask('PATCH', `/templates/${templateId}`, { html: `${MARKETING_HTML}!` });
  const broadcast = { from: `ada@${SENDER_DOMAIN}`, subject: 'News', templateId, segmentId };
  const id = await make('/broadcasts', { ...broadcast, scheduleAt: inMs(HOUR_MS) }, key);
  assert.equal((await ask('PATCH', `/segments/${segmentId}`, { filter: filter(true) })).status, 200);
  // The first decision is about the rules before, and asks again.
  for (const status of [409, 200])
    assert.equal((await decide(`/broadcasts/${id}`, 'approve')).status, status);
  await clock.advance(3 * HOUR_MS);
  await campaign.work();
  assert.equal((await campaign.show(id)).status, 'paused');
  await refusesChanges(templateId, segmentId);
  await ask('POST', `/broadcasts/${id}/cancel`);
  assert.equal((await ask('DELETE', `/templates/${templateId}`)).status, 204);
});

test('a topic that a planned broadcast names is changed by others alone, and one that was approved asks again', async () => {
  const topicId = await make('/topics', { name: 'Offers' }, liveKey);
  const path = `/topics/${topicId}`;
  const refusesTopic = async () => {
    for (const change of [{ name: 'Mine' }, { description: 'Mine' }, { defaultOptIn: false }])
      await refuses(ask('PATCH', path, change));
    await refuses(ask('DELETE', path));
    assert.equal((await ask('PATCH', path, { name: 'Offers' })).status, 200, 'the same name is no change');
  };
  const html = MARKETING_HTML;
  const broadcast = { from: `ada@${SENDER_DOMAIN}`, subject: 'News', html, audienceId, topicId };
  assert.equal((await ask('PATCH', path, { description: 'For nobody yet' })).status, 200);
  const planned = await make('/broadcasts', { ...broadcast, scheduleAt: inMs(HOUR_MS) });
  await refusesTopic();
  assert.equal((await ask('PATCH', path, { description: 'By its owner' }, liveKey)).status, 200);
  await ask('POST', `/broadcasts/${planned}/cancel`, undefined, liveKey);
  assert.equal((await ask('PATCH', path, { description: 'For nobody' })).status, 200);
  const approved = await make('/broadcasts', { ...broadcast, scheduleAt: inMs(HOUR_MS) }, key);
  assert.equal((await decide(`/broadcasts/${approved}`, 'approve')).status, 200);
  assert.equal((await ask('PATCH', path, { description: 'Mine' })).status, 200);
  await clock.advance(HOUR_MS);
  await campaign.work();
  const { status, approval } = await campaign.show(approved);
  assert.deepEqual([status, approval.state], ['scheduled', 'pending']);
  await ask('POST', `/broadcasts/${approved}/cancel`, undefined, liveKey);
  assert.equal((await ask('DELETE', path)).status, 204);
});

test('confirmation mail is made of what keys set whose emails need no approval', async () => {
  const templateId = await newTemplate(HTML);
  const optIn = { from: `ada@${SENDER_DOMAIN}`, templateId };
  const id = await make('/audiences', { name: 'Theirs', optIn });
  const settings = (await ask('GET', `/audiences/${id}`)).body.optIn;
  await refuses(ask('PATCH', `/audiences/${id}`, { optIn: { ...optIn, subject: 'Mine' } }, full));
  await refuses(ask('PATCH', `/audiences/${id}`, { optIn: null }, full));
  await refuses(ask('POST', '/audiences', { name: 'Mine', optIn }, full));
  assert.equal((await ask('PATCH', `/audiences/${id}`, { name: 'Ours', optIn: settings }, full)).status, 200);
  await refuses(ask('PATCH', `/templates/${templateId}`, { html: `${HTML}!` }, full));
  await refuses(ask('DELETE', `/templates/${templateId}`, undefined, full));
  const { status } = await ask('PATCH', `/templates/${templateId}`, { html: `${HTML}!` });
  assert.equal(status, 200, 'emails of the other key need no approval');
  assert.equal(
    (await ask('PATCH', `/audiences/${id}`, { optIn: { ...optIn, subject: 'Mine' } })).status,
    200,
  );
});
