/** Broadcasts by the client of Resend, up to the mail that contacts get. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { openCampaign } from '../../broadcasts/sending/campaign.ts';
import { SENDER_DOMAIN } from '../../support/spool.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const campaign = await openCampaign();
const { spool, sink } = campaign;
after(() => campaign[Symbol.asyncDispose]());
const clientWith = await clientsOf(spool);
const resend = clientWith(spool.liveKey);

const LINK = '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">leave</a>';
const { id: segmentId } = await dataOf(resend.segments.create({ name: 'Readers' }));
const { id: topicId } = await dataOf(resend.topics.create({ name: 'News', defaultSubscription: 'opt_in' }));
const CONTACTS = [
  { email: 'ann@readers.example', firstName: 'Ann', properties: { company_name: 'Acme & Co' } },
  { email: 'bob@readers.example' },
  { email: 'left@readers.example', unsubscribed: true },
];
for (const contact of CONTACTS)
  await dataOf(resend.contacts.create({ ...contact, segments: [{ id: segmentId }] }));
await dataOf(resend.contacts.create({ email: 'elsewhere@readers.example' }));

const NEWS = {
  segmentId,
  from: `Acme <news@${SENDER_DOMAIN}>`,
  subject: 'News for {{{FIRST_NAME|you}}}',
  html: `<html><body><p>Hi {{{contact.first_name|there}}} of {{{contact.company_name|nowhere}}}</p>${LINK}</body></html>`,
};
const isoIn = (ms: number) => new Date(spool.clock.now() + ms).toISOString();
const native = async (id: string) =>
  (await spool.request('GET', `/v1/broadcasts/${id}`, { key: spool.liveKey })).body;
const statusOf = async (id: string) => (await dataOf(resend.broadcasts.get(id))).status;

/** Delivers until the broadcast has ended, and returns the mail by its recipient. */
async function deliverAll(id: string) {
  for (let rounds = 0; rounds < 10 && !['sent', 'failed'].includes(await statusOf(id)); rounds++) {
    await campaign.work();
    await spool.deliverDue();
    await spool.clock.advance(100);
  }
  const got = await Promise.all(
    sink.messages
      .splice(0)
      .map(async ({ recipients, raw }) => [recipients[0] ?? '', await simpleParser(raw ?? '')] as const),
  );
  return new Map(got);
}

test('a draft shows what was put, also after a change', async () => {
  const { id } = await dataOf(
    resend.broadcasts.create({
      ...NEWS,
      name: 'March',
      previewText: 'For {{{FIRST_NAME|you}}} & others',
      replyTo: ['desk@acme.example'],
      text: 'Leave: {{{RESEND_UNSUBSCRIBE_URL}}}',
      topicId,
    }),
  );
  const { created_at, ...shown } = await dataOf(resend.broadcasts.get(id));
  assert.ok(created_at);
  const draft = {
    object: 'broadcast',
    id,
    name: NEWS.subject,
    segment_id: segmentId,
    audience_id: segmentId,
    from: NEWS.from,
    subject: NEWS.subject,
    reply_to: ['desk@acme.example'],
    preview_text: 'For {{{FIRST_NAME|you}}} & others',
    status: 'draft',
    scheduled_at: null,
    sent_at: null,
    topic_id: topicId,
    html: NEWS.html.replace('contact.first_name', 'FIRST_NAME'),
    text: 'Leave: {{{RESEND_UNSUBSCRIBE_URL}}}',
  };
  assert.deepEqual(shown, draft);
  assert.match(
    (await native(id)).html,
    /<body><div [^>]*>For \{\{firstName\|you\}\} &amp; others<\/div><p>Hi/,
  );

  assert.deepEqual(await dataOf(resend.broadcasts.update(id, { subject: 'Changed' })), {
    object: 'broadcast',
    id,
  });
  const html = `<p>New</p>${LINK}`;
  await dataOf(resend.broadcasts.update(id, { html, topicId: null }));
  const changed = await dataOf(resend.broadcasts.get(id));
  assert.deepEqual(
    [changed.subject, changed.html, changed.preview_text, changed.topic_id],
    ['Changed', html, draft.preview_text, null],
  );
  await dataOf(resend.broadcasts.update(id, { previewText: '' }));
  assert.deepEqual((await dataOf(resend.broadcasts.get(id))).preview_text, null);
  assert.equal((await native(id)).html, html.replace('RESEND_UNSUBSCRIBE_URL', 'unsubscribe_url'));

  await spool.clock.advance(1);
  const copy = await dataOf(resend.broadcasts.duplicate(id));
  assert.notEqual(copy.id, id);
  assert.equal((await dataOf(resend.broadcasts.get(copy.id))).html, html);
  const page = await dataOf(resend.broadcasts.list({ limit: 1 }));
  assert.deepEqual([page.has_more, page.data[0]?.id, page.data[0]?.status], [true, copy.id, 'draft']);
  for (const one of [id, copy.id])
    assert.deepEqual(await dataOf(resend.broadcasts.remove(one)), {
      object: 'broadcast',
      id: one,
      deleted: true,
    });
  assert.match(await refusalOf(resend.broadcasts.get(id)), /^404 not_found/);
});

test('a broadcast reaches the contacts of its segment, with values of each', async () => {
  const { id } = await dataOf(resend.broadcasts.create({ ...NEWS, previewText: 'Soon' }));
  assert.deepEqual(await dataOf(resend.broadcasts.send(id)), { object: 'broadcast', id });
  assert.equal(await statusOf(id), 'queued');
  const got = await deliverAll(id);
  assert.deepEqual([...got.keys()].toSorted(), ['ann@readers.example', 'bob@readers.example']);
  const [ann, bob] = [got.get('ann@readers.example'), got.get('bob@readers.example')];
  assert.equal(ann?.subject, 'News for Ann');
  assert.match(String(ann?.html), /Soon<\/div><p>Hi Ann of Acme &amp; Co<\/p><a href="https:/);
  assert.match(String(bob?.html), /<p>Hi there of nowhere<\/p>/);
  const sent = await dataOf(resend.broadcasts.get(id));
  assert.equal(sent.status, 'sent');
  assert.ok(sent.sent_at);
  const delivered = await dataOf(resend.broadcasts.recipients(id, { type: 'delivered' }));
  assert.deepEqual(delivered.data.map(({ email }) => email).toSorted(), [
    'ann@readers.example',
    'bob@readers.example',
  ]);
  assert.match(
    await refusalOf(resend.broadcasts.recipients(id, { type: 'opened' })),
    /^422 validation_error: `type` must be/,
  );
  assert.deepEqual(await dataOf(resend.broadcasts.clickedLinks(id)), {
    object: 'list',
    has_more: false,
    data: [],
  });
  assert.match(
    await refusalOf(resend.broadcasts.cancel(id)),
    /^409 validation_error: A broadcast that is sent cannot/,
  );
});

test('one call makes a broadcast and sends it, now or later', async () => {
  const now = await dataOf(resend.broadcasts.create({ ...NEWS, send: true }));
  assert.equal((await deliverAll(now.id)).size, 2);
  assert.equal(await statusOf(now.id), 'sent');
  const later = await dataOf(resend.broadcasts.create({ ...NEWS, send: true, scheduledAt: 'in 2 hours' }));
  const { status, scheduled_at } = await dataOf(resend.broadcasts.get(later.id));
  assert.deepEqual([status, scheduled_at], ['scheduled', isoIn(7_200_000)]);
  await campaign.work();
  assert.equal(await statusOf(later.id), 'scheduled');
  await spool.clock.advance(7_200_000);
  assert.equal((await deliverAll(later.id)).size, 2);
});

test('a draft is scheduled by sending it, and becomes a draft again when that is canceled', async () => {
  const { id } = await dataOf(resend.broadcasts.create(NEWS));
  for (const scheduledAt of ['tomorrow at 9', 'in 5 weeks', '2030-01-01T09:00'])
    assert.match(
      await refusalOf(resend.broadcasts.send(id, { scheduledAt })),
      /^422 validation_error: `scheduled_at` must/,
    );
  assert.equal(await statusOf(id), 'draft');
  const scheduledAt = isoIn(3_600_000);
  await dataOf(resend.broadcasts.send(id, { scheduledAt }));
  assert.equal((await dataOf(resend.broadcasts.get(id))).scheduled_at, scheduledAt);
  assert.deepEqual(await dataOf(resend.broadcasts.cancel(id)), { object: 'broadcast', id });
  assert.equal(await statusOf(id), 'draft');
  assert.match(
    await refusalOf(resend.broadcasts.cancel(id)),
    /^409 validation_error: A broadcast that is draft cannot/,
  );
  await dataOf(resend.broadcasts.send(id));
  await dataOf(resend.broadcasts.cancel(id));
  assert.equal(await statusOf(id), 'canceled');
});

test('what cannot be sent as it is meant is refused with the reason', async () => {
  const refusal = (more: object) => refusalOf(resend.broadcasts.create({ ...NEWS, ...more } as never));
  assert.match(
    await refusal({ html: '<p>no link</p>' }),
    /^422 validation_error: `html` must contain \{\{\{RESEND_UNSUBSCRIBE_URL\}\}\} or \{\{\{unsubscribe_url\}\}\}$/,
  );
  assert.match(
    await refusal({ text: 'no link' }),
    /^422 validation_error: `text` must contain \{\{\{RESEND_UNSUB/,
  );
  assert.match(
    await refusal({ html: undefined, text: '{{{unsubscribe_url}}}' }),
    /^422 validation_error: `html` is required; a broadcast of `text` alone/,
  );
  assert.match(
    await refusal({ replyTo: ['a@b.example', 'c@d.example'] }),
    /^422 validation_error: `reply_to` of a broadcast must/,
  );
  assert.match(
    await refusal({ scheduledAt: 'in 1 hour' }),
    /^422 validation_error: `scheduled_at` requires `send`/,
  );
  assert.match(
    await refusal({ send: true, scheduledAt: 'soon' }),
    /^422 validation_error: `scheduled_at` must be/,
  );
  assert.match(await refusal({ segmentId: 'seg_1' }), /^422 validation_error: `segment_id` must name/);
  assert.match(
    await refusal({ segmentId: undefined }),
    /^422 \w+: `audience_id` is required when `segment_id` is absent/,
  );
  assert.match(await refusal({ subject: 7 }), /^422 validation_error: `subject` /);
  assert.match(await refusal({ from: 'a@other.example' }), /^403 validation_error/);
  const reader = clientWith(await spool.newKey({ permission: 'read_only', mode: 'live' }));
  assert.match(await refusalOf(reader.broadcasts.create(NEWS)), /^401 restricted_api_key/);
});

test('a broadcast that needs approval asks for it, and is not sent', async () => {
  const asker = clientWith(await spool.newKey({ mode: 'live', requiresApproval: 'broadcasts' } as never));
  const { id } = await dataOf(asker.broadcasts.create({ ...NEWS, send: true }));
  assert.equal((await deliverAll(id)).size, 0);
  assert.equal((await native(id)).approval.state, 'pending');
});

test('an audience of ours is a target too', async () => {
  const { id } = await dataOf(resend.broadcasts.create({ ...NEWS, segmentId: campaign.audienceId }));
  const { audience_id, segment_id } = await dataOf(resend.broadcasts.get(id));
  assert.deepEqual([audience_id, segment_id], [campaign.audienceId, campaign.audienceId]);
  await dataOf(resend.broadcasts.update(id, { segmentId }));
  await dataOf(resend.broadcasts.update(id, { audienceId: campaign.audienceId }));
  assert.equal((await dataOf(resend.broadcasts.get(id))).segment_id, campaign.audienceId);
});

test('a broadcast with a misspelled time is not sent at once', async () => {
  const { segmentId: segment_id, ...content } = NEWS;
  const { id } = await dataOf(resend.broadcasts.create(NEWS));
  for (const [path, body] of [
    ['/broadcasts', { ...content, segment_id, send: true, scheduledAt: isoIn(3_600_000) }],
    [`/broadcasts/${id}/send`, { scheduledAt: isoIn(3_600_000) }],
  ] as const)
    assert.match(
      await refusalOf(resend.post(path, body)),
      /^422 .*Write `scheduled_at` instead of scheduledAt$/,
    );
  assert.equal(await statusOf(id), 'draft');
  const { data: draft } = await resend.broadcasts.create({ ...NEWS, send: null, scheduledAt: null } as never);
  assert.equal(await statusOf(draft?.id ?? ''), 'draft');
  const optedOut = resend.patch(`/broadcasts/${id}`, { topicId });
  assert.match(await refusalOf(optedOut), /^422 .*Write `topic_id` instead of topicId$/);
});
