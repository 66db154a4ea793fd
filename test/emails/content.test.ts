import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import { openSpool } from '../support/spool.ts';
import { rawMessage, senderOf } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const { accepted, refused } = senderOf(() => spool);

async function template(fields: Record<string, unknown> = {}, key = spool.testKey): Promise<string> {
  const body = { name: 'Welcome', subject: 'Template subject', html: '<p>Hello {{name}}</p>', ...fields };
  const created = await spool.request('POST', '/v1/templates', { key, body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body.id;
}

test('text is generated from HTML when it is omitted, and sent along', async () => {
  const email = await accepted({ text: undefined, html: '<h1>Hi</h1><p>One<br>two</p>' });
  assert.match(email.text, /Hi\s+One\ntwo/);
  const mail = await simpleParser(Buffer.from(await rawMessage(spool.app, email.id), 'latin1'));
  assert.equal(mail.text?.trim(), email.text.trim());
  assert.equal(String(mail.html).trim(), '<h1>Hi</h1><p>One<br>two</p>');
});

test('a given text is never replaced, not even an empty one; HTML without words has none', async () => {
  assert.equal((await accepted({ html: '<p>Hi</p>', text: 'Own' })).text, 'Own');
  assert.equal((await accepted({ html: '<p>Hi</p>', text: '' })).text, '');
  assert.equal((await accepted({ text: undefined, html: '<hr>' })).html, '<hr>');
  assert.equal((await accepted({ text: undefined, html: '' })).text, null);
});

test('inline bodies without variables stay as they are, placeholders included', async () => {
  const email = await accepted({ subject: 'Hi {{name}}', html: '<p>{{name}}</p>', text: '{{{name|x}}}' });
  assert.deepEqual(
    [email.subject, email.html, email.text],
    ['Hi {{name}}', '<p>{{name}}</p>', '{{{name|x}}}'],
  );
  assert.deepEqual(email.missingVariables, []);
});

test('variables fill in inline subject, HTML and text, escaped in HTML alone', async () => {
  const email = await accepted({
    subject: 'Hi {{name}}',
    html: '<p>{{name}} {{{name}}} {{n}} {{yes}} {{none|-}}</p>',
    text: '{{name}} {{there|you}} {{gone}} {{gone}} {{toString}}',
    variables: { name: '<A & B>', n: 1.5, yes: true, none: null },
  });
  assert.equal(email.subject, 'Hi <A & B>');
  assert.equal(email.html, '<p>&lt;A &amp; B&gt; <A & B> 1.5 true -</p>');
  assert.equal(email.text, '<A & B> you   ');
  assert.deepEqual(email.missingVariables.sort(), ['gone', 'toString']);
  const empty = await accepted({ text: '{{a}}', variables: {} });
  assert.deepEqual([empty.text, empty.missingVariables], ['', ['a']]);
});

test('a line break in a value does not leave the subject’s line', async () => {
  const email = await accepted({
    subject: 'Hi {{name}}',
    variables: { name: 'a\r\nBcc: x@y.example\0'.slice(0, -1) },
  });
  assert.equal(email.subject, 'Hi a Bcc: x@y.example');
  const raw = await rawMessage(spool.app, email.id);
  assert.match(raw, /^Subject: Hi a Bcc: x@y\.example\r$/m);
  assert.doesNotMatch(raw, /^Bcc:/im);
});

test('a subject that renders empty is accepted, one that renders too long is refused', async () => {
  assert.equal((await accepted({ subject: '{{gone}}', variables: {} })).subject, '');
  const variables = { a: 'x'.repeat(998) };
  assert.equal((await accepted({ subject: '{{a}}', variables })).subject.length, 998);
  await refused('subject', { subject: '{{a}}!', variables });
});

test('a body that variables make longer than 2 MiB is refused', async () => {
  const variables = { a: 'x'.repeat(10_000) };
  await refused('variables', { html: '{{a}}'.repeat(300), variables });
  await refused('html', { html: '{{e}}'.repeat(300), variables: { e: '€'.repeat(3_400) } }, /2 MiB/);
  await refused('text', { text: '{{e}}'.repeat(300), variables: { e: '€'.repeat(3_400) } }, /2 MiB/);
});

test('variables are up to 50 strings, numbers, booleans and nulls; a string has at most 10 KiB', async () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]));
  await accepted({ variables: { ...many(49), long: 'é'.repeat(5_120) } });
  await refused('variables', { variables: many(51) });
  await refused('variables.a', { variables: { a: `${'é'.repeat(5_120)}x` } });
  for (const bad of [[], {}, ['x']]) await refused('variables.a', { variables: { a: bad } });
  for (const bad of [[], 'x', 7, null]) await refused('variables', { variables: bad });
  await refused('variables.a', { variables: { a: 'x\0' } }, /NUL/);
  await refused('variables.a', { variables: { a: '\ud800' } }, /Unicode/);
});

test('a template gives the HTML, the given subject wins, and variables are filled in', async () => {
  const templateId = await template();
  const email = await accepted({ text: undefined, templateId, variables: { name: 'Ada & Bob' } });
  assert.equal(email.subject, 'Hello');
  assert.equal(email.html, '<p>Hello Ada &amp; Bob</p>');
  assert.equal(email.text.trim(), 'Hello Ada & Bob', 'its text is made from its HTML');
  assert.equal(email.templateId, templateId);
});

test('a template’s own text is rendered and sent; a given text wins over it', async () => {
  const templateId = await template({ text: 'Text for {{name|you}}' });
  assert.equal((await accepted({ text: undefined, templateId })).text, 'Text for you');
  const own = await accepted({ text: 'My own {{name}}', templateId });
  assert.equal(own.text, 'My own {{name}}', 'inline, and without variables');
  assert.equal((await accepted({ text: 'My {{name}}', templateId, variables: { name: 'A' } })).text, 'My A');
});

test('a template is always rendered; what has no value is listed, never refused', async () => {
  const templateId = await template();
  const email = await accepted({ text: undefined, templateId });
  assert.deepEqual([email.html, email.missingVariables], ['<p>Hello </p>', ['name']]);
});

test('a template is rendered when the email is accepted, not when it is due', async () => {
  const templateId = await template({ html: '<p>Hello {{name}}</p>' });
  const variables = { name: 'Ada' };
  const email = await accepted({
    ...{ text: undefined, templateId, variables },
    scheduledAt: '2026-06-01T00:00:00Z',
  });
  assert.equal(email.status, 'queued');
  assert.ok((await rawMessage(spool.app, email.id)).includes('<p>Hello Ada</p>'));
});

test('a template is one of the tenant’s; html cannot be combined with it', async () => {
  const foreign = await template({}, (await spool.addTenant('other')).testKey);
  for (const templateId of [foreign, 'tpl_1', '', 'x', foreign.toUpperCase(), `${foreign}\0`]) {
    await refused('templateId', { text: undefined, templateId }, /existing template/);
  }
  await refused('html', { html: '<p>', templateId: await template() });
  await refused('templateId', { templateId: null });
});

test('a broadcast needs a topic of the tenant; a transactional email may have one', async () => {
  const topic = async (key: string) =>
    (await spool.request('POST', '/v1/topics', { key, body: { name: 'News' } })).body.id as string;
  const own = await topic(spool.testKey);
  const foreign = await topic((await spool.addTenant('topics')).testKey);
  assert.equal((await accepted({ topicId: own })).topicId, own);
  const broadcast = await accepted({
    type: 'broadcast',
    topicId: own,
    cc: 'c@rcpt.example',
    bcc: 'b@rcpt.example',
  });
  assert.deepEqual([broadcast.type, broadcast.topicId, broadcast.recipients.length], ['broadcast', own, 3]);
  await refused('topicId', { type: 'broadcast' }, /required/);
  for (const topicId of [foreign, 'top_1', '']) {
    await refused('topicId', { topicId }, /existing topic/);
    await refused('topicId', { topicId, type: 'broadcast' }, /existing topic/);
  }
});

test('custom headers are part of the message, and are shown', async () => {
  const headers = {
    'X-Campaign': 'spring',
    'In-Reply-To': '<a@b.example>',
    'List-Unsubscribe': '<https://a.example/u>',
  };
  const email = await accepted({ headers });
  assert.deepEqual(email.headers, headers);
  const raw = await rawMessage(spool.app, email.id);
  for (const [name, value] of Object.entries(headers))
    assert.ok(raw.includes(`\r\n${name}: ${value}\r\n`), name);
  await refused('headers.bcc', { headers: { bcc: 'x@rcpt.example' } }, /reserved/);
  await refused('headers.X-A', { headers: { 'X-A': 7 } });
  for (const bad of [[], 'x', null]) await refused('headers', { headers: bad });
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'v']));
  const { id } = await accepted({ headers: { 'TLS-Required': 'No' } });
  const message = await spool.app.db.read.selectFrom('messages').select('requireTls').where('id', '=', id);
  assert.equal((await message.executeTakeFirstOrThrow()).requireTls, 2);
  await accepted({ headers: many(50) });
  await refused('headers', { headers: many(51) });
});

test('tags are up to 10 pairs of strings, and are shown', async () => {
  const tags = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  assert.deepEqual((await accepted({ tags: tags(10) })).tags, tags(10));
  await refused('tags', { tags: tags(11) });
  await refused('tags.a', { tags: { a: 7 } });
  await refused('tags', { tags: { 'a\u2028b': '1', 'a\n': '2' } });
  await refused('tags.a\u2028b', { tags: { 'a\u2028b': 7 } });
  for (const bad of [['a'], 'x', null]) await refused('tags', { tags: bad });
  assert.deepEqual((await accepted({ tags: { 'a\u2028b': 'c', constructor: 'd' } })).tags, {
    'a\u2028b': 'c',
    constructor: 'd',
  });
});

test('fields that the request left out are shown as empty', async () => {
  const email = await accepted({});
  assert.deepEqual(
    [
      email.headers,
      email.attachments,
      email.tags,
      email.missingVariables,
      email.cc,
      email.bcc,
      email.replyTo,
    ],
    [{}, [], {}, [], [], [], []],
  );
  assert.deepEqual(
    [email.scheduledAt, email.templateId, email.topicId, email.html],
    [null, null, null, null],
  );
  assert.deepEqual(email.recipientCounts, {
    ...{ queued: 1, sent: 0, deferred: 0, held: 0, delivered: 0 },
    ...{ bounced: 0, complained: 0, suppressed: 0, canceled: 0 },
  });
});
