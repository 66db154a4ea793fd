import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simpleParser } from 'mailparser';
import { SevenBit } from '../../../../src/mail/message/seven-bit/seven-bit.ts';

/** Returns the message as it leaves, when it arrives in pieces of this size. */
function convert(
  message: string | Buffer,
  pieceBytes = 1_000_000,
): { text: string; headerBytes: number | undefined } {
  const bytes = Buffer.from(message);
  const sevenBit = new SevenBit({ keepsUtf8: false });
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    pieces.push(...sevenBit.next(bytes.subarray(at, at + pieceBytes)));
  pieces.push(...sevenBit.end());
  return { text: Buffer.concat(pieces).toString('utf8'), headerBytes: sevenBit.headerBytes };
}

const EIGHT_BIT = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n';
const QUOTED = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n';

const CASES: Readonly<Record<string, readonly [given: string, expected: string]>> = {
  'a body that declares 8 bits': [
    `MIME-Version: 1.0\r\n${EIGHT_BIT}\r\nGrüße\r\n`,
    `MIME-Version: 1.0\r\n${QUOTED}\r\nGr=C3=BC=C3=9Fe\r\n`,
  ],
  'a body in ASCII': ['Subject: Hi\r\n\r\nHello = you\r\n', 'Subject: Hi\r\n\r\nHello = you\r\n'],
  'a body that declares nothing': [
    'Subject: Hi\r\n\r\nHello\r\nGrüße\r\n',
    'Subject: Hi\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nHello\r\nGr=C3=BC=C3=9Fe\r\n',
  ],
  'a part among parts': [
    `Content-Type: multipart/mixed; boundary="b 1"\r\n\r\npreamble é\r\n--b 1\r\n${EIGHT_BIT}\r\né\r\n--b 1\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b 1--\r\nepilogue\r\n`,
    `Content-Type: multipart/mixed; boundary="b 1"\r\n\r\npreamble é\r\n--b 1\r\n${QUOTED}\r\n=C3=A9\r\n--b 1\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b 1--\r\nepilogue\r\n`,
  ],
  'nested parts whose inner boundary begins like the outer one': [
    `Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/alternative; boundary=aa\r\n\r\n--aa\r\n${EIGHT_BIT}\r\né\r\n--aa--\r\n--a\r\n${EIGHT_BIT}\r\nü\r\n--a--\r\n`,
    `Content-Type: multipart/mixed; boundary=a\r\n\r\n--a\r\nContent-Type: multipart/alternative; boundary=aa\r\n\r\n--aa\r\n${QUOTED}\r\n=C3=A9\r\n--aa--\r\n--a\r\n${QUOTED}\r\n=C3=BC\r\n--a--\r\n`,
  ],
  'a message inside a message': [
    `Content-Type: message/rfc822\r\n\r\nSubject: In\r\n${EIGHT_BIT}\r\né\r\n`,
    `Content-Type: message/rfc822\r\n\r\nSubject: In\r\n${QUOTED}\r\n=C3=A9\r\n`,
  ],
  'a signed message, with a part after it': [
    `Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n${EIGHT_BIT}\r\né\r\n--s--\r\n--o\r\n${EIGHT_BIT}\r\nü\r\n--o--\r\n`,
    `Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: multipart/signed; boundary=s\r\n\r\n--s\r\n${EIGHT_BIT}\r\né\r\n--s--\r\n--o\r\n${QUOTED}\r\n=C3=BC\r\n--o--\r\n`,
  ],
  'a message without a body': ['Subject: Hi\r\n', 'Subject: Hi\r\n'],
  'a body without its last line end': [
    `MIME-Version: 1.0\r\n${EIGHT_BIT}\r\né`,
    `MIME-Version: 1.0\r\n${QUOTED}\r\n=C3=A9`,
  ],
};

for (const [what, [given, expected]] of Object.entries(CASES))
  test(`${what} leaves as it should, however it arrives`, () => {
    for (const size of [1_000_000, 1, 7]) {
      const { text, headerBytes } = convert(given, size);
      assert.equal(text, expected, `pieces of ${size}`);
      const end = expected.indexOf('\r\n\r\n');
      assert.equal(headerBytes, end < 0 ? expected.length : end + 4);
    }
  });

test('a long line is cut by soft breaks, and keeps its octets', () => {
  const line = 'é'.repeat(5_000);
  const { text } = convert(`${EIGHT_BIT}\r\n${line}\r\nend\r\n`, 1_500);
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  assert.ok(body.split('\r\n').every((one) => one.length <= 76));
  const decoded = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  assert.equal(Buffer.from(decoded, 'latin1').toString(), `${line}\r\nend\r\n`);
});

test('an undeclared body is held up to a limit, and then becomes quoted-printable whatever follows', () => {
  const ascii = 'Hello\r\n'.repeat(20_000);
  const { text } = convert(`Subject: Hi\r\n\r\n${ascii}é\r\n`, 4_096);
  assert.equal(text, `Subject: Hi\r\nMIME-Version: 1.0\r\n${QUOTED}\r\n${ascii}=C3=A9\r\n`);
});

const LONG = 'word '.repeat(500);
const HTML = 'Content-Type: text/html; charset=us-ascii\r\n';
const BASE64 = Buffer.from('0123456789'.repeat(2_000)).toString('base64');

/** Returns the parts of a message as mailparser reads them, and requires that no line is longer than 998 octets. */
async function readShort(text: string) {
  for (const line of text.split('\r\n')) assert.ok(Buffer.byteLength(line) <= 998, `${line.length}`);
  const { attachments, text: plain, html } = await simpleParser(Buffer.from(text), { skipHtmlToText: true });
  return { html, plain, files: attachments.map(({ content }) => content.toString()) };
}

test('a body with a line over 998 octets becomes quoted-printable, however it arrives', async () => {
  for (const size of [1_000_000, 1, 700, 1_500]) {
    const { text, headerBytes } = convert(
      `MIME-Version: 1.0\r\n${HTML}\r\nfirst\r\n${LONG}end\r\nlast\r\n`,
      size,
    );
    assert.match(text, /^Content-Transfer-Encoding: quoted-printable\r$/m);
    assert.equal(headerBytes, text.indexOf('\r\n\r\n') + 4);
    assert.equal((await readShort(text)).html, `first\n${LONG}end\nlast\n`);
  }
});

test('a line of exactly 998 octets stays', () => {
  const message = `Subject: Hi\r\n\r\n${'x'.repeat(998)}\r\n`;
  for (const size of [1_000_000, 1, 999]) assert.equal(convert(message, size).text, message);
});

test('each part is converted for itself, and the text around parts is cut', async () => {
  const qp = `${'=E2=82=AC'.repeat(1_000)}--`;
  const parts = [
    `Content-Type: text/plain\r\n\r\n${LONG}end`,
    `Content-Type: text/plain; charset=utf-8\r\n\r\nshort`,
    `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\n${BASE64}`,
    `Content-Type: text/csv; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Disposition: attachment\r\n\r\n${qp}`,
  ];
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join('');
  for (const size of [1_000_000, 1, 991, 1_500]) {
    const { text } = convert(
      `MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${LONG}\r\n${body}--b--\r\n${LONG}\r\n`,
      size,
    );
    const { plain, files } = await readShort(text);
    assert.equal(plain, `${LONG}end\nshort`);
    assert.deepEqual(files, ['0123456789'.repeat(2_000), `${'€'.repeat(1_000)}--`]);
  }
});

test('a long line behind the last part is cut by line ends', () => {
  const parts = 'Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHi\r\n--b--\r\n';
  const { text } = convert(`${parts}${'x'.repeat(2_500)}\r\n`);
  assert.equal(text.replace(/(x)\r\n(?=x)/g, '$1'), `${parts}${'x'.repeat(2_500)}\r\n`);
  for (const line of text.split('\r\n')) assert.ok(line.length <= 998);
});

test('a signed part keeps its octets, with its long lines', () => {
  const signed = `--s\r\nContent-Type: text/plain\r\n\r\n${LONG}\r\n--s\r\nContent-Type: application/pgp-signature; name="é"\r\n\r\n${BASE64}\r\n--s--\r\n`;
  const message = `Content-Type: multipart/signed; boundary=s\r\n\r\n${signed}`;
  for (const size of [1_000_000, 1, 700]) assert.equal(convert(message, size).text, message);
});

test('headers of parts and of messages inside are repaired', () => {
  const inner = `Subject: é\r\nReferences: ${'<a@b.example> '.repeat(100)}\r\n\r\nHi\r\n`;
  const { text } = convert(
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain; name="é.txt"\r\n\r\nHi\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${inner}--b--\r\n`,
  );
  assert.match(text, /^[\t\r\n -~]*$/);
  assert.match(text, /name\*=utf-8''%C3%A9\.txt\r\n\r\nHi/);
  for (const line of text.split('\r\n')) assert.ok(line.length <= 78);
});

test('a text without a charset gets the one that its octets have', () => {
  const of = (octets: Buffer, header = 'Content-Type: text/csv; header=present\r\n') =>
    convert(Buffer.concat([Buffer.from(`${header}\r\n`), octets])).text;
  assert.match(of(Buffer.from('é')), /^Content-Type: text\/csv; header=present;\r\n charset=utf-8\r\n/);
  assert.match(
    of(Buffer.from('é'), 'Content-Type: text/csv\r\nContent-Transfer-Encoding: 8bit\r\n'),
    /charset=utf-8/,
  );
  assert.doesNotMatch(of(Buffer.from('é\r\n', 'latin1')), /charset/);
  assert.doesNotMatch(of(Buffer.from('é'), 'Content-Type: application/x-thing\r\n'), /charset/);
  assert.doesNotMatch(of(Buffer.from('e')), /charset/);
  assert.match(of(Buffer.from('é\r\n', 'latin1'), 'Subject: Hi\r\n'), /text\/plain; charset=windows-1252/);
  assert.match(of(Buffer.from('é'), 'Subject: Hi\r\n'), /text\/plain; charset=utf-8/);
});

test('what follows very many parts leaves as it came', () => {
  const part = `--b\r\n${EIGHT_BIT}\r\né\r\n`;
  const { text } = convert(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${part.repeat(1_500)}`);
  const parts = text.split('--b\r\n').slice(1);
  assert.equal(parts.length, 1_500);
  const quoted = parts.filter((one) => one === `${QUOTED}\r\n=C3=A9\r\n`).length;
  assert.ok(quoted >= 990 && quoted <= 1_000, `${quoted}`);
  assert.ok(parts.slice(quoted).every((one) => one === `${EIGHT_BIT}\r\né\r\n`));
});
