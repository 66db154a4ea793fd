/** Broadcasts are made, shown, listed and deleted. What changes them is in change.test.ts. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { updateBroadcast } from '../../src/broadcasts/change.ts';
import { deleteBroadcast } from '../../src/broadcasts/store.ts';
import { endDomain } from '../../src/domains/store.ts';
import { createApiKey } from '../../src/tenants/keys.ts';
import { addDomain } from '../domains/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { addAudience, addSegment, broadcastBody, clientOf, SANDBOX, TAG, UNSENT } from './fixtures.ts';

const NOW = 1_800_000_000_000;
const MEBIBYTE = 1024 * 1024;
const clock = createFakeClock(NOW);

const t = await openTestApp({ system: { clock } });
const client = clientOf(t);
const audience = addAudience(t);
const segment = addSegment(t, audience);
after(() => t.close());

const body = (more: object = {}) => broadcastBody(audience.id, more);
const refused = (more: object, param: string) => client.refused('POST', '/broadcasts', body(more), param);
const template = async (more: object = {}) => {
  const given = { name: 'n', subject: 's', html: `<p>${TAG}</p>`, ...more };
  return (await client.ask('POST', '/templates', given)).body.id as string;
};
const topic = async () => (await client.ask('POST', '/topics', { name: 'News' })).body.id as string;

test('a broadcast is created as a draft with its whole record, and retrieved the same', async () => {
  const topicId = await topic();
  const given = body({ topicId, replyTo: 'Answers <a@b.example>', text: `Hello ${TAG}` });
  const { status, body: made } = await client.ask('POST', '/broadcasts', given);
  assert.equal(status, 201);
  const { id, ...rest } = made;
  assert.match(id, /^brd_[0-9a-z]{26}$/);
  const createdAt = new Date(NOW).toISOString();
  assert.deepEqual(rest, {
    ...{ ...given, ...UNSENT, status: 'draft', segmentId: null, templateId: null },
    ...{ createdAt, updatedAt: createdAt },
  });
  assert.ok(Object.values(rest.counts).every((count) => count === 0));
  assert.deepEqual(await client.get(id), made);
});

test('a field that is left out is stored as null, and null is treated as absent', async () => {
  const content = { segmentId: null, topicId: null, templateId: null, replyTo: null, text: null };
  const nothing = { ...content, scheduleAt: null, pace: null };
  for (const more of [{}, { ...nothing, unknown: 1 }]) {
    const made = await client.created(body(more));
    for (const field of Object.keys(nothing)) assert.equal(made[field], null, field);
    assert.ok(!('unknown' in made));
  }
});

test('a segment brings its audience, which may be named too', async () => {
  for (const audienceId of [undefined, null, audience.id]) {
    const made = await client.created(body({ audienceId, segmentId: segment.id }));
    assert.deepEqual([made.audienceId, made.segmentId], [audience.id, segment.id]);
  }
  const other = addAudience(t);
  const message = await refused({ audienceId: other.id, segmentId: segment.id }, 'segmentId');
  assert.match(message, /a segment of `audienceId`/);
});

test('a broadcast for nobody is refused', async () => {
  for (const nobody of [undefined, null]) {
    const message = await refused({ audienceId: nobody, segmentId: nobody }, 'audienceId');
    assert.match(message, /required when `segmentId` is absent/);
  }
});

test('an email is sent only from a verified domain of the tenant, in the mode of the key', async () => {
  await addDomain(t, { name: 'verified.example', status: 'verified' });
  await addDomain(t, { name: 'pending.example', status: 'pending' });
  const over = await addDomain(t, { name: 'over.example', status: 'verified' });
  await t.app.db.commit(endDomain, { id: over.id, tenantId: t.tenantId, now: NOW });
  const { tenantId } = await t.addTenant('owner');
  await addDomain(t, { tenantId, name: 'theirs.example', status: 'verified' });
  const ask = (from: string, key: string) => client.ask('POST', '/broadcasts', body({ from }), key);
  for (const from of ['a@verified.example', '"Ada, of us" <A@VERIFIED.example>']) {
    for (const key of [t.testKey, t.liveKey]) {
      const made = await ask(from, key);
      assert.deepEqual([made.status, made.body.from], [201, from]);
    }
  }
  for (const domain of ['pending', 'over', 'theirs', 'missing', 'sub.verified']) {
    for (const key of [t.testKey, t.liveKey]) {
      const { status, body: answer } = await ask(`a@${domain}.example`, key);
      assert.deepEqual([status, answer.error.type, answer.error.param], [422, 'domain_not_verified', 'from']);
    }
  }
  const live = await ask(`a@${SANDBOX}`, t.liveKey);
  assert.deepEqual([live.status, live.body.error.type], [422, 'domain_not_verified']);
});

test('a key that is for one domain makes broadcasts from that domain alone', async () => {
  const own = await addDomain(t, { name: 'own.example', status: 'verified' });
  await addDomain(t, { name: 'others.example', status: 'verified' });
  const key = { name: 'one', mode: 'test', permission: 'full_access', expiresAt: null } as const;
  const { token } = await createApiKey(t.app, { ...key, tenantId: t.tenantId, domainId: own.id });
  const made = await client.created(body({ from: 'a@own.example' }), token);
  const path = `/broadcasts/${made.id}`;
  for (const from of ['a@others.example', `a@${SANDBOX}`, 'a@missing.example']) {
    for (const answer of [
      await client.ask('POST', '/broadcasts', body({ from }), token),
      await client.ask('PATCH', path, { from }, token),
    ]) {
      assert.deepEqual([answer.status, answer.body.error.type], [403, 'restricted_api_key'], from);
    }
  }
  assert.deepEqual(await client.get(made.id), made);
});

const variables = (count: number) => Array.from({ length: count }, (_, index) => `{{v${index}}}`).join('');
const BAD: [what: string, more: object, param: string][] = [
  ['no sender', { from: undefined }, 'from'],
  ['a sender that is null', { from: null }, 'from'],
  ['a sender that is no address', { from: 'Ada' }, 'from'],
  ['two senders', { from: `a@${SANDBOX}, b@${SANDBOX}` }, 'from'],
  ['a list of senders', { from: [`a@${SANDBOX}`] }, 'from'],
  ['a sender with a line break', { from: `Ada\r\nBcc: x@y.example <a@${SANDBOX}>` }, 'from'],
  ['no subject', { subject: undefined }, 'subject'],
  ['an empty subject', { subject: '' }, 'subject'],
  ['a subject of spaces', { subject: ' \u00a0 ' }, 'subject'],
  ['a subject with a line break', { subject: 'a\r\nBcc: b@evil.example' }, 'subject'],
  ['a subject with a lone surrogate', { subject: 'a\ud800' }, 'subject'],
  ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject'],
  ['neither HTML nor template', { html: undefined }, 'html'],
  ['HTML that is null, and no template', { html: null, templateId: null }, 'html'],
  ['text alone', { html: undefined, text: TAG }, 'html'],
  ['empty HTML', { html: '' }, 'html'],
  ['HTML that is a list', { html: [TAG] }, 'html'],
  ['HTML with a NUL', { html: `${TAG}\0` }, 'html'],
  ['HTML with a lone surrogate', { html: `${TAG}\ud800` }, 'html'],
  ['HTML of more than 1 MiB in UTF-8', { html: TAG + 'é'.repeat(MEBIBYTE / 2) }, 'html'],
  ['text with a NUL', { text: `${TAG}\0` }, 'text'],
  ['text of more than 1 MiB', { text: TAG + 'x'.repeat(MEBIBYTE) }, 'text'],
  ['51 variables', { html: variables(49) + TAG, subject: '{{one}} more' }, 'html'],
  ['10,001 placeholders', { html: TAG + '{{x}}'.repeat(10_000) }, 'html'],
  ['10,001 placeholders in the text', { text: TAG + '{{x}}'.repeat(10_000) }, 'text'],
  ['an answer address that is none', { replyTo: 'x' }, 'replyTo'],
  ['two answer addresses', { replyTo: ['a@b.example', 'c@d.example'] }, 'replyTo'],
  ['a time without an offset', { scheduleAt: '2027-01-31T12:00:00' }, 'scheduleAt'],
  ['a time in words', { scheduleAt: 'in 1 hour' }, 'scheduleAt'],
  ['a time more than a year ahead', { scheduleAt: '2028-01-17T08:00:01Z' }, 'scheduleAt'],
  ['a pace of none', { pace: { perHour: 0 } }, 'pace.perHour'],
  ['a pace of a fraction', { pace: { perDay: 0.5 } }, 'pace.perDay'],
  ['a pace that is a number', { pace: 5 }, 'pace'],
  ['an empty pace', { pace: {} }, 'pace'],
  ['two paces', { pace: { perHour: 5, perDay: 5 } }, 'pace'],
  ['a pace that ends in the past', { pace: { finishBy: '2027-01-15T08:00:00Z' } }, 'pace.finishBy'],
  ['an empty time', { scheduleAt: '' }, 'scheduleAt'],
  ['a time that is a number', { scheduleAt: NOW }, 'scheduleAt'],
  ['a time as emails spell it', { scheduledAt: '2027-01-31T12:00:00Z' }, 'scheduledAt'],
  ['a time in snake case', { schedule_at: '2027-01-31T12:00:00Z' }, 'schedule_at'],
  ['a topic by another name', { topic: 'top_x' }, 'topic'],
  ['a segment by another name', { segment: 'seg_x' }, 'segment'],
  ['an audience by another name', { audience: 'aud_x' }, 'audience'],
  ['a template by another name', { Template: 'tpl_x' }, 'Template'],
  ['an answer address in snake case', { reply_to: 'a@b.example' }, 'reply_to'],
];
for (const [what, more, param] of BAD) {
  test(`refused with 400: ${what}`, async () => {
    await assert.doesNotReject(refused(more, param));
  });
}

test('HTML and a template cannot be combined', async () => {
  assert.match(
    await refused({ templateId: await template() }, 'html'),
    /cannot be combined with `templateId`/,
  );
});

test('the body must hold the merge tag unsubscribe_url in three braces', async () => {
  for (const html of [
    ...[TAG, '{{{ unsubscribe_url }}}', '{{{\tunsubscribe_url\n}}}', '{{{unsubscribe_url|x}}}'],
    ...[`{{unsubscribe_url}} ${TAG}`, `${TAG}${TAG}`, `{${TAG}}`],
  ]) {
    await client.created(body({ html }));
    await client.created(body({ text: html }));
  }
  for (const html of [
    ...['x', '{{unsubscribe_url}}', '{{{unsubscribe_url}}', '{{{unsubscribe_url}', '{{{unsubscribe-url}}}'],
    ...['{{{UNSUBSCRIBE_URL}}}', '{{{unsubscribe_urls}}}', '{{{unsubscribeUrl}}}', '{ {{unsubscribe_url} }}'],
    '{{{unsubscribe_url|{}}}}',
  ]) {
    const message = await refused({ html }, 'html');
    assert.equal(message, '`html` must contain {{{unsubscribe_url}}}, in three braces');
    await refused({ text: html }, 'text');
  }
  await refused({ text: '' }, 'text');
});

test('the HTML and the text of a template must contain the tag, unless the broadcast has its own text', async () => {
  const use = (templateId: string, more: object = {}) => body({ html: undefined, templateId, ...more });
  const good = await template();
  const made = await client.created(use(good, { html: null }));
  assert.deepEqual([made.templateId, made.html, made.text], [good, null, null]);
  await client.created(use(await template({ text: TAG })));
  await client.created(use(await template({ text: 'no tag' }), { text: `own ${TAG}` }));
  for (const [bad, message] of [
    [{ html: 'no tag' }, 'the HTML of the template must contain {{{unsubscribe_url}}}, in three braces'],
    [{ text: 'no tag' }, 'the text of the template must contain {{{unsubscribe_url}}}, in three braces'],
    [{ text: '' }, 'the text of the template must contain {{{unsubscribe_url}}}, in three braces'],
  ] as const) {
    const refusal = await client.refused('POST', '/broadcasts', use(await template(bad)), 'templateId');
    assert.equal(refusal, message);
  }
  await client.refused('POST', '/broadcasts', use(good, { text: 'no tag' }), 'text');
  const full = await template({ html: variables(49) + TAG });
  await client.created(use(full, { subject: '{{v0}}' }));
  await client.refused('POST', '/broadcasts', use(full, { subject: '{{one}} more' }), 'templateId');
});

test('HTML allows only the unsubscribe tag in three braces; subjects and texts are not escaped', async () => {
  const message = await refused({ html: `${TAG} {{{block}}}` }, 'html');
  assert.match(message, /write \{\{block\}\} instead$/);
  const html = undefined;
  await refused({ html, templateId: await template({ html: `{{{block}}} ${TAG}` }) }, 'templateId');
  const raw = { subject: '{{{firstName}}}', text: `{{{firstName}}} ${TAG}` };
  const made = await client.created(body(raw));
  assert.deepEqual([made.subject, made.text], [raw.subject, raw.text]);
});

test('the largest broadcast is accepted, and comes back whole', async () => {
  const html = (variables(49) + TAG).padEnd(MEBIBYTE, 'x');
  const given = body({ html, text: TAG.padEnd(MEBIBYTE, 'y'), subject: '😀'.repeat(998) });
  const { id } = await client.created(given);
  const { html: shown, text, subject } = await client.get(id);
  assert.ok(shown === html && text === given['text'] && subject === given['subject']);
});

test('a draft cannot be paused, resumed or canceled', async () => {
  const { id } = await client.created(body());
  for (const action of ['cancel', 'pause', 'resume']) {
    const { status, body: answer } = await client.ask('POST', `/broadcasts/${id}/${action}`);
    assert.deepEqual([status, answer.error.type], [409, 'invalid_state'], action);
  }
});

test('a broadcast that was sent can neither be changed nor deleted', async () => {
  const { id } = await client.created(body());
  assert.equal((await client.ask('POST', `/broadcasts/${id}/send`)).body.status, 'sending');
  for (const [method, given] of [
    ['PATCH', { subject: 'Other' }],
    ['DELETE', undefined],
  ] as const) {
    const { status, body: answer } = await client.ask(method, `/broadcasts/${id}`, given);
    assert.deepEqual([status, answer.error.type], [409, 'invalid_state'], method);
  }
});

const idsIn = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);

test('the list is narrowed by audience, and shows no bodies', async () => {
  const { tenantId, testKey: key } = await t.addTenant('lister');
  const [one, two] = [addAudience(t, { tenantId }), addAudience(t, { tenantId })];
  const ids: string[] = [];
  for (const { id } of [one, two, one, one]) {
    await clock.advance(1);
    ids.unshift((await client.created(broadcastBody(id), key)).id);
  }
  const list = async (query: string) => {
    const { body: page } = await client.ask('GET', `/broadcasts?${query}`, undefined, key);
    return [idsIn(page), page.hasMore, page.nextCursor];
  };
  assert.deepEqual(await list(`audienceId=${one.id}&limit=2`), [[ids[0], ids[1]], true, ids[1]]);
  assert.deepEqual(await list(`audienceId=${one.id}&startingAfter=${ids[1]}`), [[ids[3]], false, null]);
  assert.deepEqual(await list(`audienceId=${audience.id}`), [[], false, null]);
  assert.deepEqual(await list("audienceId='--"), [[], false, null]);
  const { body: page } = await client.ask('GET', '/broadcasts?limit=1', undefined, key);
  const { html: _, text: __, ...summary } = await client.get(ids[0] ?? '', key);
  assert.deepEqual(page.data, [summary]);
  for (const query of ['status=gone', 'status=']) {
    const { status, body: answer } = await client.ask('GET', `/broadcasts?${query}`, undefined, key);
    assert.deepEqual([status, answer.error.param], [400, query.split('=')[0]], query);
  }
});

const createdWith = (more: object = {}) => client.created(broadcastBody(audience.id, more));
const patch = (id: string, change: unknown) => client.ask('PATCH', `/broadcasts/${id}`, change);
const refusedChange = (id: string, change: unknown, param: string) =>
  client.refused('PATCH', `/broadcasts/${id}`, change, param);
test('a change of the segment sets its audience, and a change of the audience requires a segment of it or none', async () => {
  const { id } = await createdWith({ segmentId: segment.id });
  const other = addAudience(t);
  const theirs = addSegment(t, other);
  const moved = (await patch(id, { segmentId: theirs.id })).body;
  assert.deepEqual([moved.audienceId, moved.segmentId], [other.id, theirs.id]);
  await refusedChange(id, { audienceId: audience.id }, 'audienceId');
  await refusedChange(id, { audienceId: audience.id, segmentId: theirs.id }, 'segmentId');
  const whole = (await patch(id, { audienceId: audience.id, segmentId: null })).body;
  assert.deepEqual([whole.audienceId, whole.segmentId], [audience.id, null]);
  await refusedChange(id, { audienceId: null }, 'audienceId');
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
  test(`a change is refusedChange, and nothing of it done: ${JSON.stringify(change).slice(0, 60)}`, async () => {
    const before = await createdWith();
    await refusedChange(before.id, { replyTo: 'new@b.example', ...change }, param);
    assert.deepEqual(await client.get(before.id), before);
  });
}

test('HTML and template take the place of each other only when the other is cleared', async () => {
  const { id } = await createdWith();
  const templateId = await template();
  await refusedChange(id, { templateId }, 'templateId');
  assert.equal((await patch(id, { templateId, html: null })).status, 200);
  await refusedChange(id, { html: TAG }, 'html');
  await refusedChange(id, { templateId: null }, 'html');
  const back = (await patch(id, { html: TAG, templateId: null })).body;
  assert.deepEqual([back.html, back.templateId], [TAG, null]);
});

test('a change is checked with what stays: variables together, the tag in the text of the template', async () => {
  const many = Array.from({ length: 49 }, (_, index) => `{{v${index}}}`).join('');
  const { id } = await createdWith({ subject: 's', html: many + TAG });
  await refusedChange(id, { subject: '{{one}} more' }, 'subject');
  await refusedChange(id, { text: `{{one}} more ${TAG}` }, 'text');
  const { id: other } = await createdWith({ text: TAG });
  const templateId = await template({ text: 'no tag' });
  assert.equal((await patch(other, { html: null, templateId })).status, 200);
  await refusedChange(other, { text: null }, 'templateId');
});

test('a draft outlives what it names, and shows it; a change asks for what exists', async () => {
  const gone = { topicId: await topic(), templateId: await template() };
  const before = await createdWith({ ...gone, html: undefined });
  await client.ask('DELETE', `/topics/${gone.topicId}`);
  assert.deepEqual(await client.get(before.id), before);
  const ofStored = await refusedChange(before.id, { subject: 'x' }, 'topicId');
  assert.match(
    ofStored,
    new RegExp(`^\`topicId\` names the topic ${gone.topicId}, which no longer exists; `),
  );
  const ofGiven = await refusedChange(before.id, { topicId: gone.topicId }, 'topicId');
  assert.equal(ofGiven, '`topicId` must name an existing topic');
  assert.equal((await patch(before.id, { topicId: null })).status, 200);
  await client.ask('DELETE', `/templates/${gone.templateId}`);
  assert.equal((await client.get(before.id)).templateId, gone.templateId);
  await refusedChange(before.id, { subject: 'x' }, 'templateId');
  const { status, body } = await patch(before.id, { templateId: null, html: TAG });
  assert.deepEqual([status, body.templateId, body.html], [200, null, TAG]);
});

test('a template that was changed since is checked as it is now, and blamed', async () => {
  const templateId = await template();
  const { id } = await createdWith({ html: undefined, templateId });
  await client.ask('PATCH', `/templates/${templateId}`, { html: 'no tag' });
  await assert.doesNotReject(refusedChange(id, { replyTo: 'a@b.example' }, 'templateId'));
});

test('a domain that is no longer verified is refusedChange with every change, until the sender is another', async () => {
  const domain = await addDomain(t, { name: 'ending.example', status: 'verified' });
  const { id } = await createdWith({ from: 'a@ending.example' });
  await t.app.db.commit(endDomain, { id: domain.id, tenantId: t.tenantId, now: NOW });
  const { status, body } = await patch(id, { subject: 'x' });
  assert.deepEqual([status, body.error.type], [422, 'domain_not_verified']);
  assert.equal((await client.get(id)).from, 'a@ending.example');
  assert.equal((await patch(id, { subject: 'x', from: `a@${SANDBOX}` })).status, 200);
});

test('two changes at once are both made, and what neither would do alone they cannot do together', async () => {
  const first = await createdWith();
  await Promise.all([patch(first.id, { subject: 'new' }), patch(first.id, { replyTo: 'new@b.example' })]);
  const both = await client.get(first.id);
  assert.deepEqual([both.subject, both.replyTo], ['new', 'new@b.example']);

  const many = Array.from({ length: 48 }, (_, index) => `{{v${index}}}`).join('');
  const { id } = await createdWith({ subject: 's', html: many + TAG });
  const answers = await Promise.all([
    patch(id, { subject: '{{one}}' }),
    patch(id, { text: `{{another}} ${TAG}` }),
  ]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
});

test('a draft deleted while it is changed is not found, and not made again', async () => {
  const { id } = await createdWith();
  const caller = {
    tenantId: t.tenantId,
    mode: 'test',
    keyId: 'key_1',
    personId: null,
    mailboxId: null,
    domainId: null,
    approval: null,
  } as const;
  const db: TestApp['app']['db'] = Object.create(t.app.db);
  db.commit = async (write, input) => {
    await t.app.db.commit(deleteBroadcast, {
      owner: { tenantId: t.tenantId, mode: 'test', domainId: null },
      id,
      now: t.app.clock.now(),
    });
    return t.app.db.commit(write, input);
  };
  const change = updateBroadcast({ ...t.app, db }, caller, { id, given: { subject: 'x' } });
  await assert.rejects(change, /Broadcast not found/);
  assert.equal((await client.ask('GET', `/broadcasts/${id}`)).status, 404);
});
