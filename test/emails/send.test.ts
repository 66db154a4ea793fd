import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openSpool, SENDER_DOMAIN } from '../support/spool.ts';
import { HOSTNAME, headerLines, SANDBOX, SIMULATOR, senderOf } from './fixtures.ts';

const spool = await openSpool();
after(() => spool.close());

const { send, accepted, refused } = senderOf(() => spool);

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `r${index}@rcpt.example`);

test('an accepted email answers its id and status alone, with a request id', async () => {
  const { status, body, headers } = await send({});
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(body).sort(), ['id', 'status']);
  assert.match(body.id, /^em_[0-9a-z]{26}$/);
  assert.equal(body.status, 'queued');
  assert.match(String(headers['x-request-id']), /^req_[0-9a-z]{26}$/);
  assert.equal(headers['idempotency-replayed'], undefined);
});

test('the email shows the fields as the request gave them', async () => {
  const email = await accepted({
    from: `"Ada, Countess" <Ada@${SANDBOX.toUpperCase()}>`,
    to: ['Bob <BOB@Rcpt.Example>', 'carol@rcpt.example'],
    cc: 'Jürgen <j@rcpt.example>',
    bcc: ['dave@rcpt.example'],
    replyTo: 'Desk <desk@sender.example>',
    subject: 'Grüße ✓',
    html: '<p>Hi</p>',
    text: 'Hi',
  });
  assert.equal(email.from, `"Ada, Countess" <Ada@${SANDBOX.toUpperCase()}>`);
  assert.deepEqual(email.to, ['Bob <BOB@Rcpt.Example>', 'carol@rcpt.example']);
  assert.deepEqual(email.cc, ['Jürgen <j@rcpt.example>']);
  assert.deepEqual(email.bcc, ['dave@rcpt.example']);
  assert.deepEqual(email.replyTo, ['Desk <desk@sender.example>']);
  assert.equal(email.subject, 'Grüße ✓');
  assert.equal(email.html, '<p>Hi</p>');
  assert.equal(email.text, 'Hi');
  assert.equal(email.type, 'transactional');
  assert.equal(email.status, 'queued');
  assert.equal(email.mode, 'test');
  assert.match(email.createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assert.equal(email.lastEventAt, email.createdAt);
  assert.equal(email.messageId, `<${email.id}@${SANDBOX}>`);
  assert.deepEqual(
    email.recipients.map(({ email: address, type, status }: Record<string, string>) => [
      type,
      address,
      status,
    ]),
    [
      ['to', 'BOB@rcpt.example', 'queued'],
      ['to', 'carol@rcpt.example', 'queued'],
      ['cc', 'j@rcpt.example', 'queued'],
      ['bcc', 'dave@rcpt.example', 'queued'],
    ],
  );
});

test('the message names sender, recipients and reply address, and no blind copy', async () => {
  const email = await accepted({
    to: ['Bob <bob@rcpt.example>', 'carol@rcpt.example'],
    cc: ['cc@rcpt.example'],
    bcc: ['hidden@rcpt.example'],
    replyTo: ['one@sender.example', 'two@sender.example'],
  });
  const lines = await headerLines(spool.app, email.id);
  assert.ok(lines.includes(`From: Ada <ada@${SANDBOX}>`));
  assert.ok(lines.includes('To: Bob <bob@rcpt.example>, carol@rcpt.example'));
  assert.ok(lines.includes('Cc: cc@rcpt.example'));
  assert.ok(lines.includes('Reply-To: one@sender.example, two@sender.example'));
  assert.ok(lines.every((line) => !/bcc|hidden/i.test(line)));
});

for (const field of ['to', 'cc', 'bcc', 'replyTo']) {
  test(`${field} may be a string or a list, of up to 50 addresses`, async () => {
    assert.deepEqual((await accepted({ [field]: 'one@rcpt.example' }))[field], ['one@rcpt.example']);
    assert.deepEqual((await accepted({ [field]: ['one@rcpt.example'] }))[field], ['one@rcpt.example']);
    const fifty = addresses(50);
    assert.deepEqual((await accepted({ [field]: fifty }))[field], fifty);
    await refused(field, { [field]: addresses(51) });
    await refused(field, { [field]: 7 });
    await refused(field, { [field]: null });
    await refused(field, { [field]: { email: 'one@rcpt.example' } });
    await refused(`${field}[1]`, { [field]: ['one@rcpt.example', 7] });
    await refused(field, { [field]: '' });
    await refused(field, { [field]: 'one@rcpt.example, two@rcpt.example' });
    await refused(`${field}[1]`, { [field]: ['one@rcpt.example', 'two'] });
    await refused(`${field}[0]`, { [field]: ['a@rcpt.example\r\nBcc: x@rcpt.example'] });
  });
}

test('an empty list of copies or reply addresses is none; of recipients it is refused', async () => {
  const email = await accepted({ cc: [], bcc: [], replyTo: [] });
  assert.deepEqual([email.cc, email.bcc, email.replyTo], [[], [], []]);
  const lines = await headerLines(spool.app, email.id);
  assert.ok(lines.every((line) => !/^(cc|bcc|reply-to):/i.test(line)));
  await refused('to', { to: [] });
});

test('from is one address', async () => {
  for (const from of [undefined, null, 7, [`ada@${SANDBOX}`], '', 'ada', `a@${SANDBOX}, b@${SANDBOX}`]) {
    await refused('from', { from });
  }
});

test('a display name that must be quoted is named in the refusal', async () => {
  const sender = `<ada@${SANDBOX}>`;
  for (const name of ['Ada, Inc.', 'Ada (Inc)', 'Ada: Inc', 'Ada "x']) {
    await refused('from', { from: `${name} ${sender}` }, /`from` must have its name in quotes/);
    await accepted({ from: `"${name.replace('"', '\\"')}" ${sender}` });
  }
  await refused('to[0]', { to: ['Bob, Inc. <bob@rcpt.example>'] }, /`to\[0\]` must have its name in quotes/);
  // More than that is wrong with these: some are several addresses.
  for (const from of [
    'a@x.example, Ada <b@x.example>',
    'A <a@x.example>, B <b@x.example>',
    'Ada, Inc. <ada>',
    'a@x.example, Ada <',
    '<>',
    'Ada\n <ada@x.example> <',
  ]) {
    await refused('from', { from }, /must be one address/);
  }
});

test('to, subject and type are required', async () => {
  await refused('to', { to: undefined }, /required/);
  await refused('subject', { subject: undefined }, /required/);
  await refused('type', { type: undefined }, /required/);
  await refused('type', { type: 'marketing' }, /transactional, broadcast/);
});

test('a subject is one line of 1 to 998 characters', async () => {
  for (const subject of ['', ' ', '\u00a0', 'a\r\nBcc: x@rcpt.example', 'a\nb', 'a\rb', 'a\0b', '\ud800']) {
    await refused('subject', { subject });
  }
  await refused('subject', { subject: 'x'.repeat(999) });
  assert.equal((await accepted({ subject: 'x'.repeat(998) })).subject.length, 998);
  assert.equal(
    (await accepted({ subject: 'tab\tand \u2028 separator' })).subject,
    'tab\tand \u2028 separator',
  );
});

test('html or text is required, each of at most 2 MiB of well-formed text', async () => {
  await refused('html', { text: undefined }, /required/);
  await refused('text', { text: null });
  await refused('html', { html: 7 });
  for (const field of ['html', 'text']) {
    await refused(field, { [field]: 'a\0b' }, /NUL/);
    await refused(field, { [field]: 'a\udc00b' }, /Unicode/);
    await refused(field, { [field]: 'é'.repeat(1024 * 1024 + 1) }, /2 MiB/);
  }
  const longest = await accepted({ text: undefined, html: 'x'.repeat(2 * 1024 * 1024) });
  assert.equal(longest.html.length, 2 * 1024 * 1024);
});

test('an address that several fields name is delivered to once, in the first of them, whatever its case', async () => {
  const email = await accepted({
    to: ['bob@rcpt.example', 'Bob <BOB@RCPT.EXAMPLE>'],
    cc: ['bob@rcpt.example', 'carol@rcpt.example'],
    bcc: 'Carol@rcpt.example',
  });
  assert.deepEqual(
    email.recipients.map(({ email: address, type }: Record<string, string>) => [type, address]),
    [
      ['to', 'bob@rcpt.example'],
      ['cc', 'carol@rcpt.example'],
    ],
  );
  assert.equal(email.events.length, 2);
  assert.deepEqual(email.to, ['bob@rcpt.example', 'Bob <BOB@RCPT.EXAMPLE>'], 'shown as given all the same');
});

test('a broadcast needs a topic, and a topic must exist', async () => {
  await refused('topicId', { type: 'broadcast' }, /topic/);
  await refused('topicId', { type: 'broadcast', topicId: 'top_1' }, /topic/);
  await refused('topicId', { topicId: 'top_1' }, /topic/);
});

test('a field in snake case is refused with the name that was meant; other unknown fields are ignored', async () => {
  await refused('reply_to', { reply_to: 'a@rcpt.example' }, /did you mean `replyTo`/);
  await refused('reply-to', { 'reply-to': 'a@rcpt.example' }, /did you mean `replyTo`/);
  await refused('Reply-To', { 'Reply-To': 'a@rcpt.example' }, /did you mean `replyTo`/);
  await refused('replyto', { replyto: 'a@rcpt.example' }, /did you mean `replyTo`/);
  await refused('scheduled_at', { scheduled_at: '2030-01-01T00:00:00Z' }, /`scheduledAt`/);
  await refused('template_id', { template_id: 'tpl_1' }, /`templateId`/);
  await refused('topic_id', { topic_id: 'top_1' }, /`topicId`/);
  await accepted({ colour: 'red', x_y: 1 });
});

test('a live key sends from a verified domain of its tenant and from nothing else', async () => {
  const key = spool.liveKey;
  assert.equal((await accepted({ from: `a@${SENDER_DOMAIN.toUpperCase()}` }, { key })).mode, 'live');
  const created = await spool.request('POST', '/v1/domains', { key, body: { name: 'pending.example' } });
  assert.equal(created.status, 201);
  const other = await spool.addTenant('stranger');
  const attempts: [string, string][] = [
    ['a@unknown.example', key],
    ['a@pending.example', key],
    [`a@sub.${SENDER_DOMAIN}`, key],
    [`a@${SENDER_DOMAIN}`, other.liveKey],
    [`a@${SENDER_DOMAIN}`, other.testKey],
    [`a@${SIMULATOR}`, key],
    [`a@${HOSTNAME}`, key],
  ];
  for (const [from, sender] of attempts) {
    const { status, body } = await send({ from }, { key: sender });
    assert.deepEqual(
      [status, body.error?.type, body.error?.param],
      [422, 'domain_not_verified', 'from'],
      from,
    );
  }
  const stranger = await send({ from: `a@${SENDER_DOMAIN}` }, { key: other.liveKey });
  const unknown = await send({ from: 'a@unknown.example' }, { key: other.liveKey });
  assert.equal(
    stranger.body.error.message.replaceAll(SENDER_DOMAIN, '-'),
    unknown.body.error.message.replaceAll('unknown.example', '-'),
    'the domain of another tenant is not told from one nobody has',
  );
});

test('the sandbox sends with test keys to anybody, with live keys to the simulator alone', async () => {
  const key = spool.liveKey;
  assert.equal((await accepted({})).mode, 'test');
  assert.equal((await accepted({ to: `delivered@${SIMULATOR}` }, { key })).mode, 'live');
  for (const to of ['bob@rcpt.example', [`delivered@${SIMULATOR}`, 'bob@rcpt.example']]) {
    const { status, body } = await send({ to }, { key });
    assert.deepEqual([status, body.error.type], [422, 'domain_not_verified']);
  }
  const hidden = await send({ to: `delivered@${SIMULATOR}`, bcc: 'bob@rcpt.example' }, { key });
  assert.equal(hidden.status, 422);
});

test('each recipient of the simulator acts as its name says', async () => {
  const expected = {
    delivered: 'delivered',
    bounced: 'bounced',
    complained: 'complained',
    delayed: 'sent',
    opened: 'delivered',
    clicked: 'delivered',
    'bounced+label': 'bounced',
  };
  const sent = new Map<string, string>();
  for (const local of Object.keys(expected)) {
    sent.set(local, (await accepted({ to: `${local}@${SIMULATOR}` })).id);
  }
  await spool.deliverDue();
  for (const [local, status] of Object.entries(expected)) {
    const { body } = await spool.request('GET', `/v1/emails/${sent.get(local)}`);
    assert.equal(body.status, status, local);
  }
});

test('a request with only suppressed recipients is refused, and a suppressed recipient among others is left out', async () => {
  for (const to of [`suppressed@${SIMULATOR}`, `Suppressed+x@${SIMULATOR}`]) {
    const { status, body } = await send({ to });
    assert.deepEqual([status, body.error.type], [422, 'suppressed_recipient']);
  }
  const email = await accepted({ to: [`suppressed@${SIMULATOR}`, `delivered@${SIMULATOR}`] });
  const statuses = email.recipients.map(({ status }: { status: string }) => status);
  assert.deepEqual(statuses, ['suppressed', 'queued']);
  assert.deepEqual(email.events.map(({ type }: { type: string }) => type).sort(), [
    'email.queued',
    'email.suppressed',
  ]);
});
