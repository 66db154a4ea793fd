/** Messages that APPEND and REPLACE put together (RFC 4469), as transcripts like those of letter.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/mail/imap/options.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { completes, numbersOf, ok, openerOf } from './letter.ts';

const open = openerOf(await createAccountMail());

const MESSAGE = [
  'Subject: two parts',
  'From: a@test.example',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'first',
  '--b',
  'Content-Type: application/zip',
  'Content-Transfer-Encoding: base64',
  '',
  'c2Vjb25k',
  '--b--',
  '',
].join('\r\n');

const text = (octets: string) => `TEXT {${Buffer.byteLength(octets, 'latin1')}+}\r\n${octets}`;

test('CATENATE: a message is put together from texts and from parts of messages, which stay unseen', async (t) => {
  const { mailbox, ask, deliver } = await open(t, []);
  await deliver(MESSAGE);
  await ok(ask, 'NOOP');
  assert.ok((await ok(ask, 'CAPABILITY')).join().split(' ').includes('CATENATE'));
  const [uidValidity] = numbersOf('UIDVALIDITY', await ok(ask, `STATUS ${mailbox} (UIDVALIDITY)`));
  const url = (part: string) => `URL "/${mailbox};UIDVALIDITY=${uidValidity}/;UID=1/;section=${part}"`;
  const parts = [
    url('HEADER'),
    text('\r\n--b\r\n'),
    url('1.MIME'),
    url('1'),
    text('\r\n--b\r\nContent-Type: text/plain\r\n\r\nstripped\r\n--b--\r\n'),
  ];
  const answer = await ask(
    `APPEND ${mailbox} (\\Draft) "25-Nov-2025 10:00:00 +0000" CATENATE (${parts.join(' ')})`,
  );
  assert.match(answer.at(-1) ?? '', new RegExp(`^OK \\[APPENDUID ${uidValidity} 2\\]`));
  const expected = [
    MESSAGE.slice(0, MESSAGE.indexOf('--b')),
    '\r\n--b\r\n',
    'Content-Type: text/plain\r\n\r\n',
    'first',
    '\r\n--b\r\nContent-Type: text/plain\r\n\r\nstripped\r\n--b--\r\n',
  ].join('');
  const fetched = (await ok(ask, 'UID FETCH 2 (FLAGS INTERNALDATE BODY.PEEK[])')).join();
  assert.match(fetched, /FLAGS \(\\Draft \\Recent\) INTERNALDATE "25-Nov-2025 10:00:00 \+0000"/);
  assert.ok(fetched.includes(`{${expected.length}}\r\n${expected})`), fetched);
  assert.match((await ok(ask, 'FETCH 1 FLAGS')).join(), /FLAGS \(\\Recent\)/);
});

test('CATENATE: URLs name sections and ranges, by paths from the root and from the selected mailbox', async (t) => {
  const { mailbox, ask, deliver } = await open(t, []);
  await deliver(MESSAGE);
  await ok(ask, `CREATE ${mailbox}/&AOQ-;x`);
  await ok(ask, `APPEND ${mailbox}/&AOQ-;x {3+}\r\nodd`);
  await ok(ask, 'NOOP');
  const [uidValidity] = numbersOf('UIDVALIDITY', await ok(ask, `STATUS ${mailbox} (UIDVALIDITY)`));
  const read = async (url: string) => {
    const appended = await ask(`APPEND ${mailbox} CATENATE (${text('[')} URL "${url}" ${text(']')})`);
    const [uid] = /\d+(?=\] APPEND)/.exec(appended.at(-1) ?? '') ?? [];
    if (uid === undefined) return appended.at(-1);
    const [, content] =
      /BODY\[\] \{\d+\}\r\n\[([\s\S]*)\]\)/.exec((await ok(ask, `UID FETCH ${uid} BODY.PEEK[]`)).join()) ??
      [];
    return content;
  };
  for (const [url, content] of [
    [`/${mailbox}/;UID=1`, MESSAGE],
    [`/${mailbox}/;uid=1/;SECTION=2`, 'c2Vjb25k'],
    [
      `/${mailbox}/;UID=1/;SECTION=2.mime`,
      'Content-Type: application/zip\r\nContent-Transfer-Encoding: base64\r\n\r\n',
    ],
    [`/${mailbox}/;UID=1/;SECTION=HEADER.FIELDS%20(SUBJECT)`, 'Subject: two parts\r\n\r\n'],
    [
      `/${mailbox}/;UID=1/;SECTION=header.fields.not%20(%22Content-Type%22%20from)`,
      'Subject: two parts\r\n\r\n',
    ],
    [`/${mailbox}/;UID=1/;SECTION=TEXT/;PARTIAL=3.9`, '\r\nContent'],
    [`/${mailbox}/;UID=1/;PARTIAL=9.9`, 'two parts'],
    [`/${mailbox}/;UID=1/;SECTION=1/;PARTIAL=3`, 'st'],
    [`/${mailbox}/;UID=1/;PARTIAL=99999`, ''],
    [`/${mailbox}/%C3%A4%3Bx/;UID=1`, 'odd'],
    [`/${mailbox}%2F%c3%a4%3Bx/;UID=1`, 'odd'],
    [`;UID=1/;SECTION=1`, 'first'],
    [`./;UID=1/;SECTION=1`, 'first'],
    [`;UIDVALIDITY=${uidValidity}/;UID=1/;SECTION=1`, 'first'],
    ['%C3%A4%3Bx/;UID=1', 'odd'],
    [`../${mailbox}/;UID=1/;SECTION=1`, 'first'],
    [`/nowhere/../${mailbox}/./;UID=1/;SECTION=1`, 'first'],
  ])
    assert.equal(await read(url ?? ''), content, url);
  await ok(ask, 'UNSELECT');
  assert.match(
    (await ask(`APPEND ${mailbox} CATENATE (URL ";UID=1")`)).at(-1) ?? '',
    /^NO \[BADURL ;UID=1\]/,
  );
  await ok(
    ask,
    `APPEND ${mailbox} CATENATE (URL "${mailbox}/;UID=1" URL {${mailbox.length + 8}+}\r\n/${mailbox}/;UID=1)`,
  );
  await ok(ask, `APPEND ${mailbox} CATENATE (URL ${mailbox}/;UID=1)`);
});

test('CATENATE: [BADURL] tells the first URL that names nothing, and nothing is added', async (t) => {
  const { mailbox, client, ask, deliver } = await open(t, []);
  await deliver(MESSAGE);
  await ok(ask, 'NOOP');
  for (const url of [
    '',
    '/',
    `/${mailbox}`,
    `/${mailbox}/;UID=2`,
    `/${mailbox}/;UID=0`,
    `/${mailbox}/;UID=4294967296`,
    `/${mailbox};UIDVALIDITY=1/;UID=1`,
    `/${mailbox};UID=1`,
    '/;UID=1',
    '/nowhere/;UID=1',
    `/${mailbox}/;UID=1/;SECTION=3`,
    `/${mailbox}/;UID=1/;SECTION=2.HEADER`,
    `/${mailbox}/;UID=1/;SECTION=WHOLE`,
    `/${mailbox}/;UID=1/;SECTION=`,
    `/${mailbox}/;UID=1/;SECTION=1%5D`,
    `/${mailbox}/;UID=1/;PARTIAL=0.0`,
    `/${mailbox}/;UID=1/;PARTIAL=x`,
    `/${mailbox}/;UID=1/;PARTIAL=0.4/;SECTION=1`,
    `/${mailbox}/;UID=1;EXPIRE=2030-01-01T00:00:00Z;URLAUTH=anonymous`,
    `/${mailbox}/;UID=1?x`,
    `/${mailbox}/;UID=1#x`,
    `/${mailbox}/%FF/;UID=1`,
    `/${mailbox}%00/;UID=1`,
    `imap://user@mail.test/${mailbox}/;UID=1`,
    `//mail.test/${mailbox}/;UID=1`,
    `http://mail.test/${mailbox}/;UID=1`,
  ]) {
    const answer = (await ask(`APPEND ${mailbox} CATENATE (${text('x')} URL "${url}" URL "worse")`)).at(-1);
    assert.ok(answer?.startsWith(`NO [BADURL ${url}] `), `${url}: ${answer}`);
  }
  for (const [url, shown] of [
    ['"/a b]\\"\\\\"', '/a%20b%5D%22%5C'],
    ['{6+}\r\n/\xc3\xa4\r\nx', '/%C3%A4%0D%0Ax'],
  ]) {
    const answer = (await ask(`APPEND ${mailbox} CATENATE (URL ${url})`)).at(-1);
    assert.ok(answer?.startsWith(`NO [BADURL ${shown}] `), answer);
  }
  // The client is not asked for a text behind a bad URL, and a text that it sends anyway is skipped.
  await completes(ask, `APPEND ${mailbox} CATENATE (URL "/bad" TEXT {3}`, /^NO \[BADURL/);
  await completes(
    ask,
    `APPEND ${mailbox} CATENATE (URL "/bad" ${text('x\r\ny')} URL "/b" ${text('z')}) {1+}\r\nx`,
    /^NO \[BADURL/,
  );
  assert.match((await ask(`APPEND ${mailbox} CATENATE (TEXT {3}`)).join(), /^\+/);
  client.send('abc URL "/bad" TEXT {3}\r\n');
  assert.match((await client.responses()).at(-1) ?? '', /^NO \[BADURL/);
  assert.deepEqual(await ok(ask, 'UID SEARCH ALL'), ['* SEARCH 1']);
});

test('CATENATE: a client is asked for each text, and texts may be empty', async (t) => {
  const { mailbox, client, ask } = await open(t, []);
  assert.match((await ask(`APPEND ${mailbox} CATENATE (TEXT {3}`)).join(), /^\+/);
  client.send('abc TEXT {0}\r\n');
  assert.match((await client.responses()).join(), /^\+/);
  client.send(' UTF8 (~{4}\r\n');
  assert.match((await client.responses()).join(), /^\+/);
  client.send('d\xc3\xa4f) TEXT {1}\r\n');
  assert.match((await client.responses()).join(), /^\+/);
  client.send('g)\r\n');
  assert.match((await client.responses()).at(-1) ?? '', /^OK \[APPENDUID \d+ 1\]/);
  assert.match((await ok(ask, 'FETCH 1 BODY.PEEK[]')).join(), /\{8\}\r\nabcd\xc3\xa4fg\)/);
  await completes(ask, `APPEND ${mailbox} CATENATE (${text('')})`, /^NO \[CANNOT\]/);
});

test('CATENATE: with MULTIAPPEND all messages are added or none', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  const url = `URL "/${mailbox}/;UID=1"`;
  const answer = await ask(
    `APPEND ${mailbox} (\\Seen) CATENATE (${url} ${text('x')}) {3+}\r\nraw (\\Flagged) CATENATE (${text('y')}) UTF8 (~{1+}\r\nz) CATENATE (${url})`,
  );
  assert.match(answer.at(-1) ?? '', /^OK \[APPENDUID \d+ 2:6\]/);
  assert.deepEqual(numbersOf('RFC822.SIZE', await ok(ask, 'FETCH 3:5 RFC822.SIZE')), [3, 1, 1]);
  assert.match((await ok(ask, 'FETCH 4 FLAGS')).join(), /\\Flagged/);
  await completes(
    ask,
    `APPEND ${mailbox} {1+}\r\nx CATENATE (${text('y')} URL "/bad")`,
    /^NO \[BADURL \/bad\]/,
  );
  await completes(ask, `APPEND ${mailbox} CATENATE (${text('y')}) (\\Seen)`, /^BAD/);
  assert.deepEqual(await ok(ask, 'SEARCH ALL'), ['* SEARCH 1 2 3 4 5 6']);
});

test('CATENATE: REPLACE puts the next version of a message together from the one that it replaces', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2']);
  const lines = await ok(
    ask,
    `UID REPLACE 1 ${mailbox} (\\Draft) CATENATE (${text('To: b@test.example\r\n')} URL "/${mailbox}/;UID=1")`,
  );
  assert.match(lines.join('\n'), /APPENDUID \d+ 3\].*\n\* 1 EXPUNGE\n\* 2 EXISTS/);
  assert.match(
    (await ok(ask, 'UID FETCH 3 BODY.PEEK[HEADER]')).join(),
    /To: b@test.example\r\nSubject: 1\r\n/,
  );
  await completes(ask, `REPLACE 1 ${mailbox} CATENATE (URL ";UID=9")`, /^NO \[BADURL ;UID=9\]/);
  await completes(ask, `REPLACE 1 ${mailbox} CATENATE (${text('x')}) CATENATE (${text('y')})`, /^BAD/);
  assert.deepEqual(await ok(ask, 'UID SEARCH ALL'), ['* SEARCH 2 3']);
});

test('CATENATE: texts beyond the maximum size of a message are TOOBIG, and malformed parts BAD', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  const limit = DEFAULT_LIMITS.messageBytes;
  await completes(ask, `APPEND ${mailbox} CATENATE (TEXT {${limit + 1}}`, /^NO \[TOOBIG\]/);
  await completes(ask, `APPEND ${mailbox} CATENATE (${text('x')} TEXT {${limit}}`, /^NO \[TOOBIG\]/);
  const url = `URL "/${mailbox}/;UID=1"`;
  for (const wrong of [
    '()',
    url,
    `(${url}`,
    `(${url}) x`,
    '(URL)',
    '(TEXT "x")',
    '(TEXT x)',
    `(PART "x")`,
    `(${text('x')}${url})`,
    `(${text('x')}`,
    '(UTF8 ~{1+}\r\nx)',
    '(UTF8 (~{1+}\r\nx)',
    `(URL {20000}`,
  ])
    await completes(ask, `APPEND ${mailbox} CATENATE ${wrong}`, /^BAD/);
  await completes(ask, `APPEND nowhere CATENATE (TEXT {9}`, /^NO \[TRYCREATE\]/);
  assert.deepEqual(await ok(ask, 'SEARCH ALL'), ['* SEARCH 1']);
  for (const loose of [`(${url}) `, `(${url}  ${url})`, ` ( ${url} )`])
    await ok(ask, `APPEND ${mailbox} CATENATE ${loose}`);
});
