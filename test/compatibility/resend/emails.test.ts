/** Emails by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SANDBOX, SIMULATOR } from '../../emails/fixtures.ts';
import { openSpool, START_MS } from '../../support/spool.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const spool = await openSpool();
after(() => spool.close());
const clientWith = await clientsOf(spool);
const resend = clientWith();

const HELLO = {
  from: `Acme <onboarding@${SANDBOX}>`,
  to: [`delivered@${SIMULATOR}`],
  subject: 'hello world',
  html: '<p>it works!</p>',
};
const native = async (id: string) => (await spool.request('GET', `/v1/emails/${id}`)).body;

test('an email is sent, with every field that has a counterpart', async () => {
  const { id } = await dataOf(
    resend.emails.send({
      ...HELLO,
      cc: 'carol@rcpt.example',
      bcc: ['dave@rcpt.example'],
      replyTo: 'desk@sender.example',
      text: 'it works!',
      headers: { 'X-Entity-Ref-ID': '123' },
      tags: [{ name: 'category', value: 'confirm_email' }],
      attachments: [
        { filename: 'a.txt', content: Buffer.from('bytes'), contentType: 'text/plain' },
        { filename: 'b.png', content: Buffer.alloc(100_000).toString('base64'), contentId: 'logo' },
      ],
    }),
  );
  const email = await native(id);
  assert.equal(email.from, HELLO.from);
  assert.equal(email.type, 'transactional');
  assert.deepEqual(
    [email.to, email.cc, email.bcc, email.replyTo],
    [HELLO.to, ['carol@rcpt.example'], ['dave@rcpt.example'], ['desk@sender.example']],
  );
  assert.deepEqual([email.subject, email.html, email.text], [HELLO.subject, HELLO.html, 'it works!']);
  assert.deepEqual(
    [email.headers, email.tags],
    [{ 'X-Entity-Ref-ID': '123' }, { category: 'confirm_email' }],
  );
  const files = email.attachments.map(({ filename, size, contentId }: Record<string, unknown>) => [
    filename,
    size,
    contentId,
  ]);
  assert.deepEqual(files, [
    ['a.txt', 5, null],
    ['b.png', 100_000, 'logo'],
  ]);
});

test('a refusal has the shape of Resend, its names, and its spelling of fields', async () => {
  const send = (more: object) => refusalOf(resend.emails.send({ ...HELLO, ...more } as never));
  assert.match(await send({ subject: undefined }), /^422 missing_required_field: `subject` is required$/);
  assert.match(await send({ replyTo: 'nobody' }), /^422 validation_error: `reply_to`/);
  assert.match(await send({ from: 'nobody' }), /^422 invalid_from_address: `from`/);
  assert.match(await send({ from: 'a@other.example' }), /^403 validation_error: /);
  assert.match(await send({ attachments: [{ filename: 'x', content: '%' }] }), /^422 invalid_attachment: /);
  const twice = [1, 2, 1].map((number) => ({ name: `a${number}`, value: 'b' }));
  assert.match(await send({ tags: twice }), /^422 validation_error: `tags` must not name a tag twice$/);
  assert.match(await send({ tags: ['x'] }), /^422 validation_error: `tags\[0\]` must be an object/);
  const stranger = clientWith('svc_dev_nobody');
  assert.match(await refusalOf(stranger.emails.send(HELLO)), /^403 invalid_api_key: /);
  const reader = clientWith(await spool.newKey({ permission: 'read_only' }));
  assert.match(await refusalOf(reader.emails.send(HELLO)), /^401 restricted_api_key: /);
});

test('a call without a counterpart says why, and an unknown one that it is unknown', async () => {
  assert.match(await refusalOf(resend.usage.get()), /^404 not_found: Read the usage with GET \/v1\/plan$/);
  for (const [call, reason] of [
    [resend.domains.claims.create({ name: 'a.example' }), 'This server has no claims of domains; '],
  ] as const)
    assert.ok((await refusalOf(call)).startsWith(`404 not_found: ${reason}`));
  assert.match(await refusalOf(resend.get('/nothing')), /^404 not_found: Path not found$/);
});

test('a repeated email with the same Idempotency-Key is sent once', async () => {
  const email = { ...HELLO, scheduledAt: 'in 10 min' };
  const first = await dataOf(resend.emails.send(email, { idempotencyKey: 'welcome/1' }));
  await spool.clock.advance(5_000);
  const again = await dataOf(resend.emails.send(email, { idempotencyKey: 'welcome/1' }));
  assert.equal(again.id, first.id);
  assert.equal((await native(first.id)).scheduledAt, new Date(START_MS + 600_000).toISOString());
  const other = resend.emails.send({ ...email, subject: 'Other' }, { idempotencyKey: 'welcome/1' });
  assert.match(await refusalOf(other), /^409 invalid_idempotent_request: /);
});

test('scheduled_at takes ISO 8601 and numbers of minutes, hours and days, and nothing else', async () => {
  const at = async (scheduledAt: string) => {
    const { id } = await dataOf(resend.emails.send({ ...HELLO, scheduledAt }));
    return Date.parse((await native(id)).scheduledAt) - spool.clock.now();
  };
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
  for (const [text, delay] of [
    ['in 1 min', minute],
    ['in 5 minutes', 5 * minute],
    ['in 90 mins', 90 * minute],
    ['In an hour', hour],
    ['in 2 hrs', 2 * hour],
    ['in 1 day', day],
    ['in 30 days', 30 * day],
    [new Date(spool.clock.now() + 2 * day).toISOString(), 2 * day],
  ] as const)
    assert.equal(await at(text), delay, text);
  for (const scheduledAt of [
    'tomorrow at 9am',
    'in 5 weeks',
    'in -5 minutes',
    '5 minutes',
    'in 400 days',
    '',
    '0',
  ])
    assert.match(
      await refusalOf(resend.emails.send({ ...HELLO, scheduledAt })),
      /^422 validation_error: `scheduled_at` must be /,
      scheduledAt,
    );
});

test('an attachment may be a list of bytes, as other clients send it, and of nothing else', async () => {
  const send = (content: unknown) =>
    resend.post<{ id: string }>('/emails', { ...HELLO, attachments: [{ filename: 'a.txt', content }] });
  const bytes = [...Buffer.from('bytes')];
  for (const content of [bytes, { type: 'Buffer', data: bytes }]) {
    const { id } = await dataOf(send(content));
    assert.equal((await native(id)).attachments[0].size, 5);
  }
  for (const data of [[1, 'a'], [256], [-1], [1.5], [null]])
    for (const content of [data, { type: 'Buffer', data }])
      assert.match(
        await refusalOf(send(content)),
        /^422 invalid_attachment: `attachments\[0\].content` must be base64, or a list of bytes$/,
      );
});

test('a field in the spelling of programs is refused where its loss would change the mail', async () => {
  const at = new Date(spool.clock.now() + 3_600_000).toISOString();
  for (const [given, name] of [
    [{ scheduledAt: at }, 'scheduled_at'],
    [{ topicId: 'top_1' }, 'topic_id'],
    [{ replyTo: 'desk@sender.example' }, 'reply_to'],
  ] as const)
    for (const [path, body] of [
      ['/emails', { ...HELLO, ...given }],
      ['/emails/batch', [{ ...HELLO, ...given }]],
    ] as const)
      assert.match(
        await refusalOf(resend.post(path, body)),
        new RegExp(`^422 validation_error: .*Write \`${name}\` instead of ${Object.keys(given)[0]}$`),
      );
});

test('an email is shown, listed, moved to another time and canceled', async () => {
  await spool.clock.advance(1_000);
  const more = { cc: 'carol@rcpt.example', tags: [{ name: 'a', value: 'b' }], scheduledAt: 'in 1 hour' };
  const { id } = await dataOf(resend.emails.send({ ...HELLO, ...more }));
  const shown = await dataOf(resend.emails.get(id));
  assert.deepEqual(
    { ...shown, created_at: '', message_id: '' },
    {
      object: 'email',
      ...{
        id,
        message_id: '',
        from: HELLO.from,
        to: HELLO.to,
        cc: ['carol@rcpt.example'],
        bcc: [],
        reply_to: [],
      },
      ...{ subject: HELLO.subject, html: HELLO.html, text: 'it works!', tags: more.tags, topic_id: null },
      ...{ scheduled_at: new Date(spool.clock.now() + 3_600_000).toISOString(), created_at: '' },
      last_event: 'scheduled',
    },
  );
  const scheduledAt = new Date(spool.clock.now() + 7_200_000).toISOString();
  assert.deepEqual(await dataOf(resend.emails.update({ id, scheduledAt })), { object: 'email', id });
  assert.equal((await dataOf(resend.emails.get(id))).scheduled_at, scheduledAt);
  assert.match(
    await refusalOf(resend.emails.update({ id, scheduledAt: 'soon' })),
    /^422 validation_error: `scheduled_at` must be /,
  );
  assert.deepEqual(await dataOf(resend.emails.cancel(id)), { object: 'email', id });
  assert.equal((await dataOf(resend.emails.get(id))).last_event, 'canceled');
  assert.match(await refusalOf(resend.emails.cancel(id)), /^409 validation_error: /);

  const page = await dataOf(resend.emails.list({ limit: 1 }));
  assert.deepEqual([page.object, page.has_more, page.data.length], ['list', true, 1]);
  assert.deepEqual([page.data[0]?.id, page.data[0]?.last_event], [id, 'canceled']);
  const older = await dataOf(resend.emails.list({ after: id, limit: 1 }));
  assert.notEqual(older.data[0]?.id, id);
  const back = await dataOf(resend.emails.list({ before: older.data[0]?.id ?? '', limit: 1 }));
  assert.equal(back.data[0]?.id, id);
  assert.match(await refusalOf(resend.emails.list({ after: 'x' })), /^422 validation_error: `after` must be/);
  assert.match(await refusalOf(resend.emails.get('em_nothing')), /^404 not_found: Email not found$/);
});

test('a strict batch sends all emails or none, and a permissive one those that are good', async () => {
  const [good, bad] = [HELLO, { ...HELLO, to: 'nobody' }];
  const count = async () => (await dataOf(resend.emails.list({ limit: 100 }))).data.length;
  const before = await count();
  const suppressed = { ...HELLO, to: `suppressed@${SIMULATOR}` };
  const untranslatable = { ...HELLO, tags: ['x'] as never };
  for (const [email, message] of [
    [bad, /^422 validation_error: Email 1 of the batch: `to` must be one address/],
    [suppressed, /^422 validation_error: Email 1 of the batch: All recipients are on/],
    [untranslatable, /^422 validation_error: Email 1 of the batch: `tags\[0\]` must be/],
  ] as const)
    assert.match(await refusalOf(resend.batch.send([good, email, good])), message);
  assert.equal(await count(), before);

  const sent = await dataOf(resend.batch.send([good, { ...good, subject: 'second' }]));
  assert.deepEqual(Object.keys(sent), ['data']);
  assert.equal((await native(sent.data[1]?.id ?? '')).subject, 'second');

  const permissive = { batchValidation: 'permissive', idempotencyKey: 'batch/1' } as const;
  const partly = await dataOf(resend.batch.send([untranslatable, good, bad, suppressed], permissive));
  assert.equal(partly.data.length, 1);
  assert.deepEqual(
    partly.errors.map(({ index, message }) => [index, message.slice(0, 22)]),
    [
      [0, '`tags[0]` must be an o'],
      [2, '`to` must be one addre'],
      [3, 'All recipients are on '],
    ],
  );
  const repeated = await dataOf(resend.batch.send([untranslatable, good, bad, suppressed], permissive));
  assert.deepEqual(repeated, partly);
  // A program that asks for all or none must not be answered with those that another request has sent.
  const loose = { batchValidation: 'permissive', idempotencyKey: 'batch/2' } as const;
  assert.equal((await dataOf(resend.batch.send([good, bad], loose))).data.length, 1);
  const strict = resend.batch.send([good, bad], { idempotencyKey: 'batch/2' });
  assert.match(await refusalOf(strict), /^409 invalid_idempotent_request: /);
  const unclear = resend.batch.send([good], { headers: { 'x-batch-validation': 'some' } });
  assert.match(await refusalOf(unclear), /^422 validation_error: `x-batch-validation` must be/);
  const tooMany = Array.from({ length: 101 }, () => untranslatable);
  assert.match(await refusalOf(resend.batch.send(tooMany)), /^422 validation_error: `emails` must .*100/);
  assert.match(await refusalOf(resend.post('/emails/batch', {})), /The body must be a list of emails/);
});

test('an email is made from a template, with or without a subject of its own, by a key that only sends', async () => {
  const template = { name: 'Order', subject: 'Order {{number|0}}', html: '<p>{{item|Things}}</p>' };
  const { id } = (await spool.request('POST', '/v1/templates', { body: template })).body;
  const sender = clientWith(await spool.newKey({ permission: 'sending_access' }));
  const { from, to } = HELLO;
  const send = async (email: object) =>
    native((await dataOf(sender.emails.send({ from, to, ...email } as never))).id);
  const named = await send({ template: { id, variables: { number: 7, item: 'Tea' } } });
  assert.deepEqual([named.subject, named.html, named.templateId], ['Order 7', '<p>Tea</p>', id]);
  const bare = await send({ template: { id }, subject: 'Mine' });
  assert.deepEqual([bare.subject, bare.html], ['Mine', '<p>Things</p>']);
  for (const unknown of ['tpl_01khq3z5vgxw1r8t6n2m4c9b7d', 'order']) {
    const email = { from, to, template: { id: unknown } };
    const refusal = /^422 validation_error: .*`template.id` must name an existing template$/;
    assert.match(await refusalOf(sender.emails.send(email)), refusal);
    assert.match(await refusalOf(sender.batch.send([email])), refusal);
  }
  // A repeated request has its answer although the template is gone.
  const sendOnce = () =>
    dataOf(sender.emails.send({ from, to, template: { id } }, { idempotencyKey: 'template/1' }));
  const first = await sendOnce();
  await dataOf(resend.templates.remove(id));
  assert.deepEqual(await sendOnce(), first);
});

test('a template is named by its alias, and may leave the subject to the email', async () => {
  const { data } = await resend.templates.create({ name: 'welcome', html: '<p>{{{WHO|you}}}</p>' });
  const { from, to } = HELLO;
  const template = { id: 'welcome', variables: { WHO: 'Ann' } };
  const { id } = await dataOf(resend.emails.send({ from, to, template, subject: 'Hi' }));
  const { templateId, subject, html } = await native(id);
  assert.deepEqual([templateId, subject, html], [data?.id, 'Hi', '<p>Ann</p>']);
  const silent = resend.emails.send({ from, to, template });
  assert.match(await refusalOf(silent), /^422 missing_required_field: `subject` is required/);
});

test('an email with a topic is of the type broadcast, and has the link to unsubscribe', async () => {
  const topic = { name: 'News', defaultSubscription: 'opt_in' };
  const { id: topicId } = (await spool.request('POST', '/v1/topics', { body: topic })).body;
  const html = '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">leave</a>';
  const { id } = await dataOf(resend.emails.send({ ...HELLO, topicId, html }));
  assert.equal((await native(id)).html, '<a href="{{{unsubscribe_url}}}">leave</a>');
  assert.deepEqual(
    [(await native(id)).type, (await dataOf(resend.emails.get(id))).topic_id],
    ['broadcast', topicId],
  );
});
