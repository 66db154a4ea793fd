import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AddressObject, simpleParser } from 'mailparser';
import { type Mailbox, parseMailbox } from '../../../src/mail/address.ts';
import { type Composition, compose } from '../../../src/mail/message/compose.ts';

const DATE_MS = Date.UTC(2026, 10, 20, 10, 30, 0);

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  assert.ok(parsed, text);
  return parsed;
}

function composition(parts: Partial<Composition> = {}): Composition {
  return {
    from: mailbox('Sender <sender@example.com>'),
    to: [mailbox('to@example.net')],
    cc: [],
    replyTo: [],
    subject: 'Hello',
    text: 'Hello, world',
    html: undefined,
    messageId: 'em_1@mail.example.com',
    dateMs: DATE_MS,
    boundarySeed: 'em_1',
    ...parts,
  };
}

/** What a body is, once its line ends are one kind. A single part may gain the line end a message needs. */
function lines(text: string | false | undefined): string {
  return (text || '').replace(/\r\n?|\n/g, '\n').replace(/\n$/, '');
}

function addresses(field: AddressObject | AddressObject[] | undefined): [string, string | undefined][] {
  assert.ok(!Array.isArray(field));
  return (field?.value ?? []).map((entry) => [entry.name, entry.address]);
}

const PARSER_OPTIONS = { skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true };

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(
      fc.constantFrom(
        '=',
        ' ',
        '\t',
        '.',
        '\r\n',
        '\n',
        '\r',
        'é',
        '--',
        'word',
        'From ',
        '名',
        'x'.repeat(100),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join('')),
  fc.integer({ min: 900, max: 2100 }).map((length) => 'y'.repeat(length)),
);
const subject = fc.string({ unit: 'binary', maxLength: 120 }).map((text) => text.replace(/[\p{Cc}]/gu, ''));
const displayName = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((text) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '').trim());
const anyMailbox = fc.tuple(displayName, fc.stringMatching(/^[a-z0-9]{1,10}$/)).map(
  ([name, local]): Mailbox => ({
    ...mailbox(`${local}@example.com`),
    name: name === '' ? undefined : name,
  }),
);

test('an independent parser reads back what was composed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        from: anyMailbox,
        to: fc.array(anyMailbox, { minLength: 1, maxLength: 4 }),
        cc: fc.array(anyMailbox, { maxLength: 2 }),
        replyTo: fc.array(anyMailbox, { maxLength: 2 }),
        subject,
        text: fc.option(anyText, { nil: undefined }),
        html: fc.option(
          anyText.map((text) => `<p>${text}</p>`),
          { nil: undefined },
        ),
      }),
      async (parts) => {
        const message = composition(parts);
        const parsed = await simpleParser(compose(message), PARSER_OPTIONS);
        const listed = (mailboxes: Mailbox[]) => mailboxes.map((entry) => [entry.name ?? '', entry.address]);
        assert.deepEqual(addresses(parsed.from), listed([message.from]));
        assert.deepEqual(addresses(parsed.to), listed(message.to));
        assert.deepEqual(addresses(parsed.cc), listed(message.cc));
        assert.deepEqual(addresses(parsed.replyTo), listed(message.replyTo));
        assert.equal(parsed.subject ?? '', message.subject);
        assert.equal(parsed.messageId, `<${message.messageId}>`);
        assert.equal(parsed.date?.getTime(), DATE_MS);
        assert.equal(lines(parsed.text), lines(message.text));
        assert.equal(lines(parsed.html), lines(message.html));
      },
    ),
    { numRuns: 300 },
  );
});

test('every composed message is lines of at most 998 ASCII octets, each ended by CRLF', () => {
  fc.assert(
    fc.property(anyText, fc.option(anyText, { nil: undefined }), subject, (text, html, title) => {
      const message = compose(composition({ text, html, subject: title })).toString('latin1');
      assert.ok(isAscii(Buffer.from(message, 'latin1')) && !message.includes('\0'));
      assert.ok(message.endsWith('\r\n'));
      for (const line of message.split('\r\n')) {
        assert.ok(line.length <= 998);
        assert.doesNotMatch(line, /[\r\n]/);
      }
    }),
    { numRuns: 300 },
  );
});

test('the same composition gives the same bytes, another seed another boundary', () => {
  const message = composition({ html: '<p>Hello</p>' });
  assert.deepEqual(compose(message), compose(structuredClone(message)));
  assert.notDeepEqual(compose(message), compose({ ...message, boundarySeed: 'em_2' }));
});

test('a plain message is exactly these bytes', () => {
  const expected = [
    'From: Sender <sender@example.com>',
    'To: to@example.net',
    'Cc: "C, c" <cc@example.net>',
    'Reply-To: reply@example.com',
    'Subject: Hello',
    'Date: Fri, 20 Nov 2026 10:30:00 +0000',
    'Message-ID: <em_1@mail.example.com>',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
    '',
    'Hello, world',
    '',
  ].join('\r\n');
  const parts = { cc: [mailbox('"C, c" <cc@example.net>')], replyTo: [mailbox('reply@example.com')] };
  assert.equal(compose(composition(parts)).toString('latin1'), expected);
});

test('the shortest transfer encoding that fits is chosen', () => {
  const encodingOf = (text: string) =>
    /^Content-Transfer-Encoding: (.*)\r$/m.exec(compose(composition({ text })).toString('latin1'))?.[1];
  assert.equal(encodingOf('plain\nlines\n'), '7bit');
  assert.equal(encodingOf('x'.repeat(998)), '7bit');
  assert.equal(encodingOf('x'.repeat(999)), 'quoted-printable');
  assert.equal(encodingOf('mostly ASCII, näturally'), 'quoted-printable');
  assert.equal(encodingOf('NUL \0 is not text'), 'quoted-printable');
  assert.equal(encodingOf('日本語のメール本文です'), 'base64');
});

test('a boundary never appears in a part', () => {
  const first = compose(composition({ text: 'a', html: 'b' })).toString('latin1');
  const boundary = /boundary="(.*)"/.exec(first)?.[1];
  assert.ok(boundary);
  const second = compose(composition({ text: `--${boundary}\n`, html: 'b' })).toString('latin1');
  assert.notEqual(/boundary="(.*)"/.exec(second)?.[1], boundary);
});

test('neither Bcc nor a line break can get into the header', () => {
  const evil = 'x\r\nBcc: evil@example.org';
  assert.throws(() => compose(composition({ subject: evil })), RangeError);
  assert.throws(() => compose(composition({ messageId: `${evil}@x` })), RangeError);
  assert.throws(() => compose(composition({ messageId: 'a@b>, <c@d' })), RangeError);
  const named = { ...mailbox('a@example.com'), name: evil };
  const header = compose(composition({ from: named, to: [named], replyTo: [named] })).toString('latin1');
  assert.doesNotMatch(header, /^bcc/im);
});
