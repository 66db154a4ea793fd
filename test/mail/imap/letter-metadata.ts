/** Annotations (RFC 5464), which every kind of session must keep the same, as transcripts like those of letter.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_ENTRIES, MAX_VALUE_OCTETS } from '../../../src/mail/imap/metadata.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { completes, ok, openerOf } from './letter.ts';

const open = openerOf(await createAccountMail());

test('METADATA: entries of a mailbox and of the server are set, returned and removed', async (t) => {
  const { mailbox, ask } = await open(t, []);
  assert.ok((await ok(ask, 'CAPABILITY')).join().split(' ').includes('METADATA'));
  assert.deepEqual(
    await ok(ask, `SETMETADATA ${mailbox} (/shared/comment "Ours" /Private/Comment "Mine")`),
    [],
  );
  assert.deepEqual(await ok(ask, `GETMETADATA ${mailbox} /PRIVATE/comment`), [
    `* METADATA ${mailbox} (/Private/Comment "Mine")`,
  ]);
  const both = `* METADATA ${mailbox} (/shared/comment "Ours" /Private/Comment "Mine")`;
  assert.deepEqual(await ok(ask, `getmetadata "${mailbox}" (/shared/comment /private/comment)`), [both]);
  // The examples of the specification have no parentheses.
  assert.deepEqual(await ok(ask, `GETMETADATA ${mailbox} /shared/comment /private/comment`), [both]);
  await ok(ask, `SETMETADATA "" (/private/vendor/test/${mailbox} "of the server")`);
  assert.deepEqual(await ok(ask, `GETMETADATA "" /private/vendor/test/${mailbox}`), [
    `* METADATA "" (/private/vendor/test/${mailbox} "of the server")`,
  ]);
  await ok(ask, `SETMETADATA ${mailbox} (/private/comment nil /shared/comment "New")`);
  assert.deepEqual(await ok(ask, `GETMETADATA ${mailbox} (/private/comment /shared/comment)`), [
    `* METADATA ${mailbox} (/private/comment NIL /shared/comment "New")`,
  ]);
  assert.deepEqual(await ok(ask, 'GETMETADATA "" /shared/admin'), ['* METADATA "" (/shared/admin NIL)']);
  await completes(ask, 'SETMETADATA "" (/shared/admin "mailto:me@test.example")', /^NO \[NOPERM\]/);
  for (const command of ['GETMETADATA nowhere /shared/comment', 'SETMETADATA nowhere (/shared/comment "x")'])
    await completes(ask, command, /^NO \[NONEXISTENT\]/);
  await ok(ask, 'UNSELECT');
  await ok(ask, `GETMETADATA ${mailbox} /shared/comment`);
});

test('METADATA: values keep their octets', async (t) => {
  const { mailbox, ask } = await open(t, []);
  for (const [sent, returned] of [
    ['""', '""'],
    ['"say \\"\\\\\\""', '"say \\"\\\\\\""'],
    ['{13+}\r\ntwo\r\nlines \xff\r', '{13}\r\ntwo\r\nlines \xff\r'],
    ['~{4+}\r\na\0b\r', '~{4}\r\na\0b\r'],
    ['~{2+}\r\nab', '"ab"'],
  ]) {
    await ok(ask, `SETMETADATA ${mailbox} (/private/comment ${sent})`);
    assert.deepEqual(await ok(ask, `GETMETADATA ${mailbox} /private/comment`), [
      `* METADATA ${mailbox} (/private/comment ${returned})`,
    ]);
  }
  await completes(ask, `SETMETADATA ${mailbox} (/private/comment {1+}\r\n\0)`, /^BAD/);
});

test('METADATA: DEPTH returns the entries below', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const names = ['/private/a', '/private/a/b', '/private/a/b/c', '/private/ab', '/private/a-b/c'];
  for (const name of names) await ok(ask, `SETMETADATA ${mailbox} (${name} "")`);
  const found = async (query: string) =>
    (await ok(ask, `GETMETADATA ${query}`)).join().match(/\/private[^ ]*/g) ?? [];
  assert.deepEqual(await found(`(DEPTH 0) ${mailbox} /private/a`), ['/private/a']);
  assert.deepEqual(await found(`(depth 1) ${mailbox} /private/a`), ['/private/a', '/private/a/b']);
  assert.deepEqual(await found(`${mailbox} (DEPTH Infinity) (/private/a/b /PRIVATE/A)`), [
    '/private/a/b',
    '/private/a/b/c',
    '/private/a',
  ]);
  assert.deepEqual((await found(`(DEPTH 1) ${mailbox} /private`)).sort(), ['/private/a', '/private/ab']);
  assert.equal((await found(`(DEPTH infinity) ${mailbox} ("/private" /shared)`)).length, names.length);
  assert.deepEqual(await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} /private/none`), []);
  for (const wrong of [
    '(DEPTH 2)',
    '(DEPTH)',
    '()',
    '(DEPTH 1 DEPTH 1)',
    '(WIDTH 1)',
    '(MAXSIZE x)',
    '(MAXSIZE)',
  ])
    await completes(ask, `GETMETADATA ${wrong} ${mailbox} /private/a`, /^BAD/);
  await completes(ask, `GETMETADATA (DEPTH 1) ${mailbox} (DEPTH 1) /private/a`, /^BAD/);
});

test('METADATA: MAXSIZE leaves longer values out, and tells the size of the longest', async (t) => {
  const { mailbox, ask } = await open(t, []);
  await ok(ask, `SETMETADATA ${mailbox} (/private/a "1234" /private/b "123456" /private/c "12345")`);
  const all = '(/private/a /private/b /private/c /private/d)';
  assert.deepEqual(await ask(`GETMETADATA ${mailbox} (MAXSIZE 4) ${all}`), [
    `* METADATA ${mailbox} (/private/a "1234" /private/d NIL)`,
    'OK [METADATA LONGENTRIES 6] GETMETADATA completed',
  ]);
  assert.deepEqual(await ask(`GETMETADATA (MAXSIZE 5 DEPTH 1) ${mailbox} /private/c`), [
    `* METADATA ${mailbox} (/private/c "12345")`,
    'OK GETMETADATA completed',
  ]);
  assert.deepEqual(await ask(`GETMETADATA (MAXSIZE 0) ${mailbox} /private/c`), [
    'OK [METADATA LONGENTRIES 5] GETMETADATA completed',
  ]);
});

test('METADATA: large values are returned whole', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const value = 'x'.repeat(MAX_VALUE_OCTETS);
  for (const name of ['a', 'b', 'c'])
    await ok(ask, `SETMETADATA ${mailbox} (/private/${name} {${value.length}+}\r\n${value})`);
  const returned = (await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} /private`)).join('');
  assert.equal(returned.split(`{${value.length}}\r\n${value}`).length, 4);
});

test('METADATA: a value that is too large and too many entries are refused, and nothing is changed', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const tooLarge = new RegExp(`^NO \\[METADATA MAXSIZE ${MAX_VALUE_OCTETS}\\]`);
  const value = 'x'.repeat(MAX_VALUE_OCTETS + 1);
  await completes(
    ask,
    `SETMETADATA ${mailbox} (/private/a "1" /private/b {${value.length}+}\r\n${value})`,
    tooLarge,
  );
  for (const sizeBytes of [300_000, 3_000_000_000])
    await completes(ask, `SETMETADATA ${mailbox} (/private/a {${sizeBytes}}`, tooLarge);
  await completes(ask, `SETMETADATA ${mailbox} (/private/a {300000+}\r\n${'x'.repeat(300_000)})`, tooLarge);
  // Small literals make a command too large as well.
  const many = ` /private/a {60000+}\r\n${'x'.repeat(60_000)}`.repeat(5);
  await completes(ask, `SETMETADATA ${mailbox} (${many.slice(1)})`, /^BAD \[LIMIT\]/);
  assert.deepEqual(await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} /private`), []);
  const entries = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => `/private/${from + index} ""`).join(' ');
  await ok(ask, `SETMETADATA ${mailbox} (${entries(0, MAX_ENTRIES - 1)})`);
  const before = await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} /private`);
  await completes(
    ask,
    `SETMETADATA ${mailbox} (/private/0 "x" ${entries(200, 202)})`,
    /^NO \[METADATA TOOMANY\]/,
  );
  await completes(ask, `SETMETADATA ${mailbox} (${entries(0, MAX_ENTRIES + 1)})`, /^NO \[METADATA TOOMANY\]/);
  const removed = entries(0, MAX_ENTRIES + 1).replaceAll('""', 'NIL');
  await completes(ask, `SETMETADATA ${mailbox} (${removed})`, /^NO \[METADATA TOOMANY\]/);
  assert.deepEqual(await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} /private`), before);
  await ok(ask, `SETMETADATA ${mailbox} (/private/0 NIL ${entries(200, 202)})`);
  await ok(ask, `SETMETADATA ${mailbox} (/private/1 "changed" /private/2 NIL)`);
});

test('METADATA: names of entries that are malformed are BAD', async (t) => {
  const { mailbox, ask } = await open(t, []);
  for (const name of [
    'comment',
    '/comment',
    '/private',
    '/shared/',
    '/private//a',
    '/private/a/',
    '//private/a',
    '"/private/a*"',
    '"/private/%"',
    '"/private/\x19"',
    '"/private/\xc3\xa9"',
    '/private/vendor',
    '/shared/vendor/token',
    '/privately/a',
    `/private/${'x'.repeat(255)}`,
    '""',
  ]) {
    await completes(ask, `GETMETADATA ${mailbox} ${name}`, /^BAD/);
    await completes(ask, `SETMETADATA ${mailbox} (${name} "x")`, /^BAD/);
  }
  for (const name of ['/private/vendors', '/shared/vendor/token/x', '"/private/a b"', '"/private/a\x1a"'])
    await ok(ask, `SETMETADATA ${mailbox} (${name} "x")`);
  await ok(ask, `GETMETADATA (DEPTH 1) ${mailbox} (/private/vendor /shared/vendor/token)`);
  for (const wrong of [
    `GETMETADATA ${mailbox}`,
    `GETMETADATA ${mailbox} ()`,
    `GETMETADATA ${mailbox} (${'/private/a '.repeat(MAX_ENTRIES + 1).trim()})`,
    `SETMETADATA ${mailbox}`,
    `SETMETADATA ${mailbox} ()`,
    `SETMETADATA ${mailbox} /private/a "x"`,
    `SETMETADATA ${mailbox} (/private/a)`,
    `SETMETADATA ${mailbox} (/private/a x)`,
    `SETMETADATA ${mailbox} (/private/a "x") more`,
  ])
    await completes(ask, wrong, /^BAD/);
});

test('METADATA: entries follow a mailbox that is renamed, and go with one that is deleted', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const get = async (name: string) => (await ok(ask, `GETMETADATA ${name} /private/comment`)).join();
  await ok(ask, `CREATE ${mailbox}/below`);
  for (const name of [mailbox, `${mailbox}/below`])
    await ok(ask, `SETMETADATA ${name} (/private/comment "${name}")`);
  await ok(ask, `RENAME ${mailbox} ${mailbox}r`);
  assert.match(await get(`${mailbox}r`), new RegExp(`"${mailbox}"`));
  assert.match(await get(`${mailbox}r/below`), new RegExp(`"${mailbox}/below"`));
  await ok(ask, `CREATE ${mailbox}`);
  assert.match(await get(mailbox), /NIL/);
  await ok(ask, 'UNSELECT');
  await ok(ask, `DELETE ${mailbox}r/below`);
  await ok(ask, `CREATE ${mailbox}r/below`);
  assert.match(await get(`${mailbox}r/below`), /NIL/);
  assert.match(await get(`${mailbox}r`), new RegExp(`"${mailbox}"`));
  await ok(ask, 'SETMETADATA INBOX (/private/comment "kept")');
  await ok(ask, `RENAME INBOX ${mailbox}old`);
  assert.match(await get('INBOX'), /"kept"/);
  assert.match(await get(`${mailbox}old`), /"kept"/);
  await ok(ask, 'SETMETADATA INBOX (/private/comment NIL)');
  assert.match(await get(`${mailbox}old`), /"kept"/);
});

test('METADATA: a client that has enabled it is told which entries others have changed', async (t) => {
  const { mailbox, ask, client, connect } = await open(t, []);
  const other = await connect('ENABLE METADATA');
  const silent = await connect();
  await ok(ask, `SETMETADATA ${mailbox} (/private/comment "x" /shared/comment "y")`);
  await ok(ask, `SETMETADATA "" (/private/vendor/test/${mailbox} "x")`);
  assert.deepEqual(await ok(other.ask, 'NOOP'), [
    `* METADATA ${mailbox} /private/comment /shared/comment`,
    `* METADATA "" /private/vendor/test/${mailbox}`,
  ]);
  assert.deepEqual(await ok(other.ask, 'NOOP'), []);
  await ok(ask, `SETMETADATA ${mailbox} (/private/comment "z")`);
  assert.deepEqual(await ok(other.ask, 'SEARCH ALL'), ['* SEARCH', `* METADATA ${mailbox} /private/comment`]);
  assert.deepEqual(await ok(silent.ask, 'NOOP'), []);
  assert.deepEqual(
    await ok(other.ask, `SETMETADATA ${mailbox} (/private/comment NIL /private/none NIL)`),
    [],
  );
  assert.deepEqual(await ok(other.ask, 'NOOP'), []);
  assert.match((await ask('ENABLE METADATA')).join(), /ENABLED METADATA/);
  assert.deepEqual(await ok(ask, 'NOOP'), []);
  for (const command of ['UNSELECT', 'NOOP']) await ok(other.ask, command);
  assert.match((await other.ask('IDLE')).join(), /^\+/);
  await ok(ask, `SETMETADATA ${mailbox} (/shared/comment NIL)`);
  assert.equal(await other.line(), `* METADATA ${mailbox} /shared/comment`);
  await ok(ask, `SETMETADATA ${mailbox} (/shared/comment "more")`);
  assert.equal(await other.line(), `* METADATA ${mailbox} /shared/comment`);
  other.send('DONE\r\n');
  await other.responses();
  assert.match((await ask('IDLE')).join(), /^\+/);
  await ok(other.ask, `SETMETADATA ${mailbox} (/private/comment "again")`);
  assert.equal(await client.line(), `* METADATA ${mailbox} /private/comment`);
  client.send('DONE\r\n');
  await client.responses();
});
