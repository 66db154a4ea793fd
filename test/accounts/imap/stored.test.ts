/** Messages are stored in an account, and clients find and read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/system/errors.ts';
import { completes, message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';

const mail = await createAccountMail();
const open = openerOf(mail);

test('SUBJECT, FROM, TO, CC and BCC find what the header has, however long it is, also in messages that are gone', async (t) => {
  const { ask, deliver, connect } = await open(t, []);
  const filler = ' filler\r\n'.repeat(400);
  await deliver('Subject: one\r\nFrom: =?utf-8?q?J=C3=B6rg?= <a@test.example>\r\n\r\nbody\r\n');
  await deliver(`Subject: two\r\nTo: b@test.example,\r\n${filler} end@test.example\r\n\r\nbody\r\n`);
  await deliver(
    'Subject:\r\nCc: c@test.example, "Lee\\, Ann" <c.lee (x) @test.example>\r\nBcc: d@test.example\r\n\r\nbody\r\n',
  );
  await ok(ask, 'NOOP');
  const expected = {
    'SUBJECT o': '1 2',
    'NOT SUBJECT one': '2 3',
    'HEADER Subject ""': '1 2 3',
    'CC ""': '3',
    'FROM {5+}\r\nJ\xc3\x96RG': '1',
    'TO END@': '2',
    'NOT TO end@': '1 3',
    'OR CC C@ SUBJECT two': '2 3',
    'OR BCC d@ BODY body': '1 2 3',
    'TO end@ SUBJECT one': '',
    'CC "Lee, Ann"': '3',
    'CC c.lee@test.example': '3',
    'CC "c.lee (x)"': '3',
    'HEADER Cc c.lee@test.example': '3',
  };
  const check = async () => {
    for (const [keys, numbers] of Object.entries(expected))
      assert.deepEqual(
        await ok(ask, `SEARCH CHARSET UTF-8 ${keys}`),
        [`* SEARCH${numbers && ' '}${numbers}`],
        keys,
      );
  };
  await check();
  const other = await connect();
  await ok(other.ask, 'STORE 1:* +FLAGS \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  await check();
});

test('which messages are recent is written only when it has changed', async (t) => {
  const { ask, deliver, mailbox } = await open(t, ['1']);
  const select = async () => {
    const lines = await ok(ask, `SELECT ${mailbox}`);
    return lines.find((line) => line.endsWith('RECENT'));
  };
  assert.equal(await select(), '* 0 RECENT');
  const commit = t.mock.method(mail.account.db, 'commit');
  assert.equal(await select(), '* 0 RECENT');
  assert.equal(commit.mock.callCount(), 0);
  await deliver(message('2'));
  assert.equal(await select(), '* 1 RECENT');
  assert.equal(await select(), '* 0 RECENT');
  await ok(ask, 'UNSELECT');
  const { recentFrom } = await mail.account.db.read
    .selectFrom('folders')
    .select('recentFrom')
    .where('name', '=', mailbox)
    .executeTakeFirstOrThrow();
  assert.equal(recentFrom, 3);
});

test('the prefix of a recipient stands in front of the message, in its size, its header and searches', async (t) => {
  const { mailbox, ask, connect } = await open(t, []);
  // Octets that are no text are kept too.
  const stored = Buffer.from('Subject: s\r\n\r\nb\0\n\xff', 'latin1');
  await mail.deliver(mailbox, stored, { prefix: 'Delivered-To: me@test.example\r\n' });
  await ok(ask, 'NOOP');
  const whole = `Delivered-To: me@test.example\r\n${stored.toString('latin1')}`;
  assert.deepEqual(await ok(ask, 'FETCH 1 (RFC822.SIZE BODY.PEEK[] BODY.PEEK[]<10.25>)'), [
    `* 1 FETCH (RFC822.SIZE ${whole.length} BODY[] {${whole.length}}\r\n${whole} BODY[]<10> {25}\r\n${whole.slice(10, 35)})`,
  ]);
  assert.deepEqual(await ok(ask, 'FETCH 1 BODY.PEEK[HEADER.FIELDS (delivered-to)]'), [
    '* 1 FETCH (BODY[HEADER.FIELDS (delivered-to)] {33}\r\nDelivered-To: me@test.example\r\n\r\n)',
  ]);
  assert.deepEqual(await ok(ask, 'FETCH 1 BODY.PEEK[TEXT]'), ['* 1 FETCH (BODY[TEXT] {4}\r\nb\0\n\xff)']);
  for (const key of [
    'HEADER Delivered-To me@',
    'TEXT "delivered-to: me@test"',
    `NOT SMALLER ${whole.length}`,
  ])
    assert.deepEqual(await ok(ask, `SEARCH ${key}`), ['* SEARCH 1'], key);
  const other = await connect();
  await ok(other.ask, 'STORE 1 +FLAGS \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await ok(ask, 'SEARCH TEXT "delivered-to: me@test"'), ['* SEARCH 1']);
});

test('SEARCH finds decoded text, dates in their own zones, sizes in CRLF octets, keywords and recent messages', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const html = Buffer.from('<p>Gr\u00fc\u00dfe <b>an</b> alle</p>').toString('base64');
  await mail.deliver(
    mailbox,
    `Date: Mon, 5 Jan 2026 23:30:00 -0500\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${html}\r\n`,
    { atMs: Date.UTC(2026, 0, 1, 23, 30), zoneMinutes: 60 },
  );
  await mail.deliver(mailbox, 'Subject: none\r\n\r\nplain\r\n', { flags: ['\\Seen', '$Junk'] });
  await ok(ask, 'NOOP');
  const gruesse = Buffer.from('gr\u00fc\u00dfe AN').toString('latin1');
  for (const [key, found] of [
    [`CHARSET UTF-8 BODY {${gruesse.length}+}\r\n${gruesse}`, ' 1'],
    ['BODY aGrapevine', ''],
    ['TEXT none', ' 2'],
    ['BODY none', ''],
    ['ON 2-Jan-2026', ' 1'],
    ['BEFORE 2-Jan-2026', ' 2'],
    ['SINCE 3-Jan-2026', ''],
    ['SENTON 5-Jan-2026', ' 1'],
    ['SENTSINCE 6-Jan-2026', ''],
    ['SENTBEFORE 6-Jan-2026', ' 1'],
    ['KEYWORD $junk', ' 2'],
    ['UNKEYWORD $Junk', ' 1'],
    ['SMALLER 25', ' 2'],
    ['LARGER 24', ' 1'],
    ['RECENT', ' 1 2'],
    ['NEW', ' 1'],
    ['OR SEEN ON 2-Jan-2026', ' 1 2'],
    ['NOT (SEEN BODY plain)', ' 1'],
  ])
    assert.deepEqual(await ok(ask, `SEARCH ${key}`), [`* SEARCH${found}`], key);
});

test('APPEND stores lines with CRLF, and encodes parts with NUL', async (t) => {
  const { mailbox, ask } = await open(t, []);
  await completes(ask, `APPEND ${mailbox} {10+}\r\nA: b\n\nx\ny\n`, /^OK/);
  assert.deepEqual(await ok(ask, 'FETCH 1 BODY.PEEK[]'), [
    '* 1 FETCH (BODY[] {14}\r\nA: b\r\n\r\nx\r\ny\r\n)',
  ]);
  await completes(ask, `APPEND ${mailbox} {9+}\r\nA: b\r\n\r\n\0`, /^NO \[CANNOT\]/);
  const part = 'Content-Type: application/x-own\r\nContent-Transfer-Encoding: binary\r\n\r\na\0\nb';
  const text = `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${part}\r\n--b--\r\n`;
  await completes(ask, `APPEND ${mailbox} ~{${text.length}+}\r\n${text}`, /^OK/);
  const [stored = ''] = await ok(ask, 'FETCH 2 BODY.PEEK[]');
  assert.doesNotMatch(stored, /\0/);
  assert.match(stored, /Content-Transfer-Encoding: base64\r\n\r\nYQAKYg==\r\n--b--\r\n\)$/);
  assert.deepEqual(await ok(ask, 'FETCH 2 BINARY.PEEK[1]'), ['* 2 FETCH (BINARY[1] ~{4}\r\na\0\nb)']);
});

test('keywords are announced before they are seen, keep their first spelling, and are limited', async (t) => {
  const { ask, connect } = await open(t, ['1']);
  const other = await connect();
  await ok(ask, 'STORE 1 +FLAGS.SILENT $One');
  assert.deepEqual(await ok(other.ask, 'NOOP'), [
    '* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $One)',
    '* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $One \\*)] Flags that can be kept',
    '* 1 FETCH (UID 1 FLAGS ($One))',
  ]);
  await ok(ask, 'STORE 1 +FLAGS.SILENT $ONE');
  assert.deepEqual((await ok(ask, 'FETCH 1 FLAGS')).at(-1), '* 1 FETCH (FLAGS ($One \\Recent))');
  await ok(ask, 'STORE 1 -FLAGS.SILENT $oNE');
  assert.deepEqual(await ok(ask, 'FETCH 1 FLAGS'), ['* 1 FETCH (FLAGS (\\Recent))']);
  const many = (from: number) => Array.from({ length: 100 }, (_, index) => `k${from + index}`).join(' ');
  await ok(ask, `STORE 1 +FLAGS.SILENT (${many(0)})`);
  await completes(ask, `STORE 1 +FLAGS.SILENT (${many(100)})`, /^NO \[CANNOT\]/);
  assert.equal((await ok(ask, 'SEARCH KEYWORD k100')).join(), '* SEARCH');
});

test('[OVERQUOTA] refuses APPEND before the message is sent, and COPY, but never MOVE', async (t) => {
  const small = await createAccountMail({ quotaBytes: 100 });
  const { mailbox, ask } = await openerOf(small)(t, ['1']);
  assert.match((await ask(`APPEND ${mailbox} {60}`)).join(), /^NO \[OVERQUOTA\]/);
  await completes(ask, `APPEND ${mailbox} {5+}\r\nA: b\n`, /^OK/);
  await completes(ask, `COPY 1:2 ${mailbox}`, /^NO \[OVERQUOTA\]/);
  await completes(ask, `MOVE 1:2 ${mailbox}`, /^OK/);
  assert.deepEqual(await ok(ask, `STATUS ${mailbox} (MESSAGES)`), [`* STATUS ${mailbox} (MESSAGES 2)`]);
});

test('REPLACE counts only the difference against the quota, and keeps the counts', async (t) => {
  const small = await createAccountMail({ quotaBytes: 100 });
  const { mailbox, ask } = await openerOf(small)(t, ['1']);
  const fits = 'x'.repeat(100);
  await completes(ask, `APPEND ${mailbox} {100}`, /^NO \[OVERQUOTA\]/);
  assert.match((await ask(`REPLACE 1 ${mailbox} {101}`)).join(), /^NO \[OVERQUOTA\]/);
  await completes(ask, `REPLACE 1 ${mailbox} {100+}\r\n${fits}`, /^OK/);
  const status = `* STATUS ${mailbox} (MESSAGES 1 DELETED 0 SIZE 100)`;
  assert.deepEqual(await ok(ask, `STATUS ${mailbox} (MESSAGES DELETED SIZE)`), [status]);
});

test('STORE, COPY and EXPUNGE keep the counts of folders and of the account', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2', '3']);
  const size = message('1').length;
  const status = async () => (await ok(ask, `STATUS ${mailbox} (MESSAGES UNSEEN DELETED SIZE)`)).join();
  const used = async () =>
    (await mail.account.db.read.selectFrom('account').select('usedBytes').executeTakeFirst())?.usedBytes ?? 0;
  const before = await used();
  await ok(ask, 'STORE 1:2 +FLAGS.SILENT (\\Seen \\Deleted)');
  await ok(ask, 'STORE 2 -FLAGS.SILENT \\Seen');
  await ok(ask, `COPY 1 ${mailbox}`);
  assert.equal(await status(), `* STATUS ${mailbox} (MESSAGES 4 UNSEEN 2 DELETED 3 SIZE ${4 * size})`);
  assert.equal(await used(), before + size);
  await ok(ask, 'EXPUNGE');
  assert.equal(await status(), `* STATUS ${mailbox} (MESSAGES 1 UNSEEN 1 DELETED 0 SIZE ${size})`);
  assert.equal(await used(), before - 2 * size);
});

test('the first command that asks for modseqs is answered with HIGHESTMODSEQ too', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  const highest = (lines: readonly string[]) => lines.filter((line) => line.includes('HIGHESTMODSEQ'));
  const lines = await ok(ask, 'FETCH 1 MODSEQ');
  const [, modseq] = /MODSEQ \((\d+)\)/.exec(lines.join()) ?? [];
  assert.deepEqual(highest(lines), [`* OK [HIGHESTMODSEQ ${modseq}] The highest modseq`]);
  assert.deepEqual(highest(await ok(ask, 'FETCH 1 MODSEQ')), []);
  assert.equal(highest(await ok(ask, `SELECT ${mailbox} (CONDSTORE)`)).length, 1);
});

test('while the disk is full, messages are read without setting \\Seen, and changes are refused', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  const { db } = mail.account;
  const { commit } = db;
  t.after(() => {
    db.commit = commit;
  });
  db.commit = async () => {
    throw new AppError('unavailable', 'The disk is full');
  };
  assert.match(
    (await ok(ask, 'FETCH 1 BODY[TEXT]')).join(),
    /^\* 1 FETCH \(BODY\[TEXT\] \{\d+\}\r\nbody of 1\r\n\)$/,
  );
  for (const command of ['STORE 1 +FLAGS \\Seen', `COPY 1 ${mailbox}`, `APPEND ${mailbox} {1+}\r\nx`])
    await completes(ask, command, /^NO \[UNAVAILABLE\]/);
  db.commit = commit;
  assert.match((await ok(ask, 'FETCH 1 BODY[TEXT]')).join(), /FLAGS \(\\Seen/);
});

test('one APPEND has at most 500 messages', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const messages = (count: number) => ' {6+}\r\nA: b\r\n'.repeat(count);
  assert.match((await ask(`APPEND ${mailbox}${messages(501)}`)).join(), /^NO \[LIMIT\]/);
  assert.match((await ask(`APPEND ${mailbox}${messages(500)}`)).at(-1) ?? '', /^OK \[APPENDUID \d+ 1:500\]/);
});

/** Returns the flags and the modseq of each message as they are in the database. */
async function storedFlags(mailbox: string): Promise<{ flags: number; modseq: number }[]> {
  return await mail.account.db.read
    .selectFrom('messages')
    .innerJoin('folders', 'folders.id', 'messages.folderId')
    .select(['messages.flags', 'messages.modseq'])
    .where('folders.name', '=', mailbox)
    .orderBy('messages.uid')
    .execute();
}

test('a content that is not what was stored ends the connection at FETCH, and a search that fails saves nothing', async (t) => {
  const { client, ask } = await open(t, ['damaged']);
  const { id } = await mail.account.db.read
    .selectFrom('contents')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  await mail.account.db.maintain((connection) =>
    connection.prepare('UPDATE contentBytes SET body = ? WHERE contentId = ?').run(Buffer.from('other'), id),
  );
  assert.equal((await ok(ask, 'FETCH 1 BODY.PEEK[HEADER]')).length, 1);
  await ok(ask, 'SEARCH RETURN (SAVE) ALL');
  // The text is searched as it was stored.
  assert.deepEqual(await ok(ask, 'SEARCH TEXT "body of damaged"'), ['* SEARCH 1']);
  const failing = t.mock.method(mail.account.search, 'find', () => Promise.reject(new Error('no')));
  await completes(ask, 'SEARCH RETURN (SAVE) TEXT x', /^NO \[SERVERBUG\]/);
  failing.mock.restore();
  assert.deepEqual(await ok(ask, 'SEARCH $'), ['* SEARCH']);
  client.send('x FETCH 1 BODY.PEEK[]\r\n');
  assert.deepEqual(await client.rest(), ['* BYE [SERVERBUG] A message could not be read']);
});

test('changes and keywords that arrive while a folder is loaded are not lost', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1']);
  await ok(ask, 'UNSELECT');
  // The folder falls out of memory when others are selected.
  for (const other of ['INBOX', 'Sent', 'Drafts', 'Junk']) await ok(ask, `SELECT ${other}`);
  const selecting = connect();
  await mail.deliver(mailbox, message('2'), { flags: ['$late'] });
  await mail.deliver(mailbox, message('3'));
  const client = await selecting;
  await ok(client.ask, 'NOOP');
  assert.match((await ok(client.ask, 'FETCH 2 (UID FLAGS)')).join(), /\* 2 FETCH \(UID 2 FLAGS \(\$late/);
  assert.deepEqual(await ok(client.ask, 'UID SEARCH ALL'), ['* SEARCH 1 2 3']);
});

test('a mailbox that is opened read-only keeps its messages as they are', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(ask, `EXAMINE ${mailbox}`);
  assert.doesNotMatch((await ok(ask, 'FETCH 1 BODY[]')).join(), /FLAGS/);
  await completes(ask, 'STORE 1 +FLAGS \\Seen', /^NO \[READ-ONLY\]/);
  await ok(ask, 'CLOSE');
  const flags = (await storedFlags(mailbox)).map(({ flags }) => flags);
  assert.deepEqual(flags, [8]);
});

test('IMAP4rev2 never mentions \\Recent', async (t) => {
  const { ask, deliver } = await open(t, ['1'], 'ENABLE IMAP4rev2');
  await deliver(message('2'));
  assert.deepEqual(await ok(ask, 'NOOP'), ['* 2 EXISTS']);
  assert.deepEqual(await ok(ask, 'FETCH 1:2 FLAGS'), ['* 1 FETCH (FLAGS ())', '* 2 FETCH (FLAGS ())']);
});

test('PREVIEW, SAVEDATE and OBJECTID tell what is stored', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const gruen = 'gr\u00fcn';
  await mail.deliver(mailbox, `Content-Type: text/plain; charset=utf-8\r\n\r\n${gruen}\r\nsecond line\r\n`);
  await ok(ask, 'NOOP');
  const utf8 = Buffer.from(`${gruen} second line`).toString('latin1');
  assert.deepEqual(await ok(ask, 'FETCH 1 (PREVIEW (LAZY) SAVEDATE)'), [
    `* 1 FETCH (PREVIEW {${utf8.length}}\r\n${utf8} SAVEDATE " 1-Jan-2026 00:00:00 +0000")`,
  ]);
  await ok(ask, 'ENABLE UTF8=ACCEPT');
  assert.deepEqual(await ok(ask, 'FETCH 1 PREVIEW'), [`* 1 FETCH (PREVIEW "${utf8}")`]);
  const [line = ''] = await ok(ask, 'FETCH 1 (EMAILID THREADID)');
  const [, id] = /^\* 1 FETCH \(EMAILID \((C[\w-]+)\) THREADID NIL\)$/.exec(line) ?? [];
  assert.ok(id, line);
  await ok(ask, `COPY 1 ${mailbox}`);
  assert.equal((await ok(ask, 'FETCH 2 EMAILID')).at(-1), `* 2 FETCH (EMAILID (${id}))`);
  for (const [key, found] of [
    [`EMAILID ${id}`, ' 1 2'],
    ['EMAILID M1', ''],
    ['THREADID T1', ''],
    ['SAVEDATESUPPORTED', ' 1 2'],
    ['SAVEDON 1-Jan-2026', ' 1 2'],
    ['SAVEDBEFORE 1-Jan-2026', ''],
    ['SAVEDSINCE 2-Jan-2026', ''],
    ['UID 1 OLDER 3600', ' 1'],
    ['UID 1 YOUNGER 3600', ''],
  ])
    assert.deepEqual(await ok(ask, `SEARCH ${key}`), [`* SEARCH${found}`], key);
});

test('MAILBOXID names a mailbox, also when it was renamed', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const created = await ask(`CREATE ${mailbox}/a`);
  const [, id] = /^OK \[MAILBOXID \((F[\w-]+)\)\]/.exec(created.join()) ?? [];
  assert.ok(id, created.join());
  await ok(ask, `RENAME ${mailbox}/a ${mailbox}/b`);
  assert.deepEqual(await ok(ask, `STATUS ${mailbox}/b (MAILBOXID)`), [
    `* STATUS ${mailbox}/b (MAILBOXID (${id}))`,
  ]);
  assert.ok(
    (await ok(ask, `SELECT ${mailbox}/b`)).includes(`* OK [MAILBOXID (${id})] The id of the mailbox`),
  );
});

test('CREATE with a special use gives it once, and refuses what no mailbox can be used for', async (t) => {
  const { mailbox, ask } = await open(t, []);
  for (const name of ['Trash', 'Sent', 'Junk']) await ok(ask, `DELETE ${name}`);
  await completes(ask, `CREATE ${mailbox}/bin (USE (\\trash))`, /^OK/);
  assert.deepEqual(await ok(ask, `LIST (SPECIAL-USE) "" ${mailbox}/*`), [
    `* LIST (\\HasNoChildren \\Trash) "/" ${mailbox}/bin`,
  ]);
  for (const uses of ['\\Trash', '\\All', '\\Sent \\Junk', '\\Own'])
    await completes(ask, `CREATE ${mailbox}/x (USE (${uses}))`, /^NO \[USEATTR\]/);
  await completes(ask, `CREATE ${mailbox}/x (FOO)`, /^BAD/);
});

test('a message with too large a header is refused', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const text = (lines: number) => `${'A: bcdefgh\r\n'.repeat(lines)}\r\nbody`;
  const append = (octets: string) => ask(`APPEND ${mailbox} {${octets.length}+}\r\n${octets}`);
  assert.match((await append(text(21_000))).join(), /^\* 1 EXISTS.*OK \[APPENDUID/);
  assert.match((await append(text(22_000))).join(), /^NO \[TOOBIG\]/);
});

test('a search of many criteria and a list of many patterns are answered', async (t) => {
  const { ask } = await open(t, ['1', '2', '3']);
  const subjects = Array.from({ length: 2_000 }, (_, index) => `OR SUBJECT no${index} `).join('');
  assert.deepEqual(await ok(ask, `SEARCH ${subjects}SUBJECT 2`), ['* SEARCH 2']);
  const patterns = Array.from({ length: 98 }, (_, index) => `*${index}x*`).join(' ');
  assert.deepEqual(await ok(ask, `LIST "" (${patterns} INBO% I*X)`), ['* LIST (\\HasNoChildren) "/" INBOX']);
});

test('QUOTA tells the storage in units of 1,024 octets, and DELETED-STORAGE what EXPUNGE would free', async (t) => {
  const small = await createAccountMail({ quotaBytes: 10_000 });
  const { mailbox, ask, deliver } = await openerOf(small)(t, []);
  await deliver(`A: b\r\n\r\n${'x'.repeat(1_024)}`);
  await ok(ask, 'NOOP');
  assert.deepEqual(await ok(ask, 'GETQUOTA ""'), ['* QUOTA "" (STORAGE 2 9)']);
  assert.deepEqual(await ok(ask, `GETQUOTAROOT ${mailbox}`), [
    `* QUOTAROOT ${mailbox} ""`,
    '* QUOTA "" (STORAGE 2 9)',
  ]);
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  assert.deepEqual(await ok(ask, `STATUS ${mailbox} (DELETED-STORAGE)`), [
    `* STATUS ${mailbox} (DELETED-STORAGE 1032)`,
  ]);
  await completes(ask, 'GETQUOTA other', /^NO \[NONEXISTENT\]/);
  for (const [sent, shown] of [
    ['nowhere', 'nowhere'],
    ['""', '""'],
    ['"a b/c"', '"a b/c"'],
  ])
    assert.deepEqual(await ok(ask, `GETQUOTAROOT ${sent}`), [
      `* QUOTAROOT ${shown} ""`,
      '* QUOTA "" (STORAGE 2 9)',
    ]);
  await completes(ask, 'GETQUOTAROOT "a&b"', /^NO \[CANNOT\]/);
  await completes(ask, 'SETQUOTA "" (STORAGE 1)', /^NO \[NOPERM\]/);
  const unlimited = await open(t, []);
  assert.deepEqual(await ok(unlimited.ask, 'GETQUOTA ""'), ['* QUOTA "" ()']);
});

test('THREAD reads references of any length', async (t) => {
  const { ask, deliver } = await open(t, []);
  const long = Array.from({ length: 300 }, (_, index) => `<${'x'.repeat(40)}${index}@test.example>`).join(
    '\r\n ',
  );
  await deliver('Message-ID: <first@test.example>\r\n\r\nbody\r\n');
  await deliver(`References: <first@test.example>\r\n ${long}\r\n\r\nbody\r\n`);
  await deliver(`References: ${long}\r\n\r\nbody\r\n`);
  await deliver('In-Reply-To: <first@test.example>\r\n\r\nbody\r\n');
  await ok(ask, 'NOOP');
  assert.deepEqual(await ok(ask, 'THREAD REFERENCES UTF-8 ALL'), ['* THREAD (1 (2)(3)(4))']);
  assert.deepEqual(await ok(ask, 'UID THREAD ORDEREDSUBJECT UTF-8 UID 2:3'), ['* THREAD (2 3)']);
});
