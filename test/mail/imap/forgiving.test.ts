/** Commands as real clients send them beside the grammar, where they mean only one thing. Other servers take them too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startServer } from './fixture.ts';

async function open(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t);
  await server.mail.deliver('INBOX', 'Subject: one Jörg\r\n\r\nbody\r\n');
  await server.mail.deliver('INBOX', 'Subject: two\r\n\r\nbody (a*b\\c)\r\n');
  const { ask, mail } = { ...(await server.open('SELECT INBOX')), mail: server.mail };
  /** Returns the untagged responses of a command that must succeed. */
  const ok = async (command: string): Promise<string[]> => {
    const lines = await ask(command);
    assert.match(lines.at(-1) ?? '', /^OK/, command);
    return lines.slice(0, -1);
  };
  return { ask, ok, mail };
}

test('spaces behind a command and between its arguments mean nothing', async (t) => {
  const { ok } = await open(t);
  for (const command of [
    ...[
      'NOOP ',
      'CAPABILITY  ',
      ' NOOP',
      'CHECK ',
      'NAMESPACE ',
      'ID NIL ',
      'ENABLE  CONDSTORE ',
      'EXPUNGE ',
    ],
    ...['SELECT  INBOX ', 'SELECT INBOX ()', 'EXAMINE INBOX ( CONDSTORE )', 'SELECT "INBOX"  (CONDSTORE) '],
    ...['CREATE  a ', 'SUBSCRIBE a ', 'CREATE b ( USE ( \\Junk ) )', 'DELETE  a ', 'GETQUOTAROOT INBOX '],
    ...[
      'LSUB  "" * ',
      'LIST ""  "%" ',
      'LIST ( SUBSCRIBED )  "" ( * )  RETURN ( CHILDREN ) ',
      'LIST () "" *',
    ],
    ...['STATUS INBOX  ( MESSAGES UNSEEN ) ', 'CLOSE '],
  ])
    await ok(command);
  await ok('SELECT INBOX');
  for (const command of ['FETCH 1  FLAGS ', 'FETCH  1 ( FLAGS )', 'FETCH 1 (FLAGS ) ', 'fetch 1 (flags)'])
    assert.deepEqual(await ok(command), ['* 1 FETCH (FLAGS ())'], command);
  for (const command of [
    ...[
      'SEARCH  SUBJECT  two ',
      'SEARCH ( SUBJECT two )',
      'SEARCH NOT  ( SUBJECT one ) ',
      'SEARCH  ALL  SUBJECT two',
    ],
    ...['SEARCH OR  SUBJECT two  SUBJECT  none ', 'SEARCH CHARSET  UTF-8  SUBJECT two', 'search subject TWO'],
  ])
    assert.deepEqual(await ok(command), ['* SEARCH 2'], command);
  assert.deepEqual(await ok('SEARCH RETURN  ( COUNT )  ALL '), ['* ESEARCH (TAG "t38") COUNT 2']);
  assert.deepEqual(await ok('SORT  ( REVERSE  ARRIVAL )  UTF-8  ALL '), ['* SORT 1 2']);
  assert.deepEqual(await ok('THREAD  REFERENCES  UTF-8  ALL '), ['* THREAD (1)(2)']);
  assert.deepEqual(await ok('UID  FETCH 1:*  UID '), ['* 1 FETCH (UID 1)', '* 2 FETCH (UID 2)']);
  await ok('STORE 1  +FLAGS.SILENT  ( \\Seen ) ');
  await ok('STORE 1 ( UNCHANGEDSINCE  1000 ) +FLAGS.SILENT (\\Seen )');
  await ok('UID  COPY  1  INBOX ');
  await ok('APPEND  INBOX  ( \\Seen )  {4+}\r\nA: b');
  await ok('APPEND  {5+}\r\nINBOX  {4+}\r\nA: b ');
});

test('DONE may have a space behind it', async (t) => {
  const server = await startServer(t);
  const client = await server.open('SELECT INBOX');
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  client.send('done \r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
});

test('search texts come in any charset of mail, under any of its names', async (t) => {
  const { ok, ask } = await open(t);
  for (const [charset, text] of [
    ['UTF-8', 'J\xc3\xb6rg'],
    ['utf8', 'J\xc3\xb6rg'],
    ['"UTF8"', 'J\xc3\xb6rg'],
    ['ISO-8859-1', 'J\xf6rg'],
    ['iso-8859-15', 'J\xf6rg'],
    ['latin1', 'J\xf6rg'],
    ['WINDOWS-1252', 'J\xf6rg'],
    ['IBM850', 'J\x94rg'],
  ]) {
    assert.deepEqual(await ok(`SEARCH CHARSET ${charset} SUBJECT "${text}"`), ['* SEARCH 1'], charset);
    assert.deepEqual(await ok(`SEARCH CHARSET ${charset} SUBJECT {${text?.length}+}\r\n${text}`), [
      '* SEARCH 1',
    ]);
    assert.deepEqual(await ok(`SORT (DATE) ${charset} SUBJECT "${text}"`), ['* SORT 1'], charset);
    assert.deepEqual(await ok(`THREAD REFERENCES ${charset} SUBJECT "${text}"`), ['* THREAD (1)'], charset);
  }
  assert.deepEqual(await ok('SEARCH CHARSET ISO-2022-JP SUBJECT two'), ['* SEARCH 2']);
  // The text is not what the charset says.
  for (const charset of ['UTF8', 'US-ASCII'])
    assert.match((await ask(`SEARCH CHARSET ${charset} SUBJECT "J\xf6rg"`))[0] ?? '', /^BAD/);
  assert.match((await ask('SEARCH CHARSET none SUBJECT x'))[0] ?? '', /^NO \[BADCHARSET/);
});

test('strings without quotes may have characters that need quotes by the grammar', async (t) => {
  const { ok } = await open(t);
  assert.deepEqual(await ok('SEARCH BODY a*b'), ['* SEARCH 2']);
  assert.deepEqual(await ok('SEARCH (BODY b\\c)'), ['* SEARCH 2']);
  await ok('CREATE 100%');
  await ok('STATUS 100% (MESSAGES)');
});

test('flags, macros, dates and numbers are taken in forms that are common', async (t) => {
  const { ok, ask } = await open(t);
  assert.equal(
    (await ok('STORE 1 +FLAGS ("\\\\Seen" "$a")')).at(-1),
    '* 1 FETCH (FLAGS (\\Seen $a \\Recent))',
  );
  assert.deepEqual(await ok('STORE 1 +FLAGS ()'), ['* 1 FETCH (FLAGS (\\Seen $a \\Recent))']);
  for (const keys of [
    'KEYWORD \\Seen',
    'KEYWORD "$a"',
    'BEFORE " 1-Jan-2100" 1',
    'before 1-jan-2100 1',
    'UID 1:1',
  ])
    assert.deepEqual(await ok(`SEARCH ${keys}`), ['* SEARCH 1'], keys);
  assert.deepEqual(await ok('SEARCH UNKEYWORD \\seen'), ['* SEARCH 2']);
  assert.deepEqual(await ok('UID FETCH 2:99999999999 (UID)'), ['* 2 FETCH (UID 2)']);
  assert.match((await ok('FETCH 2 (FAST)'))[0] ?? '', /^\* 2 FETCH \(FLAGS .* INTERNALDATE .* RFC822.SIZE /);
  assert.deepEqual(await ok('FETCH 2 FLAGS ()'), ['* 2 FETCH (FLAGS (\\Recent))']);
  assert.deepEqual(await ok('FETCH 2 BODY.PEEK[TEXT]<0.0>'), ['* 2 FETCH (BODY[TEXT]<0> "")']);
  const [fields] = await ok('FETCH 2 BODY.PEEK[HEADER.FIELDS(SUBJECT )]');
  assert.match(fields ?? '', /BODY\[HEADER.FIELDS \(SUBJECT\)\]/);
  await ok('APPEND INBOX (\\Seen "$a") "1-Feb-2026 08:30:00 +0100" {4+}\r\nA: b');
  for (const command of [
    'STORE 1 +FLAGS ("a b")',
    'STORE 1 +FLAGS ("\\"x\\"")',
    'SEARCH KEYWORD ""',
    'FETCH 0 FLAGS',
  ])
    assert.match((await ask(command))[0] ?? '', /^BAD/, command);
});
