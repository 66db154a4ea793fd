import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decompressRichText, readTnef } from '../../../../src/mail/message/tnef/read-tnef.ts';
import { filesOf, multipart, part, read } from '../parse/messages.ts';
import { attachment, attribute, properties, richText, tnef, u32 } from './tnef-file.ts';

const MESSAGE_PROPERTIES = 0x00069003;
const PDF = Buffer.from('%PDF-1.7');
const FILE = tnef(
  attribute(0x00069007, u32(1251)),
  attribute(
    MESSAGE_PROPERTIES,
    properties(
      { id: 0x8001, value: 'named' },
      { id: 0x0e08, value: 7 },
      { id: 0x1000, value: 'Hello\r\nthere' },
    ),
  ),
  ...attachment(
    'OFFER~1.PDF',
    PDF,
    properties({ id: 0x3707, value: 'Offer für Ann.pdf' }, { id: 0x370e, value: 'application/pdf' }),
  ),
  ...attachment('logo.png', Buffer.from('png'), properties({ id: 0x3712, value: 'logo@b.example' })),
);

/** Returns a message with text and such a file. */
function winmail(octets: Buffer, text = 'visible', type = 'application/ms-tnef'): string {
  const encoded = octets.toString('base64').replace(/.{76}/g, '$&\r\n');
  const file = part(
    [`Content-Type: ${type}; name="winmail.dat"`, 'Content-Transfer-Encoding: base64'],
    encoded,
  );
  return multipart('mixed', [part(['Content-Type: text/plain'], text), file]);
}

test('the files in winmail.dat stand in its place', () => {
  for (const type of ['application/ms-tnef', 'application/vnd.ms-tnef', 'application/octet-stream']) {
    const message = winmail(FILE, 'visible', type);
    assert.deepEqual(filesOf(message), [
      ['Offer für Ann.pdf', 'application/pdf', '%PDF-1.7'],
      ['logo.png', 'image/png', 'png'],
    ]);
    const { text, files } = read(message);
    assert.equal(text, 'visible');
    assert.deepEqual(
      files.map(({ contentId, sizeBytes }) => [contentId, sizeBytes]),
      [
        [null, 8],
        ['logo@b.example', 3],
      ],
    );
  }
});

test('the text in winmail.dat counts when the message has no other', () => {
  assert.equal(read(winmail(FILE, '')).text, 'Hello\nthere');
  const html = Buffer.from('<meta charset="koi8-r">\xd4', 'latin1');
  const content = read(
    winmail(tnef(attribute(MESSAGE_PROPERTIES, properties({ id: 0x1013, value: html }))), ''),
  );
  assert.deepEqual([content.html.slice(-1), content.isTextComplete, content.files], ['т', false, []]);
  const old = tnef(attribute(0x00069007, u32(932)), attribute(0x0002800c, Buffer.from('93fa967b00', 'hex')));
  assert.equal(read(winmail(old, '')).text, '日本');
});

test('rich text alone is a file', () => {
  const rich = (value: Buffer) => tnef(attribute(MESSAGE_PROPERTIES, properties({ id: 0x1009, value })));
  assert.deepEqual(filesOf(winmail(rich(richText('{\\rtf1 hello}')))), [
    ['message.rtf', 'application/rtf', '{\\rtf1 hello}'],
  ]);
  assert.deepEqual(
    filesOf(winmail(rich(Buffer.from('damaged')))).map(([name]) => name),
    ['winmail.dat'],
  );
});

test('rich text is decompressed, within its limit', () => {
  // The example of MS-OXRTFCP section 4.1.1.
  const compressed =
    '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0';
  assert.equal(
    decompressRichText(Buffer.from(compressed, 'hex'), 1_000)?.toString(),
    '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n',
  );
  assert.equal(decompressRichText(Buffer.from(compressed, 'hex'), 42), undefined);
  assert.equal(
    decompressRichText(richText('x'.repeat(100)).subarray(0, 30), 1_000)?.toString(),
    'x'.repeat(12),
  );
});

test('a message in a message has a text and files', () => {
  const inner = Buffer.concat([Buffer.alloc(16), FILE]);
  const nested = tnef(
    ...attachment(
      'note',
      undefined,
      properties({ id: 0x3701, type: 0x0d, value: inner }, { id: 0x3707, value: 'Offer' }),
    ),
  );
  assert.deepEqual(filesOf(winmail(nested)), [
    ['Offer.txt', 'text/plain', 'Hello\nthere'],
    ['Offer für Ann.pdf', 'application/pdf', '%PDF-1.7'],
    ['logo.png', 'image/png', 'png'],
  ]);
  let deep = FILE;
  for (let depth = 0; depth < 50; depth++)
    deep = tnef(
      ...attachment(
        'n',
        undefined,
        properties({ id: 0x3701, type: 0x0d, value: Buffer.concat([Buffer.alloc(16), deep]) }),
      ),
    );
  assert.equal(readTnef(deep)?.files.length, 1);
});

test('what is damaged is left out, and a file that is not TNEF stays', () => {
  const names = readTnef(FILE.subarray(0, FILE.length - 60))?.files.map(({ name }) => name);
  assert.deepEqual(names, ['Offer für Ann.pdf', 'logo.png']);
  const empty = tnef();
  for (const octets of [Buffer.from('no TNEF'), Buffer.alloc(0), empty])
    assert.deepEqual(
      filesOf(winmail(octets)).map(([name]) => name),
      ['winmail.dat'],
    );
});

test('the number of files and the memory are limited, whatever the file says', () => {
  const many = tnef(...Array.from({ length: 3_000 }, () => attachment('a', PDF)).flat());
  assert.equal(readTnef(many)?.files.length, 1_000);
  const claims = Buffer.concat([u32(0xffffffff), u32(0x7fffffff), u32(0x75465a4c), u32(0)]);
  assert.equal(decompressRichText(claims, 1_000), undefined);
  const start = process.threadCpuUsage();
  readTnef(tnef(attribute(MESSAGE_PROPERTIES, Buffer.concat([u32(0xffffffff), Buffer.alloc(4_000_000, 2)]))));
  readTnef(Buffer.concat([tnef(), Buffer.alloc(4_000_000)]));
  const { user, system } = process.threadCpuUsage(start);
  assert.ok(user + system < 2_000_000);
});

test('any octets are read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(FILE.length), (octets, at) => {
      const damaged = Buffer.from(FILE);
      damaged.set(octets.subarray(0, damaged.length - at), at);
      assert.ok((readTnef(damaged)?.files.length ?? 0) < 100);
    }),
  );
});
