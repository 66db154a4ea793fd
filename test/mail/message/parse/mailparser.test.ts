import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { quotedPrintable } from '../../../../src/mail/message/quoted-printable.ts';
import { multipart, part, read } from './messages.ts';

type Seen = { subject: string; lines: string[]; files: (string | number | undefined)[][] };

async function byMailparser(message: Buffer): Promise<Seen> {
  const {
    subject = '',
    text = '',
    html,
    attachments,
  } = await simpleParser(message, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    keepCidLinks: true,
  });
  const files = attachments.map(({ filename, contentType, size, contentId }) => [
    filename,
    contentType,
    size,
    contentId?.replace(/^<|>$/g, ''),
  ]);
  return { subject, lines: linesOf(text, html || ''), files };
}

function byReader(message: Buffer): Seen {
  const { subject, text, html, files } = read(message);
  return {
    subject,
    lines: linesOf(text, html),
    files: files.map(({ filename, contentType, sizeBytes, contentId }) => [
      filename,
      contentType,
      sizeBytes,
      contentId ?? undefined,
    ]),
  };
}

/** Returns the words of both forms: the readers join them in different ways. */
function linesOf(text: string, html: string): string[] {
  const words = (all: string) => all.replace(/<\/?(?:p|br) ?\/?>/g, ' ').match(/\S+/g) ?? [];
  return [...words(text), ...words(html)];
}

const WORDS = fc
  .array(fc.constantFrom('one', 'tree', 'Grüße', 'naïve', '=41', 'Straße', '.', '--b'), { minLength: 1 })
  .map((words) => words.join(' '));
const ENCODINGS = {
  '7bit': (octets: Buffer) => octets.toString('latin1'),
  base64: (octets: Buffer) => octets.toString('base64').replace(/.{76}/g, '$&\r\n'),
  'quoted-printable': (octets: Buffer) =>
    Buffer.concat([...quotedPrintable(octets, 'breaks')]).toString('latin1'),
};
const encoding = fc.constantFrom(...(Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[]));

const text = fc
  .record({ words: WORDS, encoding, charset: fc.constantFrom('utf-8', 'iso-8859-1') })
  .map(({ words, encoding, charset }) =>
    part(
      [`Content-Type: text/plain; charset="${charset}"`, `Content-Transfer-Encoding: ${encoding}`],
      ENCODINGS[encoding](Buffer.from(words, charset === 'utf-8' ? 'utf8' : 'latin1')),
    ),
  );
const html = WORDS.map((words) =>
  part(['Content-Type: text/html; charset=utf-8'], `<p>${Buffer.from(words).toString('latin1')}</p>`),
);
const file = fc
  .record({ octets: fc.uint8Array({ minLength: 1 }), name: fc.constantFrom('a.pdf', 'Gr%C3%BC%C3%9Fe.bin') })
  .map(({ octets, name }) =>
    part(
      [
        'Content-Type: application/pdf',
        `Content-Disposition: attachment; filename*=utf-8''${name}`,
        'Content-Transfer-Encoding: base64',
        'Content-ID: <a@b.example>',
      ],
      ENCODINGS.base64(Buffer.from(octets)),
    ),
  );
const alternative = fc.tuple(text, html).map((parts) => multipart('alternative', parts));
const leaf = fc.oneof(text, file, alternative);
const message = fc
  .tuple(fc.array(leaf, { minLength: 1, maxLength: 4 }), fc.array(leaf, { minLength: 1, maxLength: 3 }))
  .map(([outer, inner]) => multipart('mixed', [...outer, multipart('related', inner)]))
  .map((body) => Buffer.from(`Subject: =?utf-8?Q?Gr=C3=BC?= =?utf-8?Q?=C3=9Fe?=\r\n${body}`, 'latin1'));

test('messages without a fault are read as mailparser reads them', async () => {
  await fc.assert(
    fc.asyncProperty(message, async (octets) => {
      const [ours, theirs] = [byReader(octets), await byMailparser(octets)];
      // The HTML of a message with text in other parts has those too.
      assert.deepEqual(new Set(ours.lines), new Set(theirs.lines));
      assert.deepEqual([ours.subject, ours.files], [theirs.subject, theirs.files]);
    }),
    { numRuns: 60 },
  );
});
