import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, test } from 'node:test';
import { createHtmlText } from '../../../../src/mail/message/html-text.ts';
import type { WantedContent } from '../../../../src/mail/message/parse/files.ts';
import {
  createMessageParser,
  JOB_TIMEOUT_MS,
  type MessageContent,
  type MessageParser,
  MessagesWaitError,
} from '../../../../src/mail/message/parse/parser.ts';
import { MAX_TEXT_CHARACTERS } from '../../../../src/mail/message/parse/read-message.ts';
import { readReplyText } from '../../../../src/routes/post/reply-text.ts';
import type { Clock } from '../../../../src/system/clock.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { recordLog } from '../../../support/record-log.ts';
import { BOMBS } from './bombs.ts';

const { log, lines: logged } = recordLog();
const htmlText = createHtmlText({ clock: createFakeClock(0), log });
const parser = createMessageParser({ clock: createFakeClock(0), log }, htmlText);
after(async () => {
  await parser.close();
  await htmlText.close();
});

const ALL: WantedContent = { upToBytes: 10_000_000 };

function bytesOf(message: string | Buffer) {
  const bytes = Buffer.from(message);
  return {
    sizeBytes: bytes.length,
    async *chunks() {
      for (let start = 0; start < bytes.length; start += 50_000) yield bytes.subarray(start, start + 50_000);
    },
  };
}

function parse(message: string | Buffer, content = ALL, by: MessageParser = parser): Promise<MessageContent> {
  return by.parse(bytesOf(message), { owner: 'ten_1', content });
}

async function parsed(message: string | Buffer, content = ALL) {
  const result = await parse(message, content);
  assert.ok(result.kind === 'parsed');
  return result;
}

/** Returns a message of these lines. */
const lines = (...all: string[]) => all.join('\r\n');
const multipart = (kind: string, ...parts: string[]) =>
  lines(
    `Content-Type: multipart/${kind}; boundary=${kind}`,
    '',
    ...parts.flatMap((part) => [`--${kind}`, part]),
    `--${kind}--`,
    '',
  );
const plain = (text: string) => lines('Content-Type: text/plain; charset=utf-8', '', text);
const html = (text: string) => lines('Content-Type: text/html; charset=utf-8', '', text);

test('a message is parsed into addresses, texts, fields and files', async () => {
  const content = await parsed(
    lines(
      'Received: from a by b;',
      '\tMon, 2 Mar 2026 09:00:00 +0000',
      'From: =?utf-8?q?M=C3=BCller=2C_Ann?= <ann@EXAMPLE.org>',
      'To: sales@shop.example, Team: "B, Bob" <bob@shop.example>, carl@shop.example;',
      'Cc: dora@xn--bcher-kva.example',
      'Reply-To: Ann <reply@example.org>',
      'Subject: =?iso-8859-1?Q?Gr=FC=DFe?=',
      ' =?iso-8859-1?Q?_aus?= Bern',
      'Date: Mon, 2 Mar 2026 10:00:00 +0100',
      'Message-ID: <1@example.org>',
      'In-Reply-To: <em_1@shop.example>',
      'References: <0@shop.example>',
      ' <em_1@shop.example>',
      multipart(
        'mixed',
        multipart('alternative', plain('Grüße'), html('<p>Grüße</p>')),
        lines(
          'Content-Type: application/pdf; name="../../etc/invoice.pdf"',
          'Content-Disposition: attachment',
          'Content-Transfer-Encoding: base64',
          '',
          Buffer.from('%PDF').toString('base64'),
        ),
        lines(
          'Content-Type: image/png',
          'Content-Disposition: inline',
          'Content-ID: <logo@example.org>',
          '',
          'png',
        ),
        lines('Content-Type: message/rfc822', '', 'From: x@example.org', 'Subject: inner', '', 'inner text'),
      ),
    ),
  );
  const { fields, files, ...rest } = content;
  assert.deepEqual(rest, {
    kind: 'parsed',
    from: ['"Müller, Ann" <ann@example.org>'],
    to: ['sales@shop.example', '"B, Bob" <bob@shop.example>', 'carl@shop.example'],
    cc: ['dora@xn--bcher-kva.example'],
    replyTo: ['Ann <reply@example.org>'],
    subject: 'Grüße aus Bern',
    date: Date.parse('2026-03-02T09:00:00Z'),
    messageId: '<1@example.org>',
    inReplyTo: '<em_1@shop.example>',
    references: ['<0@shop.example>', '<em_1@shop.example>'],
    text: 'Grüße',
    html: '<p>Grüße</p>',
    isCut: false,
  });
  assert.equal(fields[0]?.value, 'from a by b;\tMon, 2 Mar 2026 09:00:00 +0000');
  const contents = files.map(({ filename, content: bytes }) => [
    filename,
    Buffer.from(bytes ?? []).toString(),
  ]);
  assert.deepEqual(contents, [
    ['invoice.pdf', '%PDF'],
    ['attachment-2', 'png'],
    ['attachment-3', 'From: x@example.org\r\nSubject: inner\r\n\r\ninner text'],
  ]);
});

for (const [what, message, text, ofHtml] of [
  ['plain text alone', plain('one'), 'one', ''],
  ['HTML alone gets a text', html('<p>one</p><p>two</p>'), 'one\n\ntwo', '<p>one</p><p>two</p>'],
  [
    'HTML with a footer of plain text',
    multipart('mixed', html('<p>one</p>'), plain('the <list>')),
    'one\n\nthe <list>',
    '<p>one</p>\n<p>the &lt;list&gt;</p>',
  ],
  ['two parts of text', multipart('mixed', plain('one'), plain('two')), 'one\ntwo', ''],
  [
    'an alternative whose HTML has images',
    multipart('alternative', plain('one'), multipart('related', html('<b>one</b>'))),
    'one',
    '<b>one</b>',
  ],
  [
    'an alternative with several texts of one type',
    multipart('alternative', plain('one'), html('<p>one</p>'), plain('two'), html('<p>two</p>')),
    'one\ntwo',
    '<p>one</p>\n<p>two</p>',
  ],
  [
    'an alternative whose plain text is blank',
    multipart('alternative', plain(' \r\n\t'), html('<p>one</p>')),
    'one',
    '<p>one</p>',
  ],
  ['an alternative without plain text', multipart('alternative', html('<p>one</p>')), 'one', '<p>one</p>'],
  ['nothing', 'Subject: empty\r\n\r\n', '', ''],
] as const) {
  test(`the texts of a message: ${what}`, async () => {
    const content = await parsed(`From: a@example.org\r\n${message}`);
    assert.deepEqual([content.text, content.html], [text, ofHtml]);
  });
}

test('a text is cut at its limit, and says so', async () => {
  const { text, isCut } = await parsed(plain('y'.repeat(MAX_TEXT_CHARACTERS + 1)));
  assert.deepEqual([text.length, isCut], [MAX_TEXT_CHARACTERS, true]);
});

test('only the bytes of wanted files come back', async () => {
  const file = (text: string) => lines('Content-Type: application/x-test', '', text);
  const message = multipart('mixed', file('aaaa'), file('bbbbbbbb'), file('cccc'));
  const wanted = async (content: WantedContent) =>
    (await parsed(message, content)).files.map(
      ({ content: bytes }) => bytes && Buffer.from(bytes).toString(),
    );
  assert.deepEqual(await wanted({ upToBytes: 0 }), [null, null, null]);
  assert.deepEqual(await wanted({ upToBytes: 8 }), ['aaaa', null, 'cccc']);
  assert.deepEqual(await wanted({ file: 2 }), [null, 'bbbbbbbb', null]);
  const { files } = await parsed(message, { upToBytes: 0 });
  const sizeBytes = files.map(({ sizeBytes }) => sizeBytes);
  assert.deepEqual(sizeBytes, [4, 8, 4]);
});

test('fields that are named like parts of every object keep their names', async () => {
  const { fields } = await parsed('__proto__: a\r\nconstructor: b\r\nList-__proto__: <c>\r\n\r\nhi');
  assert.deepEqual(
    fields.map(({ name, value }) => [name, value]),
    [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['List-__proto__', '<c>'],
    ],
  );
  assert.equal(({} as Record<string, unknown>)['a'], undefined);
});

test('what the author of an answer in HTML wrote is found in its generated text', async () => {
  const block =
    'Subject: Offer<br>From: a@x.test<br>To: b@x.test<br>Date: Thu, 18 Jun 2026 07:45:36 +0000<br><br>old text';
  for (const rule of ['<hr>', '', '<hr width="100%">']) {
    const { text } = await parsed(html(`<div>My answer</div><div>${rule}${block}</div>`));
    assert.equal(readReplyText(text), 'My answer', text);
  }
});

for (const { name, message, kind } of BOMBS) {
  test(`a bomb is over within its time, and does not stall the loop: ${name}`, async () => {
    // The first message starts a thread, which is not part of what a bomb costs.
    await parse('\r\nhi');
    const bytes = Buffer.from(message);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const content = await parse(bytes);
    delay.disable();
    assert.equal(content.kind, kind);
    // The machine may stop the whole process for a while, so most turns are judged here, and all of them by the bench.
    assert.ok(delay.percentile(90) < 50e6, `${delay.percentile(90) / 1e6} ms`);
  });
}

test('a message that takes too long is opaque, and the fields of its header are still known', async () => {
  const clock = createFakeClock(0);
  // The time of the message is over as soon as the thread has it, however quick the machine is.
  const overAtOnce: Clock = {
    ...clock,
    after(delayMs, run) {
      const timer = clock.after(delayMs, run);
      if (delayMs === JOB_TIMEOUT_MS) process.nextTick(run);
      return timer;
    },
  };
  const slow = createMessageParser({ clock: overAtOnce, log }, htmlText);
  after(() => slow.close());
  logged.length = 0;
  const content = await parse('Subject: slow\r\n\r\nhi', ALL, slow);
  assert.equal(content.kind, 'opaque');
  assert.deepEqual(content.fields, [{ name: 'Subject', value: 'slow', text: 'slow' }]);
  assert.deepEqual([logged[0]?.['reason'], logged[0]?.msg], ['overran', 'a message could not be parsed']);
});

test('a parser that is closed says so, and does not call the message opaque', async () => {
  const closed = createMessageParser({ clock: createFakeClock(0), log }, htmlText);
  await closed.close();
  await assert.rejects(parse('\r\nhi', ALL, closed), MessagesWaitError);
});
