/** PATCH of drafts: the draft is checked as it would be. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { updateBroadcast } from '../../src/broadcasts/change.ts';
import { deleteBroadcast } from '../../src/broadcasts/store.ts';
import type { AudienceRow, SegmentRow } from '../../src/db/marketing-tables.ts';
import { endDomain } from '../../src/domains/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { addAudience, addSegment, broadcastBody, clientOf, SANDBOX, TAG } from './fixtures.ts';

const NOW = 1_800_000_000_000;
const clock = createFakeClock(NOW);
let t: TestApp;
let client: ReturnType<typeof clientOf>;
let audience: AudienceRow;
let segment: SegmentRow;

before(async () => {
  t = await openTestApp({ system: { clock } });
  client = clientOf(t);
  audience = addAudience(t);
  segment = addSegment(t, audience);
});
after(() => t.close());

const created = (more: object = {}) => client.created(broadcastBody(audience.id, more));
const patch = (id: string, change: unknown) => client.ask('PATCH', `/broadcasts/${id}`, change);
const refused = (id: string, change: unknown, param: string) =>
  client.refused('PATCH', `/broadcasts/${id}`, change, param);
const template = async (more: object = {}) => {
  const given = { name: 'n', subject: 's', html: `<p>${TAG}</p>`, ...more };
  return (await client.ask('POST', '/templates', given)).body.id as string;
};
const topic = async () => (await client.ask('POST', '/topics', { name: 'News' })).body.id as string;

test('a change of the segment sets its audience, and a change of the audience requires a segment of it or none', async () => {
  const { id } = await created({ segmentId: segment.id });
  const other = addAudience(t);
  const theirs = addSegment(t, other);
  const moved = (await patch(id, { segmentId: theirs.id })).body;
  assert.deepEqual([moved.audienceId, moved.segmentId], [other.id, theirs.id]);
  await refused(id, { audienceId: audience.id }, 'audienceId');
  await refused(id, { audienceId: audience.id, segmentId: theirs.id }, 'segmentId');
  const whole = (await patch(id, { audienceId: audience.id, segmentId: null })).body;
  assert.deepEqual([whole.audienceId, whole.segmentId], [audience.id, null]);
  await refused(id, { audienceId: null }, 'audienceId');
  const part = (await patch(id, { audienceId: null, segmentId: segment.id })).body;
  assert.deepEqual([part.audienceId, part.segmentId], [audience.id, segment.id]);
});

const REFUSED: [change: object, param: string][] = [
  [{ from: null }, 'from'],
  [{ from: 'x' }, 'from'],
  [{ subject: null }, 'subject'],
  [{ subject: ' ' }, 'subject'],
  [{ subject: 'a\nb' }, 'subject'],
  [{ html: null }, 'html'],
  [{ html: 'no tag' }, 'html'],
  [{ html: `${TAG}\0` }, 'html'],
  [{ html: `${TAG}{{{x}}}` }, 'html'],
  [{ text: 'no tag' }, 'text'],
  [{ text: `${TAG}\ud800` }, 'text'],
  [{ templateId: 'x' }, 'templateId'],
  [{ templateId: 'x', html: null }, 'templateId'],
  [{ topicId: 'x' }, 'topicId'],
  [{ audienceId: 'x' }, 'audienceId'],
  [{ segmentId: 'x' }, 'segmentId'],
  [{ replyTo: 'x' }, 'replyTo'],
  [{ scheduleAt: 'tomorrow' }, 'scheduleAt'],
  [{ pace: { finishBy: 'x' } }, 'pace.finishBy'],
  [{ scheduledAt: null }, 'scheduledAt'],
  [{ topic: 'x' }, 'topic'],
  [{ reply_to: 'a@b.example' }, 'reply_to'],
];
for (const [change, param] of REFUSED) {
  test(`a change is refused, and nothing of it done: ${JSON.stringify(change).slice(0, 60)}`, async () => {
    const before = await created();
    await refused(before.id, { replyTo: 'new@b.example', ...change }, param);
    assert.deepEqual(await client.get(before.id), before);
  });
}

test('HTML and template take the place of each other only when the other is cleared', async () => {
  const { id } = await created();
  const templateId = await template();
  await refused(id, { templateId }, 'templateId');
  assert.equal((await patch(id, { templateId, html: null })).status, 200);
  await refused(id, { html: TAG }, 'html');
  await refused(id, { templateId: null }, 'html');
  const back = (await patch(id, { html: TAG, templateId: null })).body;
  assert.deepEqual([back.html, back.templateId], [TAG, null]);
});

test('a change is checked with what stays: variables together, the tag in the text of the template', async () => {
  const many = Array.from({ length: 49 }, (_, index) => `{{v${index}}}`).join('');
  const { id } = await created({ subject: 's', html: many + TAG });
  await refused(id, { subject: '{{one}} more' }, 'subject');
  await refused(id, { text: `{{one}} more ${TAG}` }, 'text');
  const { id: other } = await created({ text: TAG });
  const templateId = await template({ text: 'no tag' });
  assert.equal((await patch(other, { html: null, templateId })).status, 200);
  await refused(other, { text: null }, 'templateId');
});

test('a draft outlives what it names, and shows it; a change asks for what exists', async () => {
  const gone = { topicId: await topic(), templateId: await template() };
  const before = await created({ ...gone, html: undefined });
  await client.ask('DELETE', `/topics/${gone.topicId}`);
  assert.deepEqual(await client.get(before.id), before);
  const ofStored = await refused(before.id, { subject: 'x' }, 'topicId');
  assert.match(
    ofStored,
    new RegExp(`^\`topicId\` names the topic ${gone.topicId}, which no longer exists; `),
  );
  const ofGiven = await refused(before.id, { topicId: gone.topicId }, 'topicId');
  assert.equal(ofGiven, '`topicId` must name an existing topic');
  assert.equal((await patch(before.id, { topicId: null })).status, 200);
  await client.ask('DELETE', `/templates/${gone.templateId}`);
  assert.equal((await client.get(before.id)).templateId, gone.templateId);
  await refused(before.id, { subject: 'x' }, 'templateId');
  const { status, body } = await patch(before.id, { templateId: null, html: TAG });
  assert.deepEqual([status, body.templateId, body.html], [200, null, TAG]);
});

test('a template that was changed since is checked as it is now, and blamed', async () => {
  const templateId = await template();
  const { id } = await created({ html: undefined, templateId });
  await client.ask('PATCH', `/templates/${templateId}`, { html: 'no tag' });
  await assert.doesNotReject(refused(id, { replyTo: 'a@b.example' }, 'templateId'));
});

test('a domain that is no longer verified is refused with every change, until the sender is another', async () => {
  const domain = await addDomain(t, { name: 'ending.example', status: 'verified' });
  const { id } = await created({ from: 'a@ending.example' });
  await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now: NOW });
  const { status, body } = await patch(id, { subject: 'x' });
  assert.deepEqual([status, body.error.type], [422, 'domain_not_verified']);
  assert.equal((await client.get(id)).from, 'a@ending.example');
  assert.equal((await patch(id, { subject: 'x', from: `a@${SANDBOX}` })).status, 200);
});

test('two changes at once are both made, and what neither would do alone they cannot do together', async () => {
  const first = await created();
  await Promise.all([patch(first.id, { subject: 'new' }), patch(first.id, { replyTo: 'new@b.example' })]);
  const both = await client.get(first.id);
  assert.deepEqual([both.subject, both.replyTo], ['new', 'new@b.example']);

  const many = Array.from({ length: 48 }, (_, index) => `{{v${index}}}`).join('');
  const { id } = await created({ subject: 's', html: many + TAG });
  const answers = await Promise.all([
    patch(id, { subject: '{{one}}' }),
    patch(id, { text: `{{another}} ${TAG}` }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
});

test('a draft deleted while it is changed is not found, and not made again', async () => {
  const { id } = await created();
  const caller = { tenantId: t.tenantId, mode: 'test', keyId: 'key_1', domainId: null } as const;
  const db: TestApp['app']['db'] = Object.create(t.app.db);
  db.commit = async (write, input) => {
    await t.app.db.commit(deleteBroadcast, {
      owner: { tenantId: t.tenantId, mode: 'test', domainId: null },
      id,
    });
    return t.app.db.commit(write, input);
  };
  const change = updateBroadcast({ ...t.app, db }, caller, { id, given: { subject: 'x' } });
  await assert.rejects(change, /Broadcast not found/);
  assert.equal((await client.ask('GET', `/broadcasts/${id}`)).status, 404);
});
