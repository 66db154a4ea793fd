import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMailboxMessage } from '../../../../src/mail/mailbox-message/read.ts';
import { filesOf, multipart, octetsOf, part, read } from './messages.ts';

const plain = (text: string, ...header: string[]) => part(['Content-Type: text/plain', ...header], text);
const html = (text: string, ...header: string[]) => part(['Content-Type: text/html', ...header], text);
const PDF = part(
  [
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Disposition: attachment; filename=a.pdf',
    'Content-Transfer-Encoding: base64',
  ],
  'AAAA',
);

for (const padding of [' ', '\t', ' \t  '])
  test(`white space behind a boundary hides no part: ${JSON.stringify(padding)}`, () => {
    const message = multipart('mixed', [plain('first'), PDF], { padding });
    assert.equal(read(message).text, 'first');
    assert.deepEqual(filesOf(message), [['a.pdf', 'application/pdf', '\0\0\0']]);
  });

test('what stands in a multipart that has no delimiter is text', () => {
  for (const type of [
    'multipart/mixed',
    'multipart/mixed; boundary=""',
    'multipart/mixed; boundary=missing',
    'multipart/alternative; charset=utf-8',
    'multipart/related; boundary="==="',
  ])
    assert.equal(read(part([`Content-Type: ${type}`], 'some text')).text, 'some text', type);
  const inner = part(['Content-Type: multipart/alternative; boundary=x'], 'inner');
  assert.equal(read(multipart('mixed', [inner, plain('second')])).text, 'inner\nsecond');
});

test('of two types, a multipart counts when it has parts, and else the other one, or the first', () => {
  const body = '--b\r\n\r\none\r\n--b--\r\n';
  const mixed = 'Content-Type: multipart/mixed; boundary=b';
  for (const header of [
    [mixed, 'Content-Type: text/plain'],
    ['Content-Type: text/plain', mixed],
    ['Content-Type: text', mixed],
  ])
    assert.equal(read(part(header, body)).text, 'one', header.join());
  assert.equal(read(part([mixed, 'Content-Type: text/html'], '<p>one</p>')).html, '<p>one</p>');
  assert.equal(
    read(part(['Content-Type: text/html', 'Content-Type: text/plain'], '<b>x</b>')).html,
    '<b>x</b>',
  );
  assert.equal(read(part(['Content-Type: html', 'Content-Type: text/html'], '<b>x</b>')).html, '<b>x</b>');
});

test('a type that is not valid is plain text (RFC 2045 section 5.2), in its charset', () => {
  for (const type of ['text', 'plain', 'text/', '/', 'text/plain/x', ''])
    assert.equal(read(part([`Content-Type: ${type}`], 'Hello there')).text, 'Hello there', type);
  assert.equal(read(part(['Content-Type: text; charset=koi8-r'], '\xc4\xc1')).text, 'да');
  assert.deepEqual(filesOf(part(['Content-Type: text', 'Content-Disposition: attachment'], 'x')), [
    ['attachment-1', 'text/plain', 'x'],
  ]);
});

test('text of 8 bits under a label that says nothing is UTF-8, else windows-1252', () => {
  for (const charset of [
    '',
    '; charset=us-ascii',
    '; charset=unknown-8bit',
    '; charset=x-nothing',
    '; charset=""',
  ]) {
    assert.equal(read(part([`Content-Type: text/plain${charset}`], 'caf\xe9 \x80')).text, 'café €', charset);
    assert.equal(read(part([`Content-Type: text/plain${charset}`], 'caf\xc3\xa9')).text, 'café', charset);
  }
  const quoted = part(['Content-Transfer-Encoding: quoted-printable'], 'caf=E9');
  assert.equal(read(quoted).text, 'café');
});

test('HTML without a charset is in the one that it names itself', () => {
  const page = (meta: string) => `<html><head>${meta}</head>\xe9\xd4</html>`;
  for (const [meta, text] of [
    ['<meta charset="koi8-r">', 'Ит'],
    ['<META http-equiv="Content-Type" content="text/html; charset=koi8-r">', 'Ит'],
    ["<meta charset='x-nothing'>", 'éÔ'],
    ['', 'éÔ'],
  ] as const) {
    assert.ok(read(html(page(meta))).html.includes(text), meta);
    const labelled = part(['Content-Type: text/html; charset=iso-8859-1'], page(meta));
    assert.ok(read(labelled).html.includes('éÔ'), meta);
  }
  const utf8 = html('<meta charset="koi8-r">\xc3\xa9');
  assert.ok(read(utf8).html.endsWith('é'));
});

test('ISO-2022-JP is read without a label, in bodies and in the header', () => {
  const message = octetsOf(
    'Subject: \x1b$B%F%9%H\x1b(B',
    'From: \x1b$B%F%9\x1b(B <a@b.example>',
    '',
    '\x1b$BF|K\\\x1b(B',
  );
  const { subject, from, text } = read(message);
  assert.deepEqual([subject, from, text], ['テスト', ['テス <a@b.example>'], '日本']);
});

test('octets of 8 bits in the header are UTF-8, else windows-1252', () => {
  const message = octetsOf(
    'Subject: Gr\xfc\xdfe',
    'From: J\xc3\xb6rg <j@b.example>',
    'To: J\xf6rg <j@b.example>',
    '',
    'x',
  );
  const { subject, from, to, fields } = read(message);
  assert.deepEqual([subject, from, to], ['Grüße', ['Jörg <j@b.example>'], ['Jörg <j@b.example>']]);
  assert.deepEqual(fields[0], { name: 'Subject', value: 'Grüße', text: 'Grüße' });
});

test('clear text behind a body in base64 is no part of it', () => {
  const encoded = (body: string) => part(['Content-Transfer-Encoding: base64'], body);
  for (const footer of [
    '-- \r\nfooter of list',
    'list',
    '____\r\nlist mailing list\r\nlist@x.example = home',
  ])
    assert.equal(read(encoded(`aGVsbG8=\r\n${footer}\r\n`)).text, 'hello', footer);
  // Three octets need no padding.
  for (const footer of ['-- \r\nfooter', 'footer of list', '\r\n____\r\nlist'])
    assert.equal(read(encoded(`Zm9v\r\nYmFy\r\n${footer}\r\n`)).text, 'foobar', footer);
  assert.equal(read(encoded('\r\nZm9v\r\n')).text, 'foo');
  assert.equal(read(encoded('Zm9v YmFy\r\nZm9v\r\n')).text, 'foobarfoo', 'spaces that mean nothing');
});

test('a text with a file name is a file, unless it is the text of the message', () => {
  const named = (disposition: string, name: string) =>
    part(
      [
        `Content-Type: text/plain${name}`,
        ...(disposition === '' ? [] : [`Content-Disposition: ${disposition}`]),
      ],
      'notes',
    );
  const files = (...parts: string[]) => filesOf(multipart('mixed', parts)).map(([name]) => name);
  const body = plain('body');
  assert.deepEqual(files(body, named('inline; filename=notes.txt', '; name=notes.txt')), ['notes.txt']);
  assert.deepEqual(files(body, named("inline; filename*=utf-8''n%C3%B6tes.txt", '')), ['nötes.txt']);
  assert.deepEqual(files(body, named('inline', '; name=notes.txt')), ['notes.txt']);
  assert.deepEqual(files(body, named('', '; name=notes.txt')), ['notes.txt']);
  assert.deepEqual(files(named('inline; filename=notes.txt', '')), ['notes.txt']);
  assert.deepEqual(files(body, html('<p>x</p>', 'Content-Disposition: inline; filename=x.html')), ['x.html']);
  assert.deepEqual(files(named('', '; name=body.txt'), plain('more')), []);
  assert.deepEqual(files(body, named('inline', '')), []);
  assert.deepEqual(files(body, named('form-data', '')), ['attachment-1']);
  assert.equal(read(named('inline; filename=a.txt', '')).text, 'notes');
  const forms = multipart('alternative', [named('inline; filename=a.txt', ''), html('<p>x</p>')]);
  assert.deepEqual([read(forms).text, filesOf(forms)], ['notes', []]);
});

test('the parts of a digest are messages, and each is a file', () => {
  const message = multipart('digest', [
    '\r\nSubject: one\r\n\r\nfirst',
    part(['Content-Type: message/rfc822'], 'Subject: two\r\n\r\nsecond'),
  ]);
  assert.deepEqual(filesOf(message), [
    ['attachment-1', 'message/rfc822', 'Subject: one\r\n\r\nfirst'],
    ['attachment-2', 'message/rfc822', 'Subject: two\r\n\r\nsecond'],
  ]);
  assert.equal(read(message).text, '');
});

test('a body whose empty line is missing is read', () => {
  assert.equal(read('From: a@b.example\r\nno field begins here\r\n').text, 'no field begins here\n');
  assert.equal(read('From: a@b.example\r\nno field\r\n\r\nmore').text, 'no field\n\nmore');
  const parts = multipart('mixed', ['without a header', 'Content-Type: text/plain\r\nbar\r\n']);
  assert.equal(read(parts).text, 'without a header\nbar\n');
  // A line that is no field in the middle of a header is passed over.
  assert.equal(read('From: a@b.example\r\nboundary=x\r\n folded\r\nSubject: s\r\n\r\ntext').text, 'text');
});

test('names of files are decoded, whatever form they have', () => {
  const name = (parameter: string) =>
    filesOf(octetsOf(`Content-Type: application/x-a; ${parameter}`, '', 'x'))[0]?.[0];
  assert.equal(name("name*=iso-8859-1'de'Gr%FC%DFe.txt"), 'Grüße.txt');
  assert.equal(name("name*0*=utf-8''Gr%C3%BC; name*1*=%C3%9F; name*2=e.txt"), 'Grüße.txt');
  assert.equal(name('name="=?utf-8?B?R3LDvMOfZS50eHQ=?="'), 'Grüße.txt');
  assert.equal(name('name=Gr\xfc\xdfe.txt'), 'Grüße.txt');
  assert.equal(name("name=plain.txt; name*=utf-8''ext%C3%A9nded.txt"), 'exténded.txt');
  assert.equal(name('name=my file.txt; x=y'), 'my file.txt');
  assert.equal(name("name*=utf-8''%3D%3Futf-8%3FQ%3Fa%3F%3D.txt"), '=?utf-8?Q?a?=.txt');
});

test('a file says what it is, and by which name the HTML calls it', () => {
  const [file] = read(
    part(
      [
        'Content-Type: application/octet-stream; name=photo.png',
        'Content-ID:  <logo@b.example> ',
        'Content-Disposition: INLINE',
      ],
      'png',
    ),
  ).files;
  assert.deepEqual(
    [file?.contentType, file?.contentId, file?.disposition, file?.sizeBytes],
    ['image/png', 'logo@b.example', 'inline', 3],
  );
  const encoding = part(
    ['Content-Type: application/x-a', 'Content-Transfer-Encoding: x-unknown'],
    'as it is',
  );
  assert.deepEqual(filesOf(encoding), [['attachment-1', 'application/x-a', 'as it is']]);
});

test('addresses name one mailbox each', () => {
  const from = (value: string) => read(octetsOf(`From: ${value}`, '', 'x')).from;
  assert.deepEqual(from('Ann (the boss) <ann@b.example>'), ['Ann <ann@b.example>']);
  assert.deepEqual(from('ann@b.example (Ann)'), ['Ann <ann@b.example>']);
  assert.deepEqual(from('"a b"@b.example'), ['"a b"@b.example']);
  assert.deepEqual(from('ann@b\xfccher.example'), ['ann@xn--bcher-kva.example']);
  assert.deepEqual(from('undisclosed-recipients:;, nobody'), []);
  assert.deepEqual(from('=?utf-8?B?QW5uIDxhbm5AYi5leGFtcGxlPg==?='), ['Ann <ann@b.example>']);
  assert.deepEqual(from('"=?utf-8?Q?M=C3=BCller=2C?= Ann" <ann@b.example>'), [
    '"Müller, Ann" <ann@b.example>',
  ]);
  assert.deepEqual(from('a@b.example\r\nFrom: c@b.example'), ['a@b.example', 'c@b.example']);
});

test('dates are those by which mailboxes sort', () => {
  const date = (value: string) => read(`Date: ${value}\r\n\r\n`).date;
  assert.equal(date('Mon, 2 Mar 2026 10:00:00 +0100 (CET)'), Date.UTC(2026, 2, 2, 9));
  assert.equal(date('2 Mar 26 10:00 EST'), Date.UTC(2026, 2, 2, 15));
  assert.equal(date('2026-03-02T10:00:00Z'), Date.UTC(2026, 2, 2, 10));
  assert.equal(date('tomorrow'), null);
});

test('a long part is cut before it is decoded, and says so', () => {
  const { isCut, text } = read(
    part(['Content-Transfer-Encoding: base64'], 'QUJD'.repeat(3 * 1024 * 1024 + 1)),
  );
  assert.deepEqual([isCut, text.length], [true, 4 * 1024 * 1024]);
});

test('mailboxes have the same parts', async () => {
  for (const message of [
    multipart('mixed', [plain('first'), PDF], { padding: ' ' }),
    multipart('digest', ['\r\nSubject: one\r\n\r\nfirst']),
    part(
      ['Content-Type: text/plain', 'Content-Type: multipart/mixed; boundary=b'],
      '--b\r\n\r\nfirst\r\n--b--\r\n',
    ),
    part(['Content-Transfer-Encoding: base64'], 'Zmlyc3Q=\r\nfooter of list\r\n'),
  ]) {
    const { search } = await readMailboxMessage(octetsOf(message));
    assert.match(search.body, /^(?:.*: .*\n)*\n*FIRST/, message);
    assert.doesNotMatch(search.body, /FOOTER|--B/);
  }
});
