import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { acceptBatch } from '../../src/emails/accept.ts';
import { MAX_BATCH_BODY_BYTES } from '../../src/emails/schemas.ts';
import { AppError } from '../../src/system/errors.ts';
import type { Fetch } from '../../src/system/fetch.ts';
import { openSpool, SENDER_DOMAIN, START_MS } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import type { TestRequest } from '../support/test-app.ts';
import { blobFiles, countRows, emailBody, rawMessage, SIMULATOR } from './fixtures.ts';

type Item = { id: string | null; status: string; error?: { type: string; message: string } };

const web: Fetch = async ({ url }) => {
  if (!url.startsWith('https://files.example/')) throw new Error('no route to host');
  return { status: 200, headers: {}, body: Buffer.from(`the file ${url}`), truncated: false };
};

const spool = await openSpool({ system: { fetch: web } });
after(() => spool.close());

const post = (body: unknown, options: TestRequest = {}) =>
  spool.request('POST', '/v1/emails/batch', { body, ...options });

/** Each with the fields of an email that is accepted, unless they say otherwise. */
async function send(emails: unknown[], options: TestRequest = {}): Promise<Item[]> {
  const { status, body } = await post({ emails }, options);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ['data']);
  assert.equal(body.data.length, emails.length);
  return body.data;
}

const live = (more: Record<string, unknown> = {}) => emailBody({ from: `a@${SENDER_DOMAIN}`, ...more });
const LARGE = Buffer.alloc(600 * 1024).toString('base64');
const withFile = (more: Record<string, unknown> = {}) =>
  live({ attachments: [{ filename: 'a.bin', content: LARGE }], ...more });

async function limitPlan(limits: { monthlyEmails?: number; requestsPerSecond?: number }): Promise<void> {
  await storePlan(spool.app.db, 'unlimited', limits);
  spool.app.wakeups.notify('tenants');
}

function suppress(email: string): Promise<unknown> {
  return spool.request('POST', '/v1/suppressions', { body: { email } });
}

test('each email of a batch has a result at its position: accepted, or failed with type and message', async () => {
  const before = await countRows(spool.app);
  const data = await send([
    emailBody({ subject: 'First' }),
    emailBody({ to: 'nobody' }),
    emailBody({ from: 'a@unknown.example' }),
    emailBody({ to: `suppressed@${SIMULATOR}` }),
    emailBody({ subject: 'Last', to: ['a@rcpt.example', 'b@rcpt.example'] }),
  ]);
  assert.deepEqual(
    data.map(({ id, status, error }) => [id === null, status, error?.type]),
    [
      [false, 'queued', undefined],
      [true, 'failed', 'validation_error'],
      [true, 'failed', 'domain_not_verified'],
      [true, 'failed', 'suppressed_recipient'],
      [false, 'queued', undefined],
    ],
  );
  const [first, second, , , last] = data;
  assert.deepEqual(Object.keys(first ?? {}).sort(), ['id', 'status']);
  assert.deepEqual(Object.keys(second ?? {}).sort(), ['error', 'id', 'status']);
  assert.deepEqual(Object.keys(second?.error ?? {}).sort(), ['message', 'type']);
  assert.match(second?.error?.message ?? '', /`to` must be one address/);
  for (const [item, subject] of [
    [first, 'First'],
    [last, 'Last'],
  ] as const) {
    const { body } = await spool.request('GET', `/v1/emails/${item?.id}`);
    assert.deepEqual([body.subject, body.status], [subject, 'queued']);
    assert.equal(body.events[0].type, 'email.queued');
  }
  const rows = await countRows(spool.app);
  const added = Object.entries(rows).map(([table, count]) => [table, count - (before[table] ?? 0)]);
  assert.deepEqual(Object.fromEntries(added), {
    ...{
      emails: 2,
      messages: 2,
      contents: 2,
      blobs: 0,
      recipients: 3,
      events: 3,
      emailAddresses: 3,
      emailTags: 0,
    },
  });
});

/** What is wrong with one email, however it is sent. */
const BAD: readonly Record<string, unknown>[] = [
  { from: undefined },
  { to: [] },
  { to: Array.from({ length: 51 }, (_, index) => `r${index}@rcpt.example`) },
  { to: ['a@rcpt.example', 7] },
  { cc: ['a@rcpt.example', 'b'] },
  { subject: '' },
  { subject: 'a\r\nb' },
  { text: undefined },
  { html: '<p>x', templateId: 'tpl_x', text: undefined },
  { type: 'newsletter' },
  { type: 'broadcast' },
  { topicId: 'top_x' },
  { templateId: 'tpl_x', text: undefined },
  { reply_to: 'a@rcpt.example' },
  { scheduleAt: '2030-01-01T00:00:00Z' },
  { scheduledAt: 'tomorrow' },
  { headers: { Bcc: 'a@rcpt.example' } },
  { tags: { a: 1 } },
  { tags: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'v'])) },
  { attachments: [{ filename: 'a', content: '!' }] },
  { attachments: [{ filename: 'a', content: `${LARGE}!` }] },
  { attachments: [{ path: 'https://nowhere.example/a' }] },
  { attachments: Array.from({ length: 11 }, () => ({ filename: 'a', content: '' })) },
  { from: 'a@unknown.example' },
  { to: `suppressed@${SIMULATOR}` },
];

test('an email in a batch gets the same errors as alone', async () => {
  const data = await send(BAD.map((more) => emailBody(more)));
  for (const [index, more] of BAD.entries()) {
    const alone = await spool.request('POST', '/v1/emails', { body: emailBody(more) });
    assert.notEqual(alone.status, 200, JSON.stringify(more));
    const { type, message } = alone.body.error;
    assert.deepEqual(data[index], { id: null, status: 'failed', error: { type, message } });
  }
});

test('an email that is not an object fails at its position', async () => {
  const nothings = [null, 7, 'email', true, [], [emailBody()]];
  const data = await send([...nothings, emailBody()]);
  for (const item of data.slice(0, nothings.length)) {
    assert.deepEqual([item.status, item.error?.type], ['failed', 'validation_error']);
    assert.match(item.error?.message ?? '', /object/);
  }
  assert.equal(data.at(-1)?.status, 'queued');
});

test('a batch holds 1 to 100 emails', async () => {
  const many = (count: number) => Array.from({ length: count }, () => emailBody());
  const refusals = [
    {},
    { emails: [] },
    { emails: many(101) },
    { emails: emailBody() },
    { emails: null },
    { emails: 'x' },
  ];
  for (const body of refusals) {
    const answer = await post(body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    assert.deepEqual([answer.body.error.type, answer.body.error.param], ['validation_error', 'emails']);
  }
  assert.equal((await post([emailBody()])).status, 400);
  assert.equal((await post(undefined)).status, 400);
  const near = await post({ Emails: many(1) });
  assert.match(near.body.error.message, /did you mean `emails`/);
  const data = await send(many(100));
  assert.equal(new Set(data.map(({ id }) => id)).size, 100);
});

test('a batch may contain 100 emails that each use every field', async () => {
  const addresses = (field: string) =>
    Array.from({ length: 50 }, (_, index) => `${field}${index}@rcpt.example`);
  const named = (count: number, name: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, 'value']));
  const full = emailBody({
    ...{ to: addresses('to'), cc: addresses('cc'), bcc: addresses('bcc'), replyTo: addresses('reply') },
    ...{ headers: named(50, 'X-'), tags: named(10, 'tag'), variables: named(50, 'name') },
    html: '<p>Hello</p>',
    scheduledAt: new Date(START_MS + 3_600_000).toISOString(),
    attachments: Array.from({ length: 10 }, (_, index) => ({
      ...{ filename: `${index}.txt`, content: 'aGVsbG8=', contentType: 'text/plain', contentId: `c${index}` },
    })),
  });
  // One that is accepted tells as much as a hundred, and is quicker.
  const data = await send([
    full,
    ...Array.from({ length: 99 }, () => ({ ...full, from: 'a@unknown.example' })),
  ]);
  assert.equal(data[0]?.status, 'queued', JSON.stringify(data[0]));
  assert.ok(data.slice(1).every(({ error }) => error?.type === 'domain_not_verified'));
});

test('a batch is one transaction, and wakes the queue once', async (t) => {
  const commit = t.mock.method(spool.app.db, 'commit');
  const notify = t.mock.method(spool.app.wakeups, 'notify');
  await send([emailBody(), emailBody({ to: '' }), emailBody()]);
  assert.deepEqual(
    commit.mock.calls.map(({ arguments: [write] }) => write),
    [acceptBatch],
  );
  assert.equal(notify.mock.calls.filter(({ arguments: [name] }) => name === 'queue').length, 1);
});

test('a batch of which no email is accepted is still answered with 200', async () => {
  const before = await countRows(spool.app);
  const data = await send([emailBody({ to: '' }), emailBody({ from: 'a@unknown.example' })]);
  const statuses = data.map(({ status }) => status);
  assert.deepEqual(statuses, ['failed', 'failed']);
  assert.deepEqual(await countRows(spool.app), before);
});

test('the text that variables add to a batch is bounded, and an email beyond it has an error in its item', async () => {
  const large = emailBody({
    ...{ html: '<p>{{x}}</p>'.repeat(200), text: '{{x}}'.repeat(200) },
    variables: { x: 'x'.repeat(10_000) },
  });
  // 3,998,000 characters more than came, each.
  const data = await send([...Array(10).fill(large), emailBody()]);
  assert.deepEqual(
    data.map(({ status }) => status),
    [...Array(8).fill('queued'), 'failed', 'failed', 'queued'],
  );
  assert.deepEqual(data[8]?.error, {
    type: 'validation_error',
    message:
      'Templates and variables may produce at most 32 MiB of text in a batch; send this email in another batch',
  });
});

test('an email that fails releases its memory for the emails after it', async () => {
  const large = { html: '<p>{{x}}</p>'.repeat(200), text: 'x', variables: { x: 'x'.repeat(10_000) } };
  const to = 'nobody.more@rcpt.example';
  await suppress(to);
  const refused = live({ ...large, to });
  // More than the batch may have, and than there is room for.
  const data = await send([...Array(50).fill(refused), ...Array(3).fill(emailBody(large))]);
  assert.deepEqual(
    [
      ...new Set(data.slice(0, 50).map(({ error }) => error?.type)),
      ...data.slice(50).map(({ status }) => status),
    ],
    ['suppressed_recipient', 'queued', 'queued', 'queued'],
  );
});

test('a hundred emails of a template of 300 KB are taken', async () => {
  const html = `<p>{{x}}</p>${'y'.repeat(300_000)}`;
  const template = await spool.request('POST', '/v1/templates', {
    body: { name: 'Large', subject: 'x', html, text: 'x' },
  });
  assert.equal(template.status, 201);
  const email = {
    ...emailBody({ html: undefined, text: undefined }),
    templateId: template.body.id,
    variables: { x: 'x' },
  };
  const data = await send(Array(100).fill(email));
  assert.deepEqual(new Set(data.map(({ status }) => status)), new Set(['queued']));
});

test('attachments and schedules are each email’s own', async () => {
  const scheduledAt = new Date(START_MS + 3_600_000).toISOString();
  const data = await send([
    emailBody({ scheduledAt, attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }] }),
    emailBody({ attachments: [{ filename: 'b.bin', content: LARGE }] }),
    emailBody({ attachments: [{ path: 'https://files.example/c.txt' }] }),
    emailBody({ attachments: [{ path: 'https://nowhere.example/d.txt' }] }),
    emailBody(),
  ]);
  assert.deepEqual(
    data.map(({ status }) => status),
    ['queued', 'queued', 'queued', 'failed', 'queued'],
  );
  assert.match(data[3]?.error?.message ?? '', /`attachments\[0\]\.path` could not be fetched/);
  const shown = await Promise.all(
    data.map(async ({ id }) => (await spool.request('GET', `/v1/emails/${id}`)).body),
  );
  assert.equal(shown[0].scheduledAt, scheduledAt);
  assert.equal(shown[1].scheduledAt, null);
  assert.deepEqual(
    [0, 1, 2, 4].map((index) => shown[index].attachments.map(({ size }: { size: number }) => size)),
    [[5], [600 * 1024], ['the file https://files.example/c.txt'.length], []],
  );
  const raw = await rawMessage(spool.app, data[1]?.id ?? '');
  assert.ok(raw.replaceAll('\r\n', '').includes(LARGE));
});

test('an email of a batch that the transaction refuses has an error in its item and leaves no rows and no bytes', async () => {
  const key = spool.liveKey;
  await suppress('gone@rcpt.example');
  await limitPlan({ monthlyEmails: 2 });
  try {
    const rows = await countRows(spool.app);
    const files = blobFiles(spool).length;
    const data = await send(
      [
        withFile(),
        live({ to: 'gone@rcpt.example' }),
        withFile({ to: 'gone@rcpt.example' }),
        live({ to: `delivered@${SIMULATOR}` }),
        live(),
        withFile(),
        live(),
      ],
      { key },
    );
    assert.deepEqual(
      data.map(({ status, error }) => error?.type ?? status),
      [
        ...['queued', 'suppressed_recipient', 'suppressed_recipient', 'queued', 'queued'],
        ...['quota_exceeded', 'quota_exceeded'],
      ],
    );
    const after = await countRows(spool.app);
    assert.equal((after['messages'] ?? 0) - (rows['messages'] ?? 0), 3);
    assert.equal((after['contents'] ?? 0) - (rows['contents'] ?? 0), 3);
    assert.equal((after['blobs'] ?? 0) - (rows['blobs'] ?? 0), 1);
    assert.equal(blobFiles(spool).length, files + 1);
    const { headers } = await post({ emails: [live()] }, { key });
    assert.equal(Number(headers['x-quota-remaining']), 0);
  } finally {
    await limitPlan({});
  }
});

test('a key that is bound to a domain sends from that one alone, by itself and in a batch', async () => {
  const created = await spool.request('POST', '/v1/domains', {
    key: spool.liveKey,
    body: { name: 'bound.example' },
  });
  const domains = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
  type Named = { id: `dom_${string}`; name: string };
  const domainId = domains.body.data.find(({ name }: Named) => name === SENDER_DOMAIN).id as Named['id'];
  const keyFor = (id: Named['id'], mode: 'live' | 'test') =>
    spool.newKey({ mode, permission: 'sending_access', domainId: id });
  const key = await keyFor(domainId, 'live');
  const data = await send([live(), live({ from: 'a@unknown.example' }), live({ from: 'a@bound.example' })], {
    key,
  });
  assert.deepEqual(
    data.map(({ status, error }) => error?.type ?? status),
    ['queued', 'restricted_api_key', 'restricted_api_key'],
  );
  for (const [from, token] of [
    ['a@unknown.example', key],
    ['a@bound.example', key],
    [`a@${SENDER_DOMAIN}`, await keyFor(created.body.id, 'live')],
    [`a@sandbox.mx.postrider.example`, await keyFor(domainId, 'test')],
  ] as const) {
    const alone = await spool.request('POST', '/v1/emails', { key: token, body: live({ from }) });
    assert.deepEqual([alone.status, alone.body.error?.type], [403, 'restricted_api_key'], from);
  }
});

test('a batch is one request for the rate limit', async () => {
  await limitPlan({ requestsPerSecond: 5 });
  try {
    const emails = [emailBody(), emailBody(), emailBody()];
    const left = async () => Number((await post({ emails })).headers['ratelimit-remaining']);
    assert.equal((await left()) - (await left()), 1);
  } finally {
    await limitPlan({});
  }
});

test('an error that concerns every email refuses the whole batch and leaves no rows', async (t) => {
  const full = () => Promise.reject(new AppError('unavailable', 'No room', { retryAfterSeconds: 1 }));
  const rows = await countRows(spool.app);
  const files = blobFiles(spool);
  const { blobs, db } = spool.app;
  const refused = async () => {
    const emails = [withFile(), emailBody({ to: '' }), withFile()];
    const { status, body, headers } = await post({ emails }, { key: spool.liveKey });
    assert.deepEqual([status, body.error.type, headers['retry-after']], [503, 'unavailable', '1']);
    assert.deepEqual(blobFiles(spool), files);
    assert.deepEqual(await countRows(spool.app), rows);
  };
  const prepare = blobs.prepare.bind(blobs);
  let prepared = 0;
  const disk = t.mock.method(blobs, 'prepare', (pieces: Parameters<typeof prepare>[0]) =>
    ++prepared === 2 ? full() : prepare(pieces),
  );
  await refused();
  disk.mock.restore();
  const writer = t.mock.method(db, 'commit', full);
  await refused();
  writer.mock.restore();
});

test('other requests run while a batch of 100 is prepared', async (t) => {
  const { app } = spool;
  // Each look at the clock is a millisecond later: every email is a slice of its own.
  let at = app.clock.elapsed();
  t.mock.method(app.clock, 'elapsed', () => ++at);
  let turns = 0;
  let isPreparing = true;
  const count = () => {
    turns++;
    if (isPreparing) setImmediate(count);
  };
  setImmediate(count);
  const commit = app.db.commit.bind(app.db);
  t.mock.method(app.db, 'commit', (...input: Parameters<typeof commit>) => {
    isPreparing = false;
    return commit(...input);
  });
  await send(Array.from({ length: 100 }, () => emailBody()));
  assert.ok(turns >= 100, `${turns} turns`);
});

test('a batch may have 50 MiB, and a byte more is too much', async () => {
  const api = await spool.openServer();
  await api.listen({ host: '127.0.0.1', port: 0 });
  const { server } = api;
  const { port } = server.address() as AddressInfo;
  const ask = async (length: number) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /v1/emails/batch HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${spool.testKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString('latin1').slice(9, 12);
  };
  assert.equal(MAX_BATCH_BODY_BYTES, 50 * 1024 * 1024);
  assert.equal(await ask(MAX_BATCH_BODY_BYTES), '100');
  assert.equal(await ask(MAX_BATCH_BODY_BYTES + 1), '413');
});
