import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ReceivedMessageRow } from '../../../src/db/inbound-tables.ts';
import { createHtmlText } from '../../../src/mail/message/html-text.ts';
import { createMessageParser, type MessageContent } from '../../../src/mail/message/parse/parser.ts';
import { buildBody, MAX_BODY_BYTES } from '../../../src/routes/post/body.ts';
import { sampleBody } from '../../../src/routes/post/sample.ts';
import { createLog } from '../../../src/system/log.ts';
import { MESSAGE } from '../../inbound/received-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const system = { clock: createFakeClock(0), log: createLog('silent') };
const htmlText = createHtmlText(system);
const parser = createMessageParser(system, htmlText);
after(async () => {
  await parser.close();
  await htmlText.close();
});

const ID = 'in_01khq3z5vgxw1r8t6n2m4c9b7d';
const RECEIVED_AT = Date.parse('2026-03-01T09:00:01.000Z');

async function contentOf(message: string): Promise<MessageContent> {
  const bytes = Buffer.from(message);
  async function* chunks() {
    yield bytes;
  }
  return parser.parse(
    { sizeBytes: bytes.length, chunks },
    { owner: 'ten_1', content: { upToBytes: MAX_BODY_BYTES } },
  );
}

/** Returns the body of a message, as its receiver reads it. */
async function post(message: string | MessageContent, row: Partial<ReceivedMessageRow> = {}) {
  const body = buildBody({
    message: {
      ...MESSAGE,
      id: ID,
      tenantId: 'ten_1',
      createdAt: RECEIVED_AT,
      emailId: 'em_01khq3z4a2n7d5x8k3r6w1t9hb',
      ...row,
    },
    recipients: [{ address: 'Sales@shop.example' }],
    content: typeof message === 'string' ? await contentOf(message) : message,
    linkTo: (file) => `https://api.example/inbound/downloads/${file}`,
  });
  return { sizeBytes: body.length, ...JSON.parse(body.toString()) };
}

const lines = (...all: string[]) => all.join('\r\n');

test('the body has the fields of the specification first, then what we add', async () => {
  const message = lines(
    'From: Ann <ann@sender.example>',
    'To: sales@shop.example, bob@shop.example',
    'Cc: carl@shop.example',
    'Reply-To: replies@sender.example',
    'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
    'Date: Sun, 1 Mar 2026 10:00:00 +0100',
    'Message-ID: <1@sender.example>',
    'In-Reply-To: <em_01khq3z4a2n7d5x8k3r6w1t9hb@shop.example>',
    'X-Tag: one',
    'x-tag: two',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    '',
    'Yes!',
    '',
    'On Mon, Mar 2, 2026 Bob wrote:',
    '> Shall we?',
    '--b',
    'Content-Type: text/csv; name=list.csv',
    'Content-Disposition: attachment',
    'Content-ID: <list@sender.example>',
    '',
    'a,b',
    '--b--',
    '',
  );
  const auth = {
    spf: { result: 'pass' },
    dkim: [
      { result: 'fail', domain: 'other.example' },
      { result: 'pass', domain: 'sender.example' },
    ],
    dmarc: { result: 'pass' },
  };
  const { sizeBytes, ...body } = await post(message, {
    trace: 'Return-Path: <ann@sender.example>\r\n',
    auth: JSON.stringify(auth),
    spamScore: 1.5,
    spamReasons: '[{"name":"missing_date","points":1.5}]',
    flagged: 1,
  });
  assert.ok(sizeBytes > 0);
  assert.deepEqual(Object.keys(body).slice(0, 7), [
    'from',
    'to',
    'subject',
    'text',
    'html',
    'headers',
    'attachments',
  ]);
  const { headers, rawHeaders, ...rest } = body;
  assert.deepEqual(rest, {
    from: 'Ann <ann@sender.example>',
    to: ['sales@shop.example', 'bob@shop.example'],
    subject: 'Grüße',
    text: 'Yes!\n\nOn Mon, Mar 2, 2026 Bob wrote:\n> Shall we?',
    html: '',
    attachments: [
      {
        id: '1',
        filename: 'list.csv',
        contentType: 'text/csv',
        size: 3,
        contentId: 'list@sender.example',
        disposition: 'attachment',
        content: Buffer.from('a,b').toString('base64'),
      },
    ],
    id: ID,
    cc: ['carl@shop.example'],
    replyTo: ['replies@sender.example'],
    messageId: '<1@sender.example>',
    inReplyTo: '<em_01khq3z4a2n7d5x8k3r6w1t9hb@shop.example>',
    date: '2026-03-01T09:00:00.000Z',
    receivedAt: '2026-03-01T09:00:01.000Z',
    envelope: {
      from: 'ann@sender.example',
      to: ['Sales@shop.example'],
      remoteIp: '192.0.2.1',
      helo: 'mail.sender.example',
    },
    auth: { spf: 'pass', dkim: 'pass', dmarc: 'pass', dkimDomains: ['sender.example'] },
    spam: { score: 1.5, flagged: true, reasons: [{ name: 'missing_date', points: 1.5 }] },
    truncated: false,
    rawUrl: null,
    emailId: 'em_01khq3z4a2n7d5x8k3r6w1t9hb',
    replyText: 'Yes!',
    autoSubmitted: false,
  });
  assert.equal(headers['x-tag'], 'one\ntwo');
  assert.equal(headers.subject, 'Grüße');
  assert.deepEqual(rawHeaders.slice(0, 2), [
    { name: 'Return-Path', value: '<ann@sender.example>' },
    { name: 'From', value: 'Ann <ann@sender.example>' },
  ]);
});

test('a test of a route posts the same fields, and says that it is a test', async () => {
  const real = await post('Content-Type: text/csv\r\n\r\na');
  const { sizeBytes: _, ...fields } = real;
  const sample = JSON.parse(sampleBody({ address: '*@shop.example' }, RECEIVED_AT));
  assert.deepEqual(Object.keys(sample), [...Object.keys(fields), 'test']);
  assert.deepEqual(Object.keys(sample.attachments[0]), Object.keys(real.attachments[0]));
  assert.deepEqual(sample.to, ['anybody@shop.example']);
});

test('fields that are named like parts of every object arrive', async () => {
  const { headers } = await post('__proto__: a\r\nconstructor: b\r\ntoString: c\r\n\r\nhi');
  assert.deepEqual(Object.entries(headers), [
    ['__proto__', 'a'],
    ['constructor', 'b'],
    ['tostring', 'c'],
  ]);
});

test('a message without authors, recipients and results is shown by its envelope, and nothing is a pass', async () => {
  const body = await post('X: y\r\n\r\nhi', { headerFrom: null });
  assert.deepEqual([body.from, body.to, body.subject], ['ann@sender.example', ['Sales@shop.example'], '']);
  assert.deepEqual(body.auth, { spf: 'none', dkim: 'none', dmarc: 'none', dkimDomains: [] });
});

test('files are in the body while it stays within its size, and links beyond', async () => {
  const file = (sizeBytes: number) => ({
    filename: 'a.bin',
    contentType: 'application/octet-stream',
    sizeBytes,
    contentId: null,
    disposition: 'attachment' as const,
    content: new Uint8Array(sizeBytes).fill(7),
  });
  const content = await contentOf('Subject: files\r\n\r\nhi');
  assert.ok(content.kind === 'parsed');
  const MIB = 1024 * 1024;
  const files = [file(5 * MIB), file(4 * MIB), file(2 * MIB), { ...file(3), content: null }];
  const { attachments, sizeBytes } = await post({ ...content, files });
  assert.ok(sizeBytes <= MAX_BODY_BYTES, `${sizeBytes} bytes`);
  const urlOf = (number: number) => `https://api.example/inbound/downloads/${number}`;
  assert.deepEqual(
    attachments.map(
      (one: { content?: string; downloadUrl?: string }) => one.downloadUrl ?? one.content?.length,
    ),
    [Math.ceil((5 * MIB) / 3) * 4, urlOf(2), Math.ceil((2 * MIB) / 3) * 4, urlOf(4)],
  );
  assert.deepEqual(Buffer.from(attachments[0].content, 'base64'), Buffer.alloc(5 * MIB, 7));
});

test('a message that cannot be parsed is posted with a link to it', async () => {
  const body = await post(`Subject: x\r\n${'X-Field: y\r\n'.repeat(5_000)}\r\nhi`, {
    subject: 'From the row',
  });
  assert.deepEqual(
    [body.truncated, body.rawUrl, body.subject, body.text, body.attachments, body.from],
    [true, 'https://api.example/inbound/downloads/0', 'From the row', '', [], 'ann@sender.example'],
  );
});

test('texts of control characters, which are large as JSON, are cut with a link to the message', async () => {
  const content = await contentOf('Subject: x\r\n\r\nhi');
  assert.ok(content.kind === 'parsed');
  const { truncated, rawUrl, text, sizeBytes } = await post({ ...content, text: '\u0001'.repeat(4_000_000) });
  assert.ok(truncated && rawUrl !== null && text.length > 400_000);
  assert.ok(sizeBytes < MAX_BODY_BYTES, `${sizeBytes} bytes`);
});

for (const [what, header, row, isAutomatic] of [
  ['a message of a person', 'Subject: x', {}, false],
  ['Auto-Submitted: no', 'Auto-Submitted: no (really)', {}, false],
  ['an out-of-office reply', 'Auto-Submitted: auto-replied; owner-email="a@b.example"', {}, true],
  ['a reply of an older program', 'X-Autoreply: yes', {}, true],
  ['Precedence: auto_reply', 'Precedence: auto_reply', {}, true],
  ['a newsletter', 'Precedence: bulk', {}, false],
  ['a bounce', 'Subject: Undelivered', { sender: '' }, true],
] as const) {
  test(`a program has sent it, or a person: ${what}`, async () => {
    assert.equal((await post(`${header}\r\n\r\nhi`, row)).autoSubmitted, isAutomatic);
  });
}
