import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AddressObject, simpleParser } from 'mailparser';
import { type Mailbox, parseMailbox } from '../../../src/mail/address.ts';
import {
  COMPOSER_VERSION,
  composeBody,
  type MessageFields,
  TEXTS_END,
  type Texts,
  writeMessageFields,
} from '../../../src/mail/message/compose.ts';
import { type Attachment, fileParts } from '../../../src/mail/message/file-part.ts';
import { cleanFilename } from '../../../src/mail/message/filename.ts';
import { dateField } from '../../../src/mail/message/headers.ts';
import { type MimeEntity, readMimeTree } from '../../../src/mail/message/mime-tree.ts';
import { anyCharacter } from '../../support/any-character.ts';

const DATE_MS = Date.UTC(2026, 10, 20, 10, 30, 0);

function mailbox(text: string): Mailbox {
  const parsed = parseMailbox(text);
  assert.ok(parsed, text);
  return parsed;
}

type Composition = Omit<MessageFields, 'to' | 'cc' | 'replyTo'> &
  Record<'to' | 'cc' | 'replyTo', Mailbox[]> &
  Texts & { attachments: readonly Attachment[] };

/** Composes a whole message. */
function compose(message: Composition): { header: Buffer; body: Iterable<Buffer> } {
  const { fields, pieces } = composeBody(message, fileParts(message.attachments, message.html !== undefined));
  return { header: Buffer.from(`${writeMessageFields(message)}${fields}\r\n`, 'latin1'), body: pieces };
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
    headers: [],
    attachments: [],
    messageId: 'em_1@mail.example.com',
    boundarySeed: 'em_1',
    ...parts,
  };
}

function bytesOf(message: Composition): Buffer {
  const { header, body } = compose(message);
  return Buffer.concat([header, ...body]);
}

function textOf(message: Composition): string {
  return bytesOf(message).toString('latin1');
}

function attachment(parts: Partial<Attachment> = {}): Attachment {
  return {
    filename: 'report.pdf',
    contentType: 'application/pdf',
    contentId: undefined,
    content: { kind: 'bytes', bytes: Buffer.from('%PDF') },
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
  fc.string({ unit: anyCharacter, maxLength: 300 }),
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
const subject = fc
  .string({ unit: anyCharacter, maxLength: 120 })
  .map((text) => text.replace(/[\p{Cc}]/gu, ''));
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
        const parsed = await simpleParser(
          Buffer.concat([Buffer.from(dateField(DATE_MS)), bytesOf(message)]),
          PARSER_OPTIONS,
        );
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
    { numRuns: 100 },
  );
});

test('the same composition gives the same bytes, another seed another boundary', () => {
  const message = composition({ html: '<p>Hello</p>' });
  assert.deepEqual(bytesOf(message), bytesOf(structuredClone(message)));
  assert.notDeepEqual(bytesOf(message), bytesOf({ ...message, boundarySeed: 'em_2' }));
  const { body } = compose(message);
  assert.deepEqual([...body], [...body]);
});

test('the bytes of this version of the composer are known: whoever changes them changes the version', () => {
  const text =
    'Grüße,\nan = sign, and a line that is long enough to be folded into two lines of quoted-printable.\n';
  const html = '<p>Hello <img src="cid:logo"></p>\r\n';
  const logo = attachment({ filename: 'logo.png', contentType: 'image/png', contentId: 'logo' });
  const messages = [
    composition(),
    composition({ text, html: undefined }),
    composition({ text, html }),
    composition({ text: '語'.repeat(400), html, attachments: [logo, attachment()] }),
    composition({ text: undefined, html, attachments: [attachment({ contentType: 'text/plain' })] }),
  ];
  const bodies = messages.map((message) => {
    const { fields, pieces } = composeBody(
      message,
      fileParts(message.attachments, message.html !== undefined),
    );
    return Buffer.concat([Buffer.from(fields), ...pieces]);
  });
  assert.deepEqual(
    [COMPOSER_VERSION, hash('sha256', Buffer.concat(bodies))],
    [3, '117c1204fe0f080972ee2b47dcb1f9b0854b3865c2354bcfc83cdb57de1a99e5'],
  );
});

test('texts come before the mark, and files after it', () => {
  const { body } = compose(composition({ html: '<p>Hi</p>', attachments: [attachment()] }));
  const pieces = [...body];
  const end = pieces.indexOf(TEXTS_END);
  assert.match(Buffer.concat(pieces.slice(0, end)).toString(), /<p>Hi<\/p>$/);
  assert.match(
    Buffer.concat(pieces.slice(end)).toString(),
    /^\r\n--=_[0-9a-f]{32}--\r\n\r\n--=_.*report\.pdf/s,
  );
});

test('a plain message is exactly these bytes', () => {
  const expected = [
    'From: Sender <sender@example.com>',
    'To: to@example.net',
    'Cc: "C, c" <cc@example.net>',
    'Reply-To: reply@example.com',
    'Subject: Hello',
    'Message-ID: <em_1@mail.example.com>',
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
    '',
    'Hello, world',
    '',
  ].join('\r\n');
  const parts = { cc: [mailbox('"C, c" <cc@example.net>')], replyTo: [mailbox('reply@example.com')] };
  assert.equal(textOf(composition(parts)), expected);
  assert.equal(compose(composition(parts)).header.subarray(-4).toString(), '\r\n\r\n');
});

test('the shortest transfer encoding that fits is chosen', () => {
  const encodingOf = (text: string) =>
    /^Content-Transfer-Encoding: (.*)\r$/m.exec(textOf(composition({ text })))?.[1];
  assert.equal(encodingOf('plain\nlines\n'), '7bit');
  assert.equal(encodingOf('x'.repeat(998)), '7bit');
  assert.equal(encodingOf('x'.repeat(999)), 'quoted-printable');
  assert.equal(encodingOf('mostly ASCII, näturally'), 'quoted-printable');
  assert.equal(encodingOf('NUL \0 is not text'), 'quoted-printable');
  assert.equal(encodingOf('日本語のメール本文です'), 'base64');
});

test('an attached text in UTF-8 says its charset, unless its type does or its octets are ASCII or another charset', () => {
  const typeOf = (contentType: string, bytes: Buffer, isBase64 = false) => {
    const content = isBase64
      ? ({ kind: 'base64', ascii: Buffer.from(bytes.toString('base64')) } as const)
      : ({ kind: 'bytes', bytes } as const);
    const text = textOf(composition({ attachments: [attachment({ contentType, content })] }));
    return text.slice(text.lastIndexOf('Content-Type: ')).split('\r\nContent-T')[0];
  };
  const utf8 = Buffer.from('Größe;1\r\n');
  assert.match(
    typeOf('text/csv; header=present', utf8) ?? '',
    /^Content-Type: text\/csv;\r\n header=present;\r\n charset=utf-8;/,
  );
  assert.match(
    typeOf('Text/Plain', Buffer.concat([Buffer.alloc(300_000, 'a'), utf8]), true) ?? '',
    /charset=utf-8/,
  );
  assert.match(typeOf('text/csv; charset=iso-8859-1', utf8) ?? '', /charset=iso-8859-1/);
  for (const [type, bytes] of [
    ['text/csv', Buffer.from('Gr\xf6\xdfe', 'latin1')],
    ['text/csv', Buffer.from('ASCII')],
    ['application/json', utf8],
  ] as const)
    assert.doesNotMatch(typeOf(type, bytes) ?? '', /charset/);
});

const contentId = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/).filter((id) => !/^\.|\.$|\.\./.test(id));
const textFileTypes = ['text/plain', 'text/csv; charset=utf-8', 'Text/Calendar; method=REQUEST'];
const textFileBytes = fc
  .array(
    fc.constantFrom(
      ...[
        'a line',
        '=',
        ' ',
        '\t',
        '.',
        '\r\n',
        '\r\n',
        '\n',
        '\r',
        'From ',
        'é',
        '\0',
        '\f',
        '--',
        '='.repeat(80),
      ],
      ...['x'.repeat(100), 'y'.repeat(998), 'z'.repeat(999)],
    ),
    { maxLength: 30 },
  )
  .map((parts) => new Uint8Array(Buffer.from(parts.join(''))));
const anyFile = fc.oneof(
  fc.record({
    type: fc.constantFrom('image/png', 'application/pdf', 'application/x-thing; version="1; 2"'),
    contentId: fc.option(contentId, { nil: undefined }),
    bytes: fc.uint8Array({ maxLength: 400 }),
  }),
  // Readers show an inline text and merge it with the others, so only an attached text is returned as bytes.
  fc.record({
    type: fc.constantFrom(...textFileTypes),
    contentId: fc.constant(undefined),
    bytes: fc.oneof(textFileBytes, fc.uint8Array({ maxLength: 400 })),
  }),
);
const anyAttachment = fc
  .record({
    filename: fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: anyCharacter, maxLength: 60 }),
      fc.constantFrom(
        'a "quoted" name.txt',
        '../../etc/passwd',
        'C:\\temp\\x.pdf',
        'naïve.pdf',
        "it's 100%.txt",
        '名'.repeat(100),
        'a;b=c, d.txt',
      ),
    ),
    file: anyFile,
    isBase64: fc.boolean(),
  })
  .map(({ file: { type, bytes, contentId }, isBase64, filename }): Attachment & { bytes: Uint8Array } => ({
    filename,
    contentId,
    contentType: type,
    bytes,
    content: isBase64
      ? { kind: 'base64', ascii: Buffer.from(Buffer.from(bytes).toString('base64')) }
      : { kind: 'bytes', bytes },
  }));

test('an independent parser reads back attachments and inline parts, with names, types, ids and bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        text: fc.option(anyText, { nil: undefined }),
        html: fc.option(
          anyText.map((text) => `<p>${text}</p>`),
          { nil: undefined },
        ),
        attachments: fc.array(anyAttachment, { maxLength: 4 }),
      }),
      async (parts) => {
        const parsed = await simpleParser(bytesOf(composition(parts)), PARSER_OPTIONS);
        assert.equal(lines(parsed.text), lines(parts.text));
        assert.equal(lines(parsed.html), lines(parts.html));
        const isInline = (part: Attachment) => parts.html !== undefined && part.contentId !== undefined;
        const expected = [
          ...parts.attachments.filter(isInline),
          ...parts.attachments.filter((part) => !isInline(part)),
        ].map((part) => [
          cleanFilename(part.filename),
          part.contentType.replace(/;.*/, '').toLowerCase(),
          part.contentId,
          isInline(part),
          Buffer.from(part.bytes).toString('hex'),
        ]);
        const read = parsed.attachments.map((part) => [
          part.filename,
          part.contentType,
          part.cid,
          part.related ?? false,
          part.content.toString('hex'),
        ]);
        assert.deepEqual(read, expected);
      },
    ),
    { numRuns: 100 },
  );
});

test('text, page, inline image and attachment are nested as readers expect', () => {
  const message = composition({
    text: 'See the picture.',
    html: '<img src="cid:logo">',
    attachments: [
      attachment(),
      attachment({ filename: 'logo.png', contentType: 'image/png', contentId: 'logo' }),
    ],
  });
  const outline = ({ type, subtype, parts }: MimeEntity): string =>
    [`${type}/${subtype}`, ...parts.map((part) => `(${outline(part)})`)].join(' ');
  assert.equal(
    outline(readMimeTree(bytesOf(message))),
    'multipart/mixed (multipart/alternative (text/plain) (multipart/related (text/html) (image/png))) (application/pdf)',
  );
  const boundaries = textOf(message).match(/boundary="(.*)"/g);
  assert.equal(new Set(boundaries).size, 3);
});

test('no boundary stands anywhere but where it delimits, however hard a text tries', () => {
  const parts = { html: 'b', attachments: [attachment(), attachment({ contentId: 'logo' })] };
  let text = 'a';
  const tried = new Set<string>();
  for (let round = 0; round < 4; round++) {
    const message = textOf(composition({ ...parts, text }));
    const boundaries = [...message.matchAll(/boundary="(.*)"/g)].map((match) => match[1] ?? '');
    assert.equal(boundaries.length, 3);
    for (const boundary of boundaries) {
      assert.ok(!tried.has(boundary), 'a boundary that the text holds');
      assert.equal(message.split(boundary).length - 1, 4, 'once as parameter, before two parts, at the end');
      tried.add(boundary);
    }
    text += boundaries.map((boundary) => `\n--${boundary}\n--${boundary}--\n`).join('');
  }
});

test('a boundary does not occur in a text file that is sent unencoded either', () => {
  const fileOf = (text: string) =>
    attachment({ contentType: 'text/plain', content: { kind: 'bytes', bytes: Buffer.from(text) } });
  const boundaryOf = (text: string) =>
    /boundary="(.*)"/.exec(textOf(composition({ attachments: [fileOf(text)] })))?.[1] ?? '';
  const first = boundaryOf('a');
  const second = boundaryOf(`--${first}\r\n`);
  assert.notEqual(second, first);
  assert.notEqual(boundaryOf(`--${first}\r\n--${second}--\r\n`), second);
});

test('every composed message is lines of at most 998 ASCII octets, each ended by CRLF', () => {
  const parts = fc.record({
    subject,
    text: anyText,
    html: fc.option(anyText, { nil: undefined }),
    attachments: fc.array(anyAttachment, { maxLength: 3 }),
  });
  fc.assert(
    fc.property(parts, (one) => {
      const message = bytesOf(composition(one));
      assert.ok(isAscii(message) && message.subarray(-2).toString() === '\r\n');
      for (const line of message.toString('latin1').split('\r\n')) {
        assert.ok(line.length <= 998);
        assert.doesNotMatch(line, /[\r\n\0]/);
      }
    }),
    { numRuns: 60 },
  );
});

test('a message or a multipart as an attachment is sent as bytes, for neither may be in base64', () => {
  for (const contentType of ['message/rfc822', 'Message/Global', 'multipart/mixed; boundary=x']) {
    const message = textOf(composition({ attachments: [attachment({ contentType })] }));
    assert.match(message, /\r\nContent-Type: application\/octet-stream;\r\n name="report.pdf"\r\n/);
    assert.doesNotMatch(message, /rfc822|global|boundary="?x/i);
  }
});

test('the parameters of a type are kept, but for a name: that of the file is said', () => {
  const contentType = 'Text/Calendar; method=REQUEST; NAME="other.txt"; x="a\\"b"';
  const message = textOf(composition({ attachments: [attachment({ contentType })] }));
  assert.match(
    message,
    /\r\nContent-Type: text\/calendar;\r\n method=REQUEST;\r\n x="a\\"b";\r\n name="report.pdf"\r\nContent-Tr/,
  );
});

test('without HTML an inline part is an attachment, and keeps its id', () => {
  const message = textOf(composition({ attachments: [attachment({ contentId: 'logo@example.com' })] }));
  assert.match(message, /\r\nContent-ID: <logo@example.com>\r\nContent-Disposition: attachment;/);
  assert.doesNotMatch(message, /multipart\/related/);
});

test('base64 is cut into lines of 76 the same way, whether it was given as bytes or as characters', () => {
  for (const length of [0, 1, 56, 57, 58, 114, 116_735, 116_736, 116_737, 300_000]) {
    const bytes = Buffer.alloc(length, 'some bytes that do not repeat in 57');
    const expected = bytes.toString('base64').replace(/.{76}(?=.)/g, '$&\r\n');
    const ascii = Buffer.from(bytes.toString('base64'));
    for (const content of [
      { kind: 'bytes', bytes },
      { kind: 'base64', ascii },
    ] as const) {
      const message = textOf(composition({ attachments: [attachment({ content })] }));
      const part = message.slice(message.indexOf('report.pdf"\r\n\r\n') + 15, message.lastIndexOf('\r\n--'));
      assert.ok(part === expected, `${content.kind} of ${length} bytes`);
    }
  }
});

test('a large attachment is written in pieces of at most 256 KiB, made only when they are asked for', () => {
  const content = { kind: 'base64', ascii: Buffer.alloc(4 * 1024 * 1024, 'QUJD') } as const;
  const { body } = compose(composition({ attachments: [attachment({ content })] }));
  const pieces = [...body];
  assert.ok(pieces.length > 16);
  for (const piece of pieces) assert.ok(piece.length <= 256 * 1024);
  const reader = body[Symbol.iterator]();
  for (let piece = 0; piece < 6; piece++) reader.next();
  content.ascii.fill('ZZZZ');
  assert.match(String(reader.next().value), /ZZZZ/);
});

test('a large text is encoded in pieces, as it is read, to the same bytes', async () => {
  const line = 'é=a long line with \t tabs and  spaces, '.repeat(9);
  const text = `${line} \n${line}\t\n`.repeat(400);
  const { body } = compose(composition({ text }));
  const pieces = [...body];
  assert.ok(pieces.length > 4);
  for (const piece of pieces) assert.ok(piece.length <= 256 * 1024);
  const encoded = Buffer.concat(pieces).toString('latin1');
  for (const encodedLine of encoded.split('\r\n'))
    assert.ok(encodedLine.length <= 76 && !/[ \t]$/.test(encodedLine));
  const parsed = await simpleParser(bytesOf(composition({ text })), PARSER_OPTIONS);
  assert.ok(lines(parsed.text) === lines(text));
});

test("the caller's own fields stand in the header as given, folded where they are long", async () => {
  const headers = [
    { name: 'X-Entity-Ref-ID', value: '123' },
    { name: 'In-Reply-To', value: '<one@example.com>' },
    {
      name: 'References',
      value: Array.from({ length: 12 }, (_, id) => `<message-${id}@example.com>`).join(' '),
    },
    { name: 'X-Long', value: 'x'.repeat(870) },
    { name: 'X-Spaces', value: '  a   b  ' },
    { name: 'X-Empty', value: '' },
    { name: 'X-Encoded', value: '=?utf-8?Q?J=C3=B6rg?=' },
    { name: 'X-Twice', value: '1' },
    { name: 'X-Twice', value: '2' },
  ];
  const header = compose(composition({ headers })).header.toString('latin1');
  for (const { name, value } of headers) {
    assert.ok(header.replaceAll('\r\n ', ' ').includes(`\r\n${name}: ${value.trim()}\r\n`), name);
  }
  for (const line of header.split('\r\n')) assert.ok(line.length <= 78 || line.startsWith('X-Long'), line);
  const parsed = await simpleParser(bytesOf(composition({ headers })));
  assert.equal(parsed.inReplyTo, '<one@example.com>');
  assert.equal(parsed.references?.length, 12);
});

test('no field of a message lets another field in', () => {
  const breaks = ['\r\n', '\n', '\r', '\0', '\u2028', '\u0085', '\u000b', '\ud800', 'é'];
  for (const text of breaks) {
    const evil = `x${text}Bcc: evil@example.org`;
    const own = (name: string, value: string) => () => compose(composition({ headers: [{ name, value }] }));
    if (text === 'é') assert.doesNotThrow(own('X-Evil', evil));
    else assert.throws(own('X-Evil', evil), RangeError, JSON.stringify(text));
    assert.throws(own(evil, 'x'), RangeError);
    const part = (parts: Partial<Attachment>) => () =>
      compose(composition({ attachments: [attachment(parts)] }));
    assert.throws(part({ contentType: `text/plain; a=${evil}` }), RangeError);
    assert.throws(part({ contentType: `text/plain; a="${evil}"` }), RangeError);
    assert.throws(part({ contentType: `text/${evil}` }), RangeError);
    assert.throws(part({ contentId: evil }), RangeError);
    const header = (parts: Partial<Composition>) => textOf(composition(parts));
    assert.doesNotMatch(header({ attachments: [attachment({ filename: evil })] }), /^bcc/im);
    assert.doesNotMatch(
      header({ attachments: [attachment({ filename: evil, contentId: 'a' })], html: evil }).split(
        '\r\n\r\n',
      )[0] ?? '',
      /^bcc/im,
    );
    const named = { ...mailbox('a@example.com'), name: evil };
    assert.doesNotMatch(
      header({ from: named, to: [named], cc: [named], replyTo: [named], text: '' }),
      /^bcc/im,
    );
    assert.throws(() => compose(composition({ messageId: `${evil}@x` })), RangeError);
    if (/[\r\n\0]/.test(text)) assert.throws(() => compose(composition({ subject: evil })), RangeError);
    else assert.doesNotMatch(header({ subject: evil, text: '' }), /^bcc/im);
  }
  const withPart = (part: Partial<Attachment>) => () =>
    compose(composition({ attachments: [attachment(part)] }));
  assert.throws(withPart({ contentType: 'text/plain;' }), RangeError);
  assert.throws(() => compose(composition({ messageId: 'a@b>, <c@d' })), RangeError);
  for (const contentId of ['', '<a>', 'a b', 'a>', 'a@b@c', '@', 'x'.repeat(257)])
    assert.throws(withPart({ contentId }), RangeError, contentId);
});

test("fields that are written here, or decide what others mean, are not the caller's", () => {
  for (const name of [
    'From',
    'TO',
    'cc',
    'Bcc',
    'Reply-To',
    'Sender',
    'Subject',
    'Date',
    'Message-Id',
    'MIME-Version',
    'Content-Type',
    'content-transfer-encoding',
    'Content-Disposition',
    'Content-ID',
    'DKIM-Signature',
    'Return-Path',
    'Received',
  ]) {
    assert.throws(() => compose(composition({ headers: [{ name, value: 'x' }] })), RangeError, name);
  }
});
