/** Transcripts of IMAP over an account. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startServer, type TestClient } from '../../mail/imap/fixture.ts';
import { type AccountMail, createAccountMail } from '../../support/account-mail.ts';

const mail = await createAccountMail();
let folders = 0;

/** Returns a client that has selected a folder of its own with these messages. */
async function open(t: TestContext, messages: readonly string[], ...commands: string[]) {
  const folder = `f${++folders}`;
  const server = await startServer<AccountMail>(t, { mail });
  const client = await server.open(`CREATE ${folder}`);
  for (const text of messages) await mail.deliver(folder, text);
  const selection = await client.ask(`SELECT ${folder}`);
  for (const command of commands) assert.match((await client.ask(command)).at(-1) ?? '', /^OK/, command);
  const connect = async (): Promise<TestClient> => await server.open(`SELECT ${folder}`);
  return { folder, selection, client, ask: (command: string) => client.ask(command), connect };
}

const message = (subject: string) => `Subject: ${subject}\r\nFrom: a@test.example\r\n\r\nbody\r\n`;

test('SELECT describes a folder', async (t) => {
  const { selection, folder } = await open(t, [message('a'), message('b')]);
  assert.deepEqual(
    selection.map((line) => line.replace(/(UIDVALIDITY|HIGHESTMODSEQ|MAILBOXID) [\w()-]+/, '$1 n')),
    [
      '* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft)',
      '* 2 EXISTS',
      '* 2 RECENT',
      '* OK [UNSEEN 1] The first unseen message',
      '* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft \\*)] Flags that can be kept',
      '* OK [UIDVALIDITY n] UIDs are valid',
      '* OK [UIDNEXT 3] The next UID',
      '* OK [HIGHESTMODSEQ n] The highest modseq',
      '* OK [MAILBOXID n] The id of the mailbox',
      'OK [READ-WRITE] SELECT completed',
    ],
    folder,
  );
});

const answer = (subject: string, fields: string) => `${fields}\r\n${message(subject)}`;

test('SORT sorts what was found, by UID too', async (t) => {
  const { ask } = await open(t, ['b', 'Re: a', 'c', 'A', 'd'].map(message));
  assert.deepEqual(await ask('SORT (SUBJECT) UTF-8 ALL'), ['* SORT 2 4 1 3 5', 'OK SORT completed']);
  await ask('STORE 1,5 +FLAGS.SILENT (\\Deleted \\Flagged)');
  await ask('EXPUNGE');
  assert.deepEqual(await ask('UID SORT (REVERSE SUBJECT) UTF-8 NOT FLAGGED'), [
    '* SORT 3 2 4',
    'OK UID SORT completed',
  ]);
  assert.match(
    (await ask('UID SORT RETURN (MIN MAX ALL SAVE) (SUBJECT) UTF-8 ALL')).join(),
    /^\* ESEARCH \(TAG "t\d+"\) UID MIN 2 MAX 3 ALL 2,4,3,OK/,
  );
  assert.deepEqual(await ask('UID SEARCH $'), ['* SEARCH 2 3 4', 'OK UID SEARCH completed']);
  const [modseq] = /MODSEQ \(\d+\)/.exec((await ask('UID FETCH 3 MODSEQ')).join()) ?? [];
  const [last = ''] = await ask('UID SORT RETURN (MAX) (SUBJECT) UTF-8 MODSEQ 1');
  assert.match(last, / MAX 3 MODSEQ \d+$/);
  assert.equal(last.slice(last.indexOf('MODSEQ')), modseq?.replace(/[()]/g, ''));
  assert.match((await ask('SORT (DATE) UTF-8 MODSEQ 1')).join(), /^\* SORT 1 2 3 \(MODSEQ \d+\),OK/);
});

test('THREAD groups what was found, and orphans stay together after EXPUNGE', async (t) => {
  const references = 'References: <a@x>';
  const { ask } = await open(t, [
    answer('one', 'Message-ID: <a@x>'),
    answer('two', references),
    answer('three', references),
    message('Re: four'),
    message('four'),
  ]);
  assert.deepEqual(await ask('THREAD REFERENCES UTF-8 ALL'), [
    '* THREAD (1 (2)(3))(5 4)',
    'OK THREAD completed',
  ]);
  assert.deepEqual(await ask('THREAD ORDEREDSUBJECT UTF-8 ALL'), [
    '* THREAD (1)(2)(3)(4 5)',
    'OK THREAD completed',
  ]);
  await ask('STORE 1 +FLAGS.SILENT \\Deleted');
  await ask('EXPUNGE');
  assert.deepEqual(await ask('UID THREAD REFERENCES UTF-8 ALL'), [
    '* THREAD ((2)(3))(5 4)',
    'OK UID THREAD completed',
  ]);
});

test('FETCH answers items and sections', async (t) => {
  const { ask } = await open(t, [message('m1'), message('m2')]);
  assert.deepEqual(await ask('FETCH 1 FAST'), [
    '* 1 FETCH (FLAGS (\\Recent) INTERNALDATE " 1-Jan-1970 00:00:00 +0000" RFC822.SIZE 43)',
    'OK FETCH completed',
  ]);
  assert.deepEqual(await ask('UID FETCH 2:* (BODY.PEEK[HEADER.FIELDS (subject)] FLAGS)'), [
    '* 2 FETCH (UID 2 BODY[HEADER.FIELDS (subject)] {15}\r\nSubject: m2\r\n\r\n FLAGS (\\Recent))',
    'OK UID FETCH completed',
  ]);
  assert.deepEqual(await ask('FETCH 1 (RFC822.TEXT BODY[]<5.3>)'), [
    '* 1 FETCH (RFC822.TEXT {6}\r\nbody\r\n BODY[]<5> {3}\r\nct: FLAGS (\\Seen \\Recent))',
    'OK FETCH completed',
  ]);
  assert.match(
    (await ask('FETCH 2 (ENVELOPE BODY MODSEQ BINARY.PEEK[1] BINARY.SIZE[1])')).join(),
    /^\* 2 FETCH \(ENVELOPE \(NIL "m2" .*\) BODY \("text" "plain" \("charset" "us-ascii"\) NIL NIL "7bit" 6 1\) MODSEQ \(\d+\) BINARY\[1\] \{6\}\r\nbody\r\n BINARY.SIZE\[1\] 6\),.*OK/,
  );
  assert.deepEqual(await ask('UID FETCH 9 FLAGS'), ['OK UID FETCH completed']);
  assert.match((await ask('FETCH 3 FLAGS')).join(), /^BAD/);
});

test('STORE, SEARCH, COPY, MOVE and EXPUNGE', async (t) => {
  const { ask } = await open(t, [message('m1'), message('m2'), message('m3')], 'CREATE t/x');
  assert.deepEqual(await ask('STORE 1:2 +FLAGS (\\Seen $x)'), [
    '* FLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $x)',
    '* OK [PERMANENTFLAGS (\\Seen \\Answered \\Flagged \\Deleted \\Draft $x \\*)] Flags that can be kept',
    '* 1 FETCH (FLAGS (\\Seen $x \\Recent))',
    '* 2 FETCH (FLAGS (\\Seen $x \\Recent))',
    'OK STORE completed',
  ]);
  assert.deepEqual(await ask('UID STORE 1 -FLAGS \\Seen'), [
    '* 1 FETCH (UID 1 FLAGS ($x \\Recent))',
    'OK UID STORE completed',
  ]);
  assert.deepEqual(await ask('SEARCH UNSEEN'), ['* SEARCH 1 3', 'OK SEARCH completed']);
  assert.deepEqual(await ask('SEARCH SUBJECT M3'), ['* SEARCH 3', 'OK SEARCH completed']);
  assert.deepEqual(await ask('SEARCH TEXT BODY'), ['* SEARCH 1 2 3', 'OK SEARCH completed']);
  assert.match((await ask('COPY 1:2 t/x')).join(), /^OK \[COPYUID \d+ 1:2 1:2\] COPY completed/);
  const moved = await ask('MOVE 2 t/x');
  assert.match(moved[0] ?? '', /^\* OK \[COPYUID \d+ 2 3\] Moved$/);
  assert.deepEqual(moved.slice(1), ['* 2 EXPUNGE', 'OK MOVE completed']);
  assert.deepEqual(await ask('STORE 1:2 FLAGS.SILENT (\\Deleted)'), ['OK STORE completed']);
  assert.deepEqual(await ask('UID EXPUNGE 3'), ['* 2 EXPUNGE', 'OK UID EXPUNGE completed']);
  assert.deepEqual(await ask('EXPUNGE'), ['* 1 EXPUNGE', 'OK EXPUNGE completed']);
  assert.match((await ask('COPY 1 nowhere')).join(), /^BAD/);
  assert.match((await ask('UID COPY 1 nowhere')).join(), /^NO \[TRYCREATE\]/);
  assert.deepEqual(await ask('STATUS t/x (MESSAGES UNSEEN DELETED SIZE RECENT)'), [
    '* STATUS t/x (MESSAGES 3 UNSEEN 1 DELETED 0 SIZE 129 RECENT 3)',
    'OK STATUS completed',
  ]);
});

test('APPEND and IDLE', async (t) => {
  const { folder, connect, client } = await open(t, []);
  const other = await connect();
  assert.deepEqual(await other.ask('IDLE'), ['+ idling']);
  assert.deepEqual(await client.ask(`APPEND ${folder} (\\Seen a) " 1-Feb-2026 08:30:00 +0100" {5}`), [
    '+ OK',
  ]);
  client.send('A: b\r\n');
  assert.match((await client.responses()).join(), /1 EXISTS.*OK \[APPENDUID \d+ 1\] APPEND completed/);
  assert.equal(await other.line(), '* 1 EXISTS');
  other.send('DONE\r\n');
  assert.match((await other.responses()).join(), /OK IDLE/);
});
