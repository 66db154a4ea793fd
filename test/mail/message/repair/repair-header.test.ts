import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { simpleParser } from 'mailparser';
import { decodeWords } from '../../../../src/mail/message/decode-words.ts';
import { repairHeader } from '../../../../src/mail/message/repair/repair-header.ts';
import { anyCharacter } from '../../../support/any-character.ts';

type Octets = string | Buffer;

function repair(header: Octets, keepsUtf8 = false): string {
  const octets = typeof header === 'string' ? Buffer.from(header) : header;
  return repairHeader(octets, { keepsUtf8 }).toString('latin1');
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const linesOf = (header: string) => header.split('\r\n');

function assertLegal(header: string): void {
  assert.match(header, /^[\t\r\n -~]*$/);
  for (const line of linesOf(header)) assert.ok(line.length <= 998, line);
}

const CASES: Readonly<Record<string, readonly [given: Octets, expected: string]>> = {
  'a subject in UTF-8': [
    'Subject: Grüße aus Köln\r\n',
    'Subject: =?UTF-8?B?R3LDvMOfZQ==?= aus =?UTF-8?B?S8O2bG4=?=\r\n',
  ],
  'a subject in windows-1252': [
    latin1('Subject: Caf\xe9 \x80 5\r\n'),
    'Subject: =?UTF-8?B?Q2Fmw6kg4oKs?= 5\r\n',
  ],
  'a subject with an encoded-word before raw text': [
    'Subject: =?utf-8?q?a?= é b\r\n',
    'Subject: =?utf-8?q?a?= =?UTF-8?B?IMOp?= b\r\n',
  ],
  'a subject with raw text before an encoded-word': [
    'Subject: é  =?utf-8?q?a?=\r\n',
    'Subject: =?UTF-8?Q?=C3=A9__?=  =?utf-8?q?a?=\r\n',
  ],
  'a folded subject': ['Subject: é\r\n\tand é\r\n', 'Subject: =?UTF-8?B?w6k=?=\tand =?UTF-8?B?w6k=?=\r\n'],
  'display names, quoted and not': [
    'To: Jörg <j@a.example>, "Ä, B" <b@a.example>, c@a.example, Ann <d@a.example>\r\n',
    'To: =?UTF-8?B?SsO2cmc=?= <j@a.example>, =?UTF-8?B?w4QsIEI=?= <b@a.example>,\r\n c@a.example, Ann <d@a.example>\r\n',
  ],
  'a group and a comment': [
    'Cc: Büro: a@a.example (Zoë \\(Z\\));\r\n',
    'Cc: =?UTF-8?B?QsO8cm8=?= : a@a.example (=?UTF-8?B?Wm/DqyAoWik=?=);\r\n',
  ],
  'a name before a comment, and an address before one': [
    'Cc: Jörg (office) <a@a.example>, zoë@a.example (Zoë)\r\n',
    'Cc: =?UTF-8?B?SsO2cmc=?= (office) <a@a.example>, zoÃ«@a.example\r\n (=?UTF-8?Q?Zo=C3=AB?=)\r\n',
  ],
  'a file name': [
    'Content-Disposition: attachment; filename="Größe 1.pdf"; size=10\r\n',
    "Content-Disposition: attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe%201.pdf;\r\n size=10\r\n",
  ],
  'an unknown field': ['X-Firma: Müller\r\n', 'X-Firma: =?UTF-8?Q?M=C3=BCller?=\r\n'],
  'fields around one that is repaired': [
    `A: b\r\n c\r\nSubject: é\r\nX-Odd:   d \r\n\r\n`,
    `A: b\r\n c\r\nSubject: =?UTF-8?B?w6k=?=\r\nX-Odd:   d \r\n\r\n`,
  ],
};

for (const [what, [given, expected]] of Object.entries(CASES))
  test(`${what} is encoded where its grammar allows it`, () => {
    assert.equal(repair(given), expected);
  });

test('a legal header stays as it is, octet by octet', () => {
  const header = 'Subject:  odd   spacing \r\nX-A: =?x?q?y\r\n\t z\r\nNo field\r\n\r\n';
  assert.equal(repair(header), header);
});

test('with SMTPUTF8 valid UTF-8 stays, and other octets are encoded', () => {
  const header = 'Subject: Grüße\r\nFrom: Zoë <zoë@a.example>\r\n';
  assert.equal(repair(header, true), Buffer.from(header).toString('latin1'));
  assert.equal(repair(latin1('Subject: \xe9\r\n'), true), 'Subject: =?UTF-8?B?w6k=?=\r\n');
});

const many = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index));

test('long fields are folded at legal places', async () => {
  const to = many(60, (index) => `"Person ${index}, a (b) <c" <p${index}@example.com>`).join(',');
  const ids = many(80, (index) => `<${index}@example.com>`);
  const tags = many(80, (index) => `t${index}="${'v '.repeat(8)}"`).join(';');
  const header = repair(
    `To: ${to}\r\nReferences: ${ids.join('')}\r\nIn-Reply-To: ${ids.join('\t')}\r\nSubject: ${'word '.repeat(400)}\r\nX-Long: ${'x'.repeat(2_000)}\r\nAuthentication-Results: a;${tags}\r\n\r\n`,
  );
  assertLegal(header);
  for (const line of linesOf(header)) assert.ok(line.length <= 78, line);
  const unfolded = header.replace(/\r\n(?=[ \t])/g, '');
  assert.deepEqual(unfolded.match(/^References: (.*)$/m)?.[1]?.match(/<[^<>]+>/g), ids);
  assert.match(unfolded, /^In-Reply-To: <0@example\.com>\t<1@example\.com>\t/m);
  const parsed = await simpleParser(`${header}x`);
  assert.equal(parsed.subject, 'word '.repeat(400).trimEnd());
  assert.equal([parsed.to].flat()[0]?.value.length, 60);
  assert.equal([parsed.to].flat()[0]?.value[59]?.name, 'Person 59, a (b) <c');
  assert.equal(decodeWords(unfolded.match(/^X-Long: (.*)$/m)?.[1] ?? ''), 'x'.repeat(2_000));
});

test('a long quoted string is folded at its white space, and a name of a file is cut', () => {
  const header = repair(
    `To: "${'ab '.repeat(500)}" <a@a.example>\r\nContent-Disposition: attachment; filename="${'n'.repeat(1_200)}.pdf"\r\n`,
  );
  assertLegal(header);
  assert.equal(
    header.replace(/\r\n(?=[ \t])/g, '').split('\r\n')[0],
    `To: "${'ab '.repeat(500)}" <a@a.example>`,
  );
  assert.match(header, /filename="?n{251}\.pdf"?/);
});

test('a structured value without a place to fold stays as it is', () => {
  const header = `Message-ID: <${'x'.repeat(1_200)}@a.example>\r\n`;
  assert.equal(repair(header), `Message-ID:\r\n <${'x'.repeat(1_200)}@a.example>\r\n`);
});

test('a header of the largest size is folded into few lines', () => {
  const ids = many(9_000, (index) => `<${index}@example.com>`).join(' ');
  const lines = linesOf(repair(`References: ${ids}\r\n`));
  assert.ok(lines.length < 500, `${lines.length}`);
  assertLegal(lines.join('\r\n'));
});

test('a field with thousands of names is encoded up to a limit, and what follows stays as it is', () => {
  for (const header of [
    `To: ${'ü:'.repeat(5_000)}`,
    `To: ${'(ü)'.repeat(5_000)}`,
    `Subject: ${'ü a '.repeat(5_000)}`,
  ]) {
    const repaired = Buffer.from(repair(`${header}\r\n`), 'latin1').toString();
    assert.equal(repaired.match(/=\?UTF-8\?/g)?.length, 2_000, header.slice(0, 12));
    assert.equal(repaired.match(/ü/g)?.length, 3_000);
  }
});

test('free text of any kind is legal then, and a reader sees what was there', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: anyCharacter, maxLength: 40 }), { maxLength: 40 }),
      fc.integer({ min: 0, max: 1_500 }),
      async (words, run) => {
        const text = `é ${words.join(' ')} ${'x'.repeat(run)}`
          .replace(/[\p{Cc}\p{Cs}=]/gu, '')
          .replace(/\s+/g, ' ')
          .trim();
        const header = repair(`Subject: ${text}\r\n\r\n`);
        assertLegal(header);
        assert.equal((await simpleParser(header)).subject, text);
      },
    ),
    { numRuns: 60 },
  );
});
