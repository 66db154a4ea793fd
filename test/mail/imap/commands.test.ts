/** Transcripts: what a client sends, and what the server answers. Quirks are what the clients of people are known to do. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deleteFolder, subscribe } from '../../../src/accounts/folders.ts';
import { createEmptyMail, USER } from '../../support/account-mail.ts';
import { createScramClient } from '../../support/scram-client.ts';
import { LOGIN, startServer } from './fixture.ts';

const CAPABILITIES =
  'IMAP4rev1 IMAP4rev2 LITERAL+ SASL-IR ID ENABLE IDLE NAMESPACE CHILDREN UNSELECT UIDPLUS MOVE REPLACE SPECIAL-USE CREATE-SPECIAL-USE LIST-EXTENDED LIST-STATUS STATUS=SIZE CONDSTORE QRESYNC ESEARCH SEARCHRES PARTIAL WITHIN I18NLEVEL=1 SORT SORT=DISPLAY ESORT CONTEXT=SEARCH CONTEXT=SORT THREAD=ORDEREDSUBJECT THREAD=REFERENCES BINARY MULTIAPPEND CATENATE APPENDLIMIT=41943040 QUOTA QUOTA=RES-STORAGE METADATA NOTIFY OBJECTID PREVIEW SAVEDATE UTF8=ACCEPT INPROGRESS COMPRESS=DEFLATE';
const encode = (text: string) => Buffer.from(text).toString('base64');
const decode = (line: string) => Buffer.from(line.replace(/^\+ /, ''), 'base64').toString();
const MECHANISMS = 'AUTH=SCRAM-SHA-256 AUTH=PLAIN AUTH=LOGIN';
const MESSAGE = 'Subject: one\r\nFrom: a@test.example\r\n\r\nbody\r\n';

/** Returns a client who has logged in, with this many messages in INBOX. */
async function open(t: TestContext, count = 3, ...commands: string[]) {
  const server = await startServer(t);
  for (let index = 1; index <= count; index++)
    await server.mail.deliver('INBOX', MESSAGE.replace('one', `m${index}`));
  const client = await server.open(...commands);
  // Ids of mailboxes are random.
  const ask = async (command: string) =>
    (await client.ask(command)).map((line) => line.replace(/F[\w-]{16}/, 'F1'));
  /** Returns the responses without the last one, which must be that the command is completed. */
  const ok = async (command: string) => {
    const lines = await ask(command);
    const [name = ''] = /^(?:UID )?\w+/.exec(command) ?? [];
    assert.equal(lines.pop(), `OK ${name.toUpperCase()} completed`, command);
    return lines;
  };
  return { ...server, client, ask, ok };
}

const refusals = async (
  ask: (command: string) => Promise<string[]>,
  commands: readonly string[],
  status: RegExp,
) => {
  for (const command of commands) assert.match((await ask(command)).at(-1) ?? '', status, command);
};

test('quirk 7: the greeting and CAPABILITY tell before login what they tell after it', async (t) => {
  const { dial } = await startServer(t);
  const client = dial();
  assert.equal(await client.line(), `* OK [CAPABILITY ${CAPABILITIES} ${MECHANISMS}] mail.test is ready`);
  assert.deepEqual(await client.ask('CAPABILITY'), [
    `* CAPABILITY ${CAPABILITIES} ${MECHANISMS}`,
    'OK CAPABILITY completed',
  ]);
  assert.deepEqual(await client.ask(LOGIN), [`OK [CAPABILITY ${CAPABILITIES}] Logged in`]);
  assert.deepEqual(await client.ask('capability'), [
    `* CAPABILITY ${CAPABILITIES}`,
    'OK CAPABILITY completed',
  ]);
});

test('a user does not see the capabilities that were disabled', async (t) => {
  const mail = await createEmptyMail({
    account: { disabledCapabilities: ['IDLE', 'IMAP4REV2', 'UTF8=ACCEPT'] },
  });
  const client = await (await startServer(t, { mail })).open();
  assert.doesNotMatch((await client.ask('CAPABILITY'))[0] ?? '', /IDLE|IMAP4rev2|UTF8/);
  assert.deepEqual(await client.ask('ENABLE IMAP4rev2 CONDSTORE'), [
    '* ENABLED CONDSTORE',
    'OK ENABLE completed',
  ]);
});

test('LOGIN and AUTHENTICATE log in, and a wrong password is refused', async (t) => {
  const { greeted, sessions } = await startServer(t);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const plain = base64('\0user@test.example\0secret word');
  for (const steps of [
    [LOGIN],
    ['LOGIN {17}', 'user@test.example {11}', 'secret word'],
    [`AUTHENTICATE PLAIN ${plain}`],
    ['authenticate plain', plain],
    ['AUTHENTICATE LOGIN', base64('user@test.example'), base64('secret word')],
    [`AUTHENTICATE LOGIN ${base64('user@test.example')}`, base64('secret word')],
  ]) {
    const client = await greeted();
    assert.match((await client.ask('ID ("name" "x" "y" NIL)')).join(), /^\* ID NIL,OK/);
    let [first = '', ...rest] = steps;
    let answer = await client.ask(first);
    for (first of rest) {
      assert.match(answer[0] ?? '', /^\+ /);
      client.send(`${first}\r\n`);
      answer = await client.responses();
    }
    assert.match(answer.join(), /^OK \[CAPABILITY [^\]]*\] Logged in$/, steps.join());
    assert.deepEqual(sessions.client?.id, { name: 'x' });
    rest = await client.ask(LOGIN);
    assert.deepEqual(rest, ['BAD The user has logged in already']);
  }
  const client = await greeted();
  await refusals(
    client.ask,
    [
      'LOGIN user@test.example x',
      `AUTHENTICATE PLAIN ${base64('\0a\0b')}`,
      `AUTHENTICATE PLAIN ${base64(`x\0${USER.username}\0${USER.password}`)}`,
    ],
    /^NO \[AUTHENTICATIONFAILED\] /,
  );
  await refusals(
    client.ask,
    [
      'LOGIN x',
      'AUTHENTICATE PLAIN ?',
      'AUTHENTICATE PLAIN =',
      `AUTHENTICATE PLAIN ${base64('x\0y')}`,
      'SELECT INBOX',
      'FOO',
      'UID FOO',
      'STARTTLS',
    ],
    /^BAD /,
  );
  await refusals(client.ask, ['AUTHENTICATE GSSAPI'], /^NO \[CANNOT\] /);
  assert.deepEqual(await client.ask('AUTHENTICATE PLAIN'), ['+ ']);
  client.send('*\r\n');
  assert.deepEqual(await client.responses(), ['BAD The client has cancelled the login']);
});

test('SCRAM logs in once the client believes the server, and not before', async (t) => {
  const { greeted } = await startServer(t);
  const begin = async () => {
    const client = await greeted();
    const scram = createScramClient(USER);
    const [challenge = ''] = await client.ask(`AUTHENTICATE SCRAM-SHA-256 ${encode(scram.first)}`);
    client.send(`${encode(scram.final(decode(challenge)))}\r\n`);
    const [final = ''] = await client.responses();
    assert.ok(scram.believes(decode(final)), final);
    return client;
  };
  const client = await begin();
  client.send('\r\n');
  assert.deepEqual(await client.responses(), [`OK [CAPABILITY ${CAPABILITIES}] Logged in`]);
  const doubting = await begin();
  doubting.send('*\r\n');
  assert.deepEqual(await doubting.responses(), ['BAD The client has cancelled the login']);
  assert.deepEqual(await doubting.ask('SELECT INBOX'), ['BAD The command needs a login']);
  assert.match((await doubting.ask(LOGIN)).join(), /^OK /);
});

test('NOOP, CHECK, ID, NAMESPACE, ENABLE and LOGOUT answer', async (t) => {
  const { ask, client, ok } = await open(t, 0);
  assert.deepEqual(await ok('NOOP'), []);
  assert.deepEqual(await ask('CHECK'), ['BAD The command needs a selected mailbox']);
  assert.deepEqual(await ok('ID NIL'), ['* ID NIL']);
  assert.deepEqual(await ok('NAMESPACE'), ['* NAMESPACE (("" "/")) NIL NIL']);
  assert.deepEqual(await ok('ENABLE X-FOO condstore'), ['* ENABLED CONDSTORE']);
  assert.deepEqual(await ok('ENABLE IMAP4rev2'), ['* ENABLED IMAP4rev2']);
  await refusals(ask, ['ENABLE', 'NOOP x', 'ID', 'ID "x"', 'ID ("a")'], /^BAD /);
  assert.deepEqual(await ok('LOGOUT'), ['* BYE Logging out']);
  assert.deepEqual(await client.rest(), []);
});

test('ID accepts 30 values of 1,024 octets before login', async (t) => {
  const { greeted } = await startServer(t);
  const client = await greeted();
  const fields = (count: number, octets: number) =>
    `ID (${Array.from({ length: count }, (_, index) => `"n${index}" "${'v'.repeat(octets)}"`).join(' ')})`;
  assert.deepEqual(await client.ask(fields(30, 1_024)), ['* ID NIL', 'OK ID completed']);
  await refusals(client.ask, [fields(31, 1), fields(1, 1_025)], /^BAD \[LIMIT\] /);
});

test('mailboxes are created, renamed, subscribed to and deleted', async (t) => {
  const { ask, mail, ok } = await open(t, 0);
  assert.deepEqual(await ask('CREATE "Entw&APw-rfe/2026/"'), ['OK [MAILBOXID (F1)] CREATE completed']);
  assert.deepEqual(await mail.folders(), ['Entwürfe', 'Entwürfe/2026', 'INBOX']);
  assert.deepEqual(await ok('SUBSCRIBE inbox'), []);
  assert.deepEqual(await ok('UNSUBSCRIBE INBOX'), []);
  assert.deepEqual(await ok('RENAME Entw&APw-rfe D'), []);
  assert.deepEqual(await ok('DELETE D/2026'), []);
  assert.deepEqual(await mail.folders(), ['D', 'INBOX']);
  await refusals(ask, ['CREATE inbox'], /^NO \[ALREADYEXISTS\] /);
  await refusals(ask, ['DELETE x', 'RENAME x y', 'STATUS x (MESSAGES)', 'SELECT x'], /^NO \[NONEXISTENT\] /);
  await refusals(ask, ['CREATE &x', 'CREATE ""', 'SELECT "a\u007fb"'], /^NO \[CANNOT\] /);
  await refusals(ask, ['CREATE', 'CREATE a b', 'RENAME a'], /^BAD /);
});

test('LIST and LSUB answer with attributes, special use and status', async (t) => {
  const { ask, mail, ok } = await open(t, 1);
  await mail.addFolder('Sent', '\\Sent');
  await mail.addFolder('a & b/ü');
  await mail.addFolder('gone');
  for (const name of ['INBOX', 'a & b/ü', 'gone']) await subscribe(mail.account, name);
  await deleteFolder(mail.account, 'gone');
  assert.deepEqual(await ok('LIST "" ""'), ['* LIST (\\Noselect) "/" ""']);
  assert.deepEqual(await ok('LIST "" *'), [
    '* LIST (\\HasNoChildren) "/" INBOX',
    '* LIST (\\HasNoChildren \\Sent) "/" Sent',
    '* LIST (\\HasChildren) "/" "a &- b"',
    '* LIST (\\HasNoChildren) "/" "a &- b/&APw-"',
  ]);
  assert.deepEqual(await ok('LIST (SUBSCRIBED) "" % RETURN (STATUS (MESSAGES UNSEEN))'), [
    '* LIST (\\Subscribed) "/" INBOX',
    '* STATUS INBOX (MESSAGES 1 UNSEEN 1)',
    '* LIST (\\NonExistent \\Subscribed) "/" gone',
  ]);
  assert.deepEqual(await ok('LIST (SUBSCRIBED RECURSIVEMATCH) "" "a%"'), [
    '* LIST (\\HasChildren) "/" "a &- b" (CHILDINFO ("SUBSCRIBED"))',
  ]);
  assert.deepEqual(await ok('LIST (SUBSCRIBED RECURSIVEMATCH) "" "a*"'), [
    '* LIST (\\Subscribed \\HasNoChildren) "/" "a &- b/&APw-"',
  ]);
  assert.deepEqual(await ok('LIST (SPECIAL-USE) "" *'), ['* LIST (\\HasNoChildren \\Sent) "/" Sent']);
  assert.deepEqual(await ok('LSUB "" "a%"'), ['* LSUB (\\Noselect) "/" "a &- b"']);
  assert.deepEqual(await ok('LIST "a &- b/" (% x)'), ['* LIST (\\HasNoChildren) "/" "a &- b/&APw-"']);
  assert.deepEqual(await ok('LIST "" "&"'), []);
  assert.deepEqual(await ok('LSUB "" ""'), ['* LSUB (\\Noselect) "/" ""']);
  await refusals(ask, ['LIST (RECURSIVEMATCH) "" *', 'LIST ""', 'LSUB "" (a)'], /^BAD /);
});

test('names are UTF-8 once that is enabled', async (t) => {
  const { ask, mail, ok } = await open(t, 0, 'ENABLE UTF8=ACCEPT');
  await mail.addFolder('ü');
  const utf8 = (text: string) => Buffer.from(text).toString('latin1');
  assert.deepEqual(await ask(`CREATE "${utf8('A & é')}"`), ['OK [MAILBOXID (F1)] CREATE completed']);
  assert.ok((await mail.folders()).includes('A & é'));
  assert.deepEqual(await ok(`LIST "" "${utf8('ü')}"`), [utf8('* LIST (\\HasNoChildren) "/" "ü"')]);
});

test('STATUS answers the items in the order in which they were asked for', async (t) => {
  const { ask, ok } = await open(t, 2);
  for (const command of ['SELECT INBOX', 'STORE 1 FLAGS (\\Deleted \\Seen)', 'UNSELECT']) await ask(command);
  assert.deepEqual(
    await ok('STATUS inbox (UNSEEN MESSAGES UIDNEXT UIDVALIDITY DELETED SIZE RECENT UNSEEN)'),
    [
      `* STATUS INBOX (UNSEEN 1 MESSAGES 2 UIDNEXT 3 UIDVALIDITY 1767225600 DELETED 1 SIZE ${2 * (MESSAGE.length - 1)} RECENT 0)`,
    ],
  );
  await refusals(
    ask,
    ['STATUS INBOX ()', 'STATUS INBOX (FOO)', 'STATUS INBOX', 'STATUS INBOX (MESSAGES) x'],
    /^BAD /,
  );
});

test('SELECT and EXAMINE describe the mailbox, in the terms of each revision', async (t) => {
  const { ask } = await open(t, 2);
  const flags = '(\\Seen \\Answered \\Flagged \\Deleted \\Draft)';
  const describe = (permanent: string) => [
    `* FLAGS ${flags}`,
    '* 2 EXISTS',
    '* 2 RECENT',
    '* OK [UNSEEN 1] The first unseen message',
    `* OK [PERMANENTFLAGS (${permanent})] Flags that can be kept`,
    '* OK [UIDVALIDITY 1767225600] UIDs are valid',
    '* OK [UIDNEXT 3] The next UID',
    '* OK [HIGHESTMODSEQ 13] The highest modseq',
    '* OK [MAILBOXID (F1)] The id of the mailbox',
  ];
  assert.deepEqual(await ask('EXAMINE INBOX'), [...describe(''), 'OK [READ-ONLY] EXAMINE completed']);
  await refusals(ask, ['STORE 1 FLAGS ()', 'EXPUNGE', 'UID EXPUNGE 1', 'MOVE 1 INBOX'], /^NO \[READ-ONLY\] /);
  assert.deepEqual(await ask('SELECT Inbox (CONDSTORE)'), [
    '* OK [CLOSED] The previous mailbox is closed',
    ...describe(`${flags.slice(1, -1)} \\*`),
    'OK [READ-WRITE] SELECT completed',
  ]);
  assert.deepEqual(
    (await ask('SELECT nowhere')).map((line) => line.slice(0, 14)),
    ['* OK [CLOSED] ', 'NO [NONEXISTEN'],
  );
  await refusals(ask, ['FETCH 1 FLAGS', 'CLOSE', 'SELECT INBOX (FOO)', 'SELECT'], /^BAD /);
  await ask('ENABLE IMAP4rev2');
  const lines = (await ask('SELECT INBOX')).join('\n');
  assert.doesNotMatch(lines, /RECENT|UNSEEN/);
  assert.match(lines, /^\* LIST \(\) "\/" INBOX$/m);
});

test('UNSELECT and CLOSE end the selection; CLOSE removes deleted messages without a word', async (t) => {
  const { ask, mail, ok } = await open(t, 2, 'SELECT INBOX', 'STORE 1 +FLAGS.SILENT (\\Deleted)');
  assert.deepEqual(await ok('UNSELECT'), []);
  assert.equal(await mail.count('INBOX'), 2);
  await ask('EXAMINE INBOX');
  assert.deepEqual(await ok('CLOSE'), []);
  assert.equal(await mail.count('INBOX'), 2);
  await ask('SELECT INBOX');
  assert.deepEqual(await ok('CLOSE'), []);
  assert.equal(await mail.count('INBOX'), 1);
});

test('APPEND takes messages with flags and dates, one or many', async (t) => {
  const { ask, client, mail, ok } = await open(t, 0);
  assert.deepEqual(await ask('APPEND INBOX (\\Seen a) " 1-Feb-2026 08:30:00 +0100" {5}'), ['+ OK']);
  client.send('A: b\n\r\n');
  assert.deepEqual(await client.responses(), ['OK [APPENDUID 1767225600 1] APPEND completed']);
  assert.deepEqual(
    await ask('APPEND INBOX {3+}\r\na\r\n () UTF8 (~{2+}\r\nbc) "01-Jan-2026 00:00:00 +0000" {1+}\r\nd'),
    ['OK [APPENDUID 1767225600 2:4] APPEND completed'],
  );
  await refusals(ask, ['APPEND INBOX {1+}\r\na {0+}\r\n'], /^NO \[CANNOT\] /);
  await refusals(
    ask,
    [
      'APPEND INBOX',
      'APPEND INBOX "text"',
      'APPEND INBOX (\\Foo) {1+}\r\na',
      'APPEND INBOX {1+}\r\na x',
      'APPEND INBOX {1+}\r\na {1+}\r\nb)',
      'APPEND INBOX UTF8 (~{1+}\r\na',
    ],
    /^BAD /,
  );
  assert.equal(await mail.count('INBOX'), 4);
  assert.deepEqual(await ok('NOOP'), []);
});

test('REPLACE removes a message of the selected mailbox', async (t) => {
  const { open, mail } = await startServer(t);
  for (const text of ['a', 'b']) await mail.deliver('INBOX', text);
  const lines = await (await open('SELECT INBOX')).ask('REPLACE 1 INBOX {1+}\r\nc');
  assert.deepEqual(lines.slice(0, 3), [
    '* OK [APPENDUID 1767225600 3] Replaced',
    '* 1 EXPUNGE',
    '* 2 EXISTS',
  ]);
  assert.equal(lines.at(-1), 'OK REPLACE completed');
});

test('APPEND to a mailbox that does not exist is refused before the message is sent, and after it', async (t) => {
  const { ask, ok } = await open(t, 0);
  const refusal = ['NO [TRYCREATE] The mailbox does not exist'];
  assert.deepEqual(await ask('APPEND x {99999}'), refusal);
  assert.deepEqual(await ask(`APPEND x {99999+}\r\n${'y'.repeat(99_999)} {5+}\r\nhello`), refusal);
  assert.deepEqual(await ok('NOOP'), []);
});

test('FETCH answers items and sections', async (t) => {
  const { ask, ok } = await open(t, 2, 'SELECT INBOX');
  assert.deepEqual(await ok('FETCH 1 FAST'), [
    '* 1 FETCH (FLAGS (\\Recent) INTERNALDATE " 1-Jan-1970 00:00:00 +0000" RFC822.SIZE 43)',
  ]);
  assert.deepEqual(await ok('UID FETCH 2:* (BODY.PEEK[HEADER.FIELDS (subject)] FLAGS)'), [
    '* 2 FETCH (UID 2 BODY[HEADER.FIELDS (subject)] {15}\r\nSubject: m2\r\n\r\n FLAGS (\\Recent))',
  ]);
  assert.deepEqual(await ok('FETCH 1 (RFC822.TEXT BODY[]<5.3>)'), [
    '* 1 FETCH (RFC822.TEXT {6}\r\nbody\r\n BODY[]<5> {3}\r\nct: FLAGS (\\Seen \\Recent))',
  ]);
  assert.deepEqual(await ok('FETCH 2 (ENVELOPE BODY MODSEQ BINARY.PEEK[1] BINARY.SIZE[1])'), [
    '* 2 FETCH (ENVELOPE (NIL "m2" ((NIL NIL "a" "test.example")) ((NIL NIL "a" "test.example")) ((NIL NIL "a" "test.example")) NIL NIL NIL NIL NIL) BODY ("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 6 1) MODSEQ (13) BINARY[1] {6}\r\nbody\r\n BINARY.SIZE[1] 6)',
    '* OK [HIGHESTMODSEQ 14] The highest modseq',
  ]);
  assert.deepEqual(await ok('UID FETCH 9 FLAGS'), []);
  await refusals(
    ask,
    ['FETCH 3 FLAGS', 'FETCH 1:3 FLAGS', 'FETCH 0 FLAGS', 'FETCH 1', 'FETCH 1 FOO', 'FETCH 1 FLAGS x'],
    /^BAD /,
  );
});

test('STORE adds, removes and replaces flags, and names what was modified meanwhile', async (t) => {
  const { ask, ok } = await open(t, 2, 'SELECT INBOX');
  assert.deepEqual(await ok('STORE 1 +FLAGS (\\Seen $x)'), [
    '* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $x)',
    '* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $x \\*)] Flags that can be kept',
    '* 1 FETCH (FLAGS (\\Seen $x \\Recent))',
  ]);
  assert.deepEqual(await ok('UID STORE 1 -FLAGS \\Seen'), ['* 1 FETCH (UID 1 FLAGS ($x \\Recent))']);
  assert.deepEqual(await ok('STORE 1:2 FLAGS.SILENT (\\Draft)'), []);
  await ask('STORE 2 FLAGS.SILENT (\\Flagged)');
  assert.deepEqual(await ask('STORE 1:2 (UNCHANGEDSINCE 16) +FLAGS.SILENT \\Seen'), [
    '* 1 FETCH (MODSEQ (18))',
    '* OK [HIGHESTMODSEQ 18] The highest modseq',
    'OK [MODIFIED 2] STORE completed',
  ]);
  await refusals(
    ask,
    ['STORE 3 FLAGS ()', 'STORE 1 FOO ()', 'STORE 1 FLAGS', 'STORE 1 FLAGS (\\Foo)', 'STORE 1 +FLAGS (x) y'],
    /^BAD /,
  );
});

test('SEARCH answers with SEARCH or ESEARCH', async (t) => {
  const { ask, ok } = await open(t, 4, 'SELECT INBOX', 'STORE 2 FLAGS.SILENT \\Seen');
  assert.deepEqual(await ok('SEARCH UNSEEN'), ['* SEARCH 1 3 4']);
  assert.deepEqual(await ok('UID SEARCH CHARSET UTF-8 SUBJECT {2+}\r\nM3'), ['* SEARCH 3']);
  assert.deepEqual(await ok('SEARCH 9'), ['* SEARCH']);
  assert.deepEqual(await ok('SEARCH RETURN (MIN MAX COUNT ALL) UNSEEN'), [
    '* ESEARCH (TAG "t7") MIN 1 MAX 4 COUNT 3 ALL 1,3:4',
  ]);
  assert.deepEqual(await ok('UID SEARCH RETURN (SAVE COUNT) NOT UNSEEN'), [
    '* ESEARCH (TAG "t8") UID COUNT 1',
  ]);
  assert.deepEqual(await ok('FETCH $ UID'), ['* 2 FETCH (UID 2)']);
  assert.deepEqual(await ok('SEARCH RETURN () FROM nobody'), ['* ESEARCH (TAG "t10")']);
  assert.deepEqual(await ok('SEARCH MODSEQ 16'), [
    '* SEARCH 2 (MODSEQ 16)',
    '* OK [HIGHESTMODSEQ 16] The highest modseq',
  ]);
  await refusals(ask, ['SEARCH CHARSET x ALL'], /^NO \[BADCHARSET \(US-ASCII UTF-8 ISO-8859-1\)\] /);
  await refusals(ask, ['SEARCH', 'SEARCH FOO', 'SEARCH SUBJECT', 'SEARCH RETURN (FOO) ALL'], /^BAD /);
  await ask('ENABLE IMAP4rev2');
  assert.deepEqual(await ok('SEARCH SEEN'), ['* ESEARCH (TAG "t18") ALL 2']);
});

test('a search that only keeps its result says nothing, and MIN and MAX keep only themselves', async (t) => {
  const { ask, ok } = await open(t, 5, 'SELECT INBOX');
  assert.deepEqual(await ok('SEARCH RETURN (SAVE) 2:4'), []);
  assert.deepEqual(await ok('SEARCH RETURN (COUNT) $'), ['* ESEARCH (TAG "t4") COUNT 3']);
  await ask('UID SEARCH RETURN (SAVE MIN MAX) 2:4');
  assert.deepEqual(await ok('SEARCH $'), ['* SEARCH 2 4']);
  await ask('SEARCH RETURN (SAVE MIN COUNT) 2:4');
  assert.deepEqual(await ok('SEARCH $'), ['* SEARCH 2 3 4']);
  await ask('SEARCH RETURN (SAVE MAX) 9');
  assert.deepEqual(await ok('SEARCH $'), ['* SEARCH']);
});

test('SORT and THREAD answer with the messages that match, in their order', async (t) => {
  const { ask, mail, ok } = await open(t, 0, 'SELECT INBOX');
  const fields = [
    'Subject: b\r\nMessage-ID: <1@x>',
    'Subject: a',
    'Subject: Re: b\r\nIn-Reply-To: <1@x>',
    'Subject: c',
  ];
  for (const field of fields) await mail.deliver('INBOX', `${field}\r\n\r\nbody\r\n`);
  for (const command of ['NOOP', 'STORE 1 FLAGS.SILENT \\Deleted', 'EXPUNGE']) await ask(command);
  assert.deepEqual(await ok('SORT (REVERSE SUBJECT) UTF-8 ALL'), ['* SORT 3 2 1']);
  assert.deepEqual(await ok('UID SORT (SUBJECT) US-ASCII NOT SUBJECT c'), ['* SORT 2 3']);
  assert.deepEqual(await ok('UID SORT RETURN (MIN MAX COUNT ALL SAVE) (SUBJECT) UTF-8 1:3'), [
    '* ESEARCH (TAG "t8") UID MIN 2 MAX 4 COUNT 3 ALL 2:4',
  ]);
  assert.deepEqual(await ok('SORT (SIZE) UTF-8 SUBJECT nothing'), ['* SORT']);
  assert.match((await ask('SORT (ARRIVAL) UTF-8 MODSEQ 1')).join(), /^\* SORT 1 2 3 \(MODSEQ \d+\),/);
  assert.deepEqual(await ok('THREAD REFERENCES UTF-8 ALL'), ['* THREAD (1)(2)(3)']);
  await refusals(ask, ['SORT (X) UTF-8 ALL', 'SORT (DATE) UTF-8', 'THREAD REFS UTF-8 ALL'], /^BAD /);
  await refusals(ask, ['SORT (DATE) X-NONE ALL', 'UID THREAD REFERENCES X-NONE ALL'], /^NO \[BADCHARSET /);
  await ask('ENABLE IMAP4rev2');
  assert.deepEqual(await ok('SORT (SUBJECT) UTF-8 1'), ['* SORT 1']);
});

test('COPY and MOVE answer with COPYUID, and MOVE sends it before EXPUNGE', async (t) => {
  const { ask, mail, ok } = await open(t, 3, 'CREATE Archive', 'SELECT INBOX');
  assert.deepEqual(await ask('COPY 1:2 Archive'), ['OK [COPYUID 1767225606 1:2 1:2] COPY completed']);
  assert.deepEqual(await ok('UID MOVE 1,3 Archive'), [
    '* OK [COPYUID 1767225606 1,3 3:4] Moved',
    '* 3 EXPUNGE',
    '* 1 EXPUNGE',
  ]);
  assert.deepEqual(await ok('MOVE 1 INBOX'), [
    '* OK [COPYUID 1767225600 2 4] Moved',
    '* 1 EXPUNGE',
    '* 1 EXISTS',
    '* 1 RECENT',
  ]);
  assert.equal(await mail.count('Archive'), 4);
  await refusals(ask, ['COPY 1 nowhere', 'UID MOVE 4 nowhere'], /^NO \[TRYCREATE\] /);
  await refusals(ask, ['COPY 2 INBOX', 'COPY 1', 'MOVE x INBOX'], /^BAD /);
});

test('EXPUNGE removes what is deleted, and UID EXPUNGE only what it names', async (t) => {
  const { ask, ok } = await open(t, 4, 'SELECT INBOX', 'STORE 1,2,4 FLAGS.SILENT \\Deleted');
  assert.deepEqual(await ok('UID EXPUNGE 3:4'), ['* 4 EXPUNGE']);
  assert.deepEqual(await ok('EXPUNGE'), ['* 2 EXPUNGE', '* 1 EXPUNGE']);
  await refusals(ask, ['UID EXPUNGE', 'EXPUNGE 1'], /^BAD /);
});

test('IDLE reports changes at once, and a line keeps the connection open', async (t) => {
  const { client, mail, ask } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  await mail.deliver('INBOX', MESSAGE);
  assert.equal(await client.line(), '* 2 EXISTS');
  assert.equal(await client.line(), '* 2 RECENT');
  await mail.remove('INBOX', 1);
  assert.equal(await client.line(), '* 1 EXPUNGE');
  client.send('done\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
});

test('quirk 1: iOS sends DONE and its next commands in one packet', async (t) => {
  const { client, ask } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  client.send('DONE\r\nx NOOP\r\ny IDLE\r\nDONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.deepEqual(
    [await client.line(), await client.line(), await client.line()],
    ['x OK NOOP completed', '+ idling', 'y OK IDLE completed'],
  );
});

test('quirk 2: a tagged IDLE while idling ends the old one with BAD, and runs', async (t) => {
  const { client, ask, mail } = await open(t, 1, 'SELECT INBOX');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.deepEqual(await ask('IDLE'), ['t3 BAD IDLE ends with DONE', '+ idling']);
  await mail.deliver('INBOX', MESSAGE);
  assert.equal(await client.line(), '* 2 EXISTS');
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['* 2 RECENT', 'OK IDLE completed']);
});

test('quirk 4: pipelined commands are answered in their order', async (t) => {
  const { client } = await open(t, 2, 'SELECT INBOX');
  client.send(
    'a UID FETCH 1 BODY.PEEK[]\r\nb FOO\r\nc SEARCH ALL\r\nd APPEND INBOX {1+}\r\nx\r\ne NOOP\r\nf LOGOUT\r\n',
  );
  const tagged = (await client.rest()).flatMap((line) => line.match(/^[a-f](?= )/g) ?? []);
  assert.deepEqual(tagged, ['a', 'b', 'c', 'd', 'e', 'f']);
});

test('quirk 15: a message that is too large leaves nothing behind, whichever literal announced it', async (t) => {
  const { open: connect, mail } = await startServer(t, { limits: { messageBytes: 1_000 } });
  const client = await connect('SELECT INBOX');
  const refusal = ['NO [TOOBIG] A message has at most 1000 octets'];
  assert.deepEqual(await client.ask('APPEND INBOX {1001}'), refusal);
  assert.deepEqual(
    await client.ask(`APPEND INBOX {9+}\r\n123456789 {200001+}\r\n${'x\r\n'.repeat(66_667)}`),
    refusal,
  );
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.equal(await mail.count('INBOX'), 0);
});

test('quirk 23: FETCH that fails ends the connection, and other commands answer NO', async (t) => {
  const fail = (): Buffer => {
    throw new Error('the disk is gone');
  };
  const mail = await createEmptyMail({
    selected: {
      async *fetch() {
        yield Buffer.from('* 1 FETCH (UID 1)\r\n');
        yield fail();
        return undefined;
      },
      async *search() {
        yield fail();
        return undefined;
      },
      expunge: async () => ({ refused: 'BYE', code: 'UNAVAILABLE', text: 'The mailbox has changed' }),
    },
  });
  const server = await startServer(t, { mail });
  const client = await server.open('SELECT INBOX');
  assert.deepEqual(await client.ask('SEARCH ALL'), [
    'NO [SERVERBUG] The server failed to process the request',
  ]);
  client.send('x FETCH 1 UID\r\ny NOOP\r\n');
  assert.deepEqual(await client.rest(), [
    '* 1 FETCH (UID 1)',
    '* BYE [SERVERBUG] The server failed to read a message',
  ]);
  assert.equal(server.lines.length, 2);
  const other = await server.open('SELECT INBOX');
  other.send('x EXPUNGE\r\n');
  assert.deepEqual(await other.rest(), ['* BYE [UNAVAILABLE] The mailbox has changed']);
  assert.equal(mail.openSessions, 0);
});
