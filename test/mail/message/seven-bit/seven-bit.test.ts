import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SevenBit } from '../../../../src/mail/message/seven-bit/seven-bit.ts';

/** Returns the message as it leaves, when it arrives in pieces of this size. */
function convert(message: string, pieceBytes = 1_000_000): { text: string; headerBytes: number | undefined } {
  const bytes = Buffer.from(message, 'utf8');
  const sevenBit = new SevenBit();
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

test('an undeclared body is held up to a limit, and then leaves as it came', () => {
  const ascii = 'Hello\r\n'.repeat(20_000);
  const { text } = convert(`Subject: Hi\r\n\r\n${ascii}é\r\n`, 4_096);
  assert.equal(text, `Subject: Hi\r\n\r\n${ascii}é\r\n`);
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
