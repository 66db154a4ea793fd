import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { simpleParser } from 'mailparser';
import type { HttpResponse } from '../../src/system/fetch/answer.ts';
import type { Fetch, HttpRequest } from '../../src/system/fetch.ts';
import { createApiKey, revokeKey } from '../../src/tenants/keys.ts';
import { openSpool } from '../support/spool.ts';
import { blobFiles, countRows, emailBody, openMessageOf, rawMessage, senderOf } from './fixtures.ts';

const MIB = 1024 * 1024;

/** What the web answers to a URL; anything else is unreachable. */
const web = new Map<string, Partial<HttpResponse>>();
const asked: HttpRequest[] = [];
let onFetch = async (): Promise<void> => {};
const fetch: Fetch = async (request) => {
  asked.push(request);
  const answer = web.get(request.url);
  if (!answer) throw new Error('no route to host');
  await onFetch();
  const { body = Buffer.from('data'), ...rest } = answer;
  const { maxResponseBytes: most } = request;
  return { status: 200, headers: {}, truncated: body.length > most, ...rest, body: body.subarray(0, most) };
};
const spool = await openSpool({ system: { fetch } });
after(() => spool.close());

const { send, accepted, refused } = senderOf(() => spool);

const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
const file = (more: Record<string, unknown> = {}) => ({
  filename: 'a.txt',
  content: base64('hello'),
  ...more,
});

async function parsed(id: string) {
  return simpleParser(Buffer.from(await rawMessage(spool.app, id), 'latin1'));
}

test('an attachment arrives byte for byte, and is shown without its bytes', async () => {
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));
  const email = await accepted({ attachments: [{ filename: 'Ünï.bin', content: base64(bytes) }, file()] });
  assert.deepEqual(email.attachments, [
    {
      filename: 'Ünï.bin',
      contentType: 'application/octet-stream',
      contentId: null,
      disposition: 'attachment',
      size: 1_000,
    },
    { filename: 'a.txt', contentType: 'text/plain', contentId: null, disposition: 'attachment', size: 5 },
  ]);
  const { attachments } = await parsed(email.id);
  assert.deepEqual(
    attachments.map(({ filename, content }) => [filename, content.equals(bytes) || content.toString()]),
    [
      ['Ünï.bin', true],
      ['a.txt', 'hello'],
    ],
  );
});

test('a large attachment, whose content is taken out of the body, arrives byte for byte too', async () => {
  const bytes = Buffer.alloc(MIB / 2, 'Postrider\xff\x00');
  const email = await accepted({ attachments: [file({ content: base64(bytes) }), file()] });
  const sizes = email.attachments.map(({ size }: { size: number }) => size);
  assert.deepEqual(sizes, [MIB / 2, 5]);
  const [large, small] = (await parsed(email.id)).attachments;
  assert.ok(large?.content.equals(bytes));
  assert.equal(small?.content.toString(), 'hello');
});

test('a client may escape the slashes of its base64, as PHP does', async () => {
  const bytes = Buffer.alloc(90_000, 0xff);
  const response = await spool.inject({
    method: 'POST',
    url: '/v1/emails',
    headers: { authorization: `Bearer ${spool.testKey}`, 'content-type': 'application/json' },
    payload: JSON.stringify(emailBody({ attachments: [file({ content: base64(bytes) })] })).replaceAll(
      '/',
      '\\/',
    ),
  });
  assert.equal(response.statusCode, 200, response.body);
  const [attachment] = (await parsed(response.json<{ id: string }>().id)).attachments;
  assert.ok(attachment?.content.equals(bytes));
});

test('the base64 of an attachment is strict: alphabet, padding, no line breaks', async () => {
  await accepted({ attachments: [file({ content: '' })] });
  const large = base64(Buffer.alloc(90_000, 'a'));
  for (const content of ['aGVsbG8', 'aGVs bG8=', `${large}\n\n\n\n`]) {
    await refused('attachments[1].content', { attachments: [file(), file({ content })] }, /base64/);
  }
  await refused('attachments[0].content', { attachments: [file({ content: 7 })] });
  await refused('attachments[0].content', { attachments: [file({ content: null })] });
});

test('there are at most 10 files', async () => {
  await accepted({ attachments: Array.from({ length: 10 }, () => file()) });
  await refused('attachments', { attachments: Array.from({ length: 11 }, () => file()) });
  for (const bad of [{}, 'x', null]) await refused('attachments', { attachments: bad });
  for (const bad of [null, 'x', []]) await refused('attachments[0]', { attachments: [bad] });
});

test('attachments have at most 25 MiB in total, decoded', async () => {
  const half = file({ content: base64(Buffer.alloc(12.5 * MIB)) });
  const text = '\u00e9'.repeat(MIB);
  const { id, attachments } = await accepted({ html: text, text, attachments: [half, half] });
  assert.equal(attachments.length, 2);
  const { sizeBytes } = (await openMessageOf(spool.app, id)).bytes;
  // The largest email there can be stays below 40 MiB once it is encoded.
  assert.ok(sizeBytes > 39 * MIB && sizeBytes < 40 * MIB, `${sizeBytes}`);
  const more = [half, half, file({ content: base64('a') })];
  await refused('attachments', { attachments: more }, /25 MiB/);
});

test('the type of an attachment is given or follows from its name, and is part of the message', async () => {
  const email = await accepted({
    attachments: [
      file({ filename: 'a.PDF' }),
      file({ filename: 'a.tar.gz' }),
      file({ filename: 'a' }),
      file({ filename: 'a.unknown' }),
      file({ filename: 'saved.eml' }),
      file({ filename: 'pdf' }),
      file({ contentType: 'text/calendar; method=REQUEST; charset="utf-8"' }),
      file({ filename: 'mail.eml', contentType: 'message/rfc822' }),
    ],
  });
  const types = [
    'application/pdf',
    'application/gzip',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
    'application/octet-stream',
  ];
  assert.deepEqual(
    email.attachments.map(({ contentType }: { contentType: string }) => contentType),
    [...types, 'text/calendar; method=REQUEST; charset="utf-8"', 'application/octet-stream'],
  );
  const raw = await rawMessage(spool.app, email.id);
  assert.deepEqual(
    Array.from(raw.matchAll(/^Content-Type: ([^;]+)/gm), ([, type]) => type),
    ['multipart/mixed', 'text/plain', ...types, 'text/calendar', 'application/octet-stream'],
  );
  for (const contentType of [
    '',
    'pdf',
    'a/b\r\nX: y',
    'text/plain; a',
    'a/b/c',
    'text/plain, a/b',
    `a/${'b'.repeat(300)}`,
  ]) {
    await refused('attachments[0].contentType', { attachments: [file({ contentType })] });
  }
});

test('the name of an attachment has no path, no line breaks and at most 255 bytes', async () => {
  const name = async (filename: string) =>
    (await accepted({ attachments: [file({ filename })] })).attachments[0].filename;
  assert.equal(await name('../../etc/passwd'), 'passwd');
  assert.equal(await name('C:\\Users\\Ada\\report.pdf'), 'report.pdf');
  assert.equal(await name('a\r\nX-Evil: 1.txt'), 'aX-Evil: 1.txt');
  assert.ok(Buffer.byteLength(await name(`${'é'.repeat(300)}.txt`)) <= 255);
  assert.equal(await name('..'), 'attachment');
  await refused('attachments[0].filename', { attachments: [{ content: '' }] }, /required/);
  for (const filename of ['', 7, null, 'x'.repeat(5_000)]) {
    await refused('attachments[0].filename', { attachments: [file({ filename })] });
  }
});

test('a content id makes it inline, for the HTML to show', async () => {
  const html = '<img src="cid:logo">';
  const email = await accepted({
    html,
    attachments: [file({ contentId: '<logo>' }), file({ contentId: 'b@c.example' })],
  });
  const contentIds = email.attachments.map(({ contentId }: { contentId: string }) => contentId);
  assert.deepEqual(contentIds, ['logo', 'b@c.example']);
  const raw = await rawMessage(spool.app, email.id);
  assert.match(raw, /^Content-ID: <logo>\r$/m);
  assert.match(raw, /^Content-Disposition: inline/m);
  for (const contentId of ['', '<>', 'a b', 'a\r\nb', 'é', 'a>b', 'x'.repeat(300)]) {
    await refused('attachments[0].contentId', { attachments: [file({ contentId })] });
  }
  const twins = [file({ contentId: 'a' }), file({ contentId: '<a>' })];
  await refused('attachments[1].contentId', { attachments: twins }, /another/);
});

test('a misspelt field of an attachment is refused rather than dropped', async () => {
  for (const [wrong, right] of [
    ['content_type', 'contentType'],
    ['content_id', 'contentId'],
    ['fileName', 'filename'],
    ['Content', 'content'],
  ] as const) {
    const more = { attachments: [file(), file({ [wrong]: 'x' })] };
    await refused(`attachments[1].${wrong}`, more, new RegExp(`did you mean \`${right}\``));
  }
  await accepted({ attachments: [file({ colour: 'red' })] });
});

test('path and url name a file that is fetched once, when the email is accepted', async () => {
  web.set('https://files.example/dir/r%C3%A9sum%C3%A9.pdf?x=1', { body: Buffer.from('%PDF') });
  web.set('https://files.example/b', { body: Buffer.from('b') });
  asked.length = 0;
  const email = await accepted({
    attachments: [
      { path: 'https://files.example/dir/r%C3%A9sum%C3%A9.pdf?x=1' },
      { url: 'https://files.example/b', filename: 'other.png', contentType: 'image/x-own' },
    ],
  });
  assert.deepEqual(email.attachments, [
    {
      filename: 'résumé.pdf',
      contentType: 'application/pdf',
      contentId: null,
      disposition: 'attachment',
      size: 4,
    },
    {
      filename: 'other.png',
      contentType: 'image/x-own',
      contentId: null,
      disposition: 'attachment',
      size: 1,
    },
  ]);
  assert.equal(asked.length, 2);
  assert.ok(asked.every(({ method, timeoutMs }) => method === 'GET' && timeoutMs <= 10_000));
  const { attachments } = await parsed(email.id);
  assert.deepEqual(
    attachments.map(({ content }) => content.toString()),
    ['%PDF', 'b'],
  );
});

test('a file is fetched over https alone, and needs a name', async () => {
  asked.length = 0;
  for (const path of [
    ...[
      'http://files.example/a',
      'ftp://files.example/a',
      'file:///etc/passwd',
      '/etc/passwd',
      'files.example/a',
    ],
    ...[
      '',
      'https://',
      'https:// a',
      'https://files.example/a\r\nHost: b',
      'data:text/plain,a',
      'javascript:1',
    ],
  ]) {
    await refused('attachments[0].path', { attachments: [{ path, filename: 'a' }] });
  }
  await refused('attachments[0].url', { attachments: [{ url: 'http://files.example/a', filename: 'a' }] });
  await refused('attachments[0].filename', { attachments: [{ path: 'https://files.example/' }] }, /required/);
  assert.deepEqual(asked, [], 'nothing of it is asked for');
});

test('an attachment has either content or a URL', async () => {
  const path = 'https://files.example/a';
  await refused('attachments[0].content', { attachments: [{ filename: 'a' }] }, /required/);
  await refused('attachments[0].path', { attachments: [file({ path })] });
  await refused('attachments[0].url', { attachments: [file({ url: path })] });
  await refused('attachments[0].url', { attachments: [{ filename: 'a', path, url: path }] });
});

test('a file that cannot be fetched refuses the email, and names the attachment', async () => {
  web.set('https://files.example/gone', { status: 404 });
  web.set('https://files.example/plain', { status: 302, headers: { location: 'http://files.example/b' } });
  web.set('https://files.example/loop', { status: 302, headers: { location: '/loop' } });
  for (const place of ['gone', 'plain', 'loop', 'unreachable']) {
    const attachments = [file(), { filename: 'a', path: `https://files.example/${place}` }];
    await refused('attachments[1].path', { attachments }, /could not be fetched/);
  }
  await refused('attachments[0].url', {
    attachments: [{ filename: 'a', url: 'https://files.example/gone' }],
  });
  web.set('https://files.example/moved', { status: 301, headers: { location: 'https://other.example/b' } });
  web.set('https://other.example/b', {});
  await accepted({ attachments: [{ filename: 'a', path: 'https://files.example/moved' }] });
});

for (const path of ['/v1/emails', '/v1/emails/batch']) {
  test(`a key that is revoked while files are fetched stores nothing (${path})`, async () => {
    const { tenantId } = spool;
    const limits = { name: 'leaked', mode: 'test', permission: 'sending_access', expiresAt: null } as const;
    const { key, token } = await createApiKey(spool.app, { tenantId, ...limits });
    web.set('https://files.example/slow', { body: Buffer.alloc(MIB, 'x') });
    const before = [await countRows(spool.app), blobFiles(spool)];
    onFetch = async () => void (await revokeKey(spool.app, key.id));
    const email = emailBody({ attachments: [{ filename: 'a', path: 'https://files.example/slow' }] });
    const body = path.endsWith('batch') ? { emails: [email] } : email;
    const refused = await spool.request('POST', path, { key: token, body });
    onFetch = async () => {};
    assert.deepEqual([refused.status, refused.body.error.type], [401, 'invalid_api_key']);
    assert.deepEqual([await countRows(spool.app), blobFiles(spool)], before);
  });
}

test('a fetched file is read only as far as it fits into 25 MiB', async () => {
  web.set('https://files.example/large', { body: Buffer.alloc(13 * MIB) });
  const large = { filename: 'a', path: 'https://files.example/large' };
  asked.length = 0;
  await refused('attachments[2].path', { attachments: [large, file(), large] });
  const maxResponseBytes = asked.map(({ maxResponseBytes }) => maxResponseBytes);
  assert.deepEqual(maxResponseBytes, [25 * MIB - 5, 12 * MIB - 5]);
});

test('an email is dated when its files are there, not when they were asked for', async () => {
  const begun = spool.clock.now();
  web.set('https://files.example/slow', {});
  onFetch = () => spool.clock.advance(8_000);
  const { id } = await accepted({ attachments: [{ filename: 'a', path: 'https://files.example/slow' }] });
  onFetch = async () => {};
  const row = await spool.app.db.read
    .selectFrom('messages')
    .select(['createdAt', 'datedAt'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, { createdAt: begun + 8_000, datedAt: begun + 8_000 });
});

test('no file is fetched for an email that is refused for another reason', async () => {
  asked.length = 0;
  const attachments = [{ filename: 'a', path: 'https://files.example/b' }];
  assert.equal((await send({ attachments, from: 'a@unknown.example' })).status, 422);
  await refused('subject', { attachments, subject: '' });
  await refused('attachments[1].content', { attachments: [...attachments, file({ content: 'x' })] });
  await refused('attachments[1].content', { attachments: [...attachments, file({ content: '....' })] });
  assert.deepEqual(asked, []);
});
