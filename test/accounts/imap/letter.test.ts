/**
 * Transcripts of what clients rely on to the letter. Numbers that sessions choose are compared by their order alone.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completes, numbersOf, ok, openerOf } from '../../mail/imap/letter.ts';
import '../../mail/imap/letter-extensions.ts';
import '../../mail/imap/letter-metadata.ts';
import '../../mail/imap/letter-catenate.ts';
import '../../mail/imap/letter-contexts.ts';
import '../../mail/imap/letter-notify.ts';
import { createAccountMail } from '../../support/account-mail.ts';

const open = openerOf(await createAccountMail());

test('sets: * and 9:1 are valid, n:* past the end gives the last message, and UIDs may be unsorted', async (t) => {
  const { ask } = await open(t, ['1', '2', '3', '4']);
  assert.deepEqual(await ok(ask, 'FETCH * UID'), ['* 4 FETCH (UID 4)']);
  assert.deepEqual(await ok(ask, 'FETCH 3:2 UID'), ['* 2 FETCH (UID 2)', '* 3 FETCH (UID 3)']);
  assert.deepEqual(
    await ok(ask, 'UID FETCH 9:1 UID'),
    [1, 2, 3, 4].map((n) => `* ${n} FETCH (UID ${n})`),
  );
  assert.deepEqual(await ok(ask, 'UID FETCH 100:* UID'), ['* 4 FETCH (UID 4)']);
  assert.deepEqual(
    await ok(ask, 'UID FETCH 3,1,9,3:1 UID'),
    [1, 2, 3].map((n) => `* ${n} FETCH (UID ${n})`),
  );
  assert.deepEqual(await ok(ask, 'SEARCH 7:9'), ['* SEARCH']);
  assert.deepEqual(await ok(ask, 'UID SEARCH UID 3:9'), ['* SEARCH 3 4']);
  await completes(ask, 'FETCH 5 UID', /^BAD/);
  await completes(ask, 'STORE 4:5 +FLAGS \\Seen', /^BAD/);
  for (const command of ['FETCH 9 UID', 'STORE 9 +FLAGS \\Seen', 'COPY 9 INBOX', 'MOVE 9 INBOX', 'EXPUNGE 9'])
    assert.deepEqual(await ok(ask, `UID ${command}`), []);
});

test('concurrent sessions: no EXPUNGE comes in FETCH, STORE or SEARCH, and NOOP and CHECK report everything', async (t) => {
  const { ask, connect } = await open(t, ['1', '2', '3']);
  const other = await connect();
  await ok(ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  for (const command of ['FETCH 1:3 UID', 'STORE 1 +FLAGS.SILENT \\Flagged', 'SEARCH ALL'])
    assert.doesNotMatch((await ok(other.ask, command)).join('\n'), /EXPUNGE/);
  assert.deepEqual(await ok(other.ask, 'NOOP'), ['* 2 EXPUNGE']);
  assert.deepEqual(await ok(ask, 'CHECK'), ['* 1 FETCH (UID 1 FLAGS (\\Flagged \\Recent))']);
});

test('concurrent sessions: messages that another session expunged can be read and changed', async (t) => {
  const { ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  await ok(ask, 'STORE 1:2 +FLAGS.SILENT \\Deleted');
  assert.deepEqual(await ok(ask, 'EXPUNGE'), ['* 2 EXPUNGE', '* 1 EXPUNGE']);
  assert.match(
    (await ok(other.ask, 'FETCH 1 (UID BODY.PEEK[])')).join(),
    /UID 1 BODY\[\] \{\d+\}\r\nSubject: 1/,
  );
  assert.match((await ok(other.ask, 'FETCH 2 ENVELOPE')).join(), /"2"/);
  await ok(other.ask, 'STORE 1:2 +FLAGS.SILENT \\Seen');
  assert.deepEqual(await ok(other.ask, 'NOOP'), ['* 2 EXPUNGE', '* 1 EXPUNGE']);
  await completes(other.ask, 'FETCH 1 UID', /^BAD/);
});

test('BINARY sends literal8 only for NUL, and answers UNKNOWN-CTE for an unknown encoding', async (t) => {
  const { ask, deliver } = await open(t, []);
  await deliver('Content-Transfer-Encoding: base64\r\n\r\naGVsbG8=\r\n');
  await deliver('Content-Transfer-Encoding: base64\r\n\r\nYQBi\r\n');
  await deliver('Content-Transfer-Encoding: x-own\r\n\r\nbody\r\n');
  await ok(ask, 'NOOP');
  assert.deepEqual(await ok(ask, 'FETCH 1 (BINARY.PEEK[1] BINARY.SIZE[1])'), [
    '* 1 FETCH (BINARY[1] {5}\r\nhello BINARY.SIZE[1] 5)',
  ]);
  assert.deepEqual(await ok(ask, 'FETCH 1 BINARY.PEEK[1]<1.3>'), ['* 1 FETCH (BINARY[1]<1> {3}\r\nell)']);
  assert.deepEqual(await ok(ask, 'FETCH 2 BINARY.PEEK[1]'), ['* 2 FETCH (BINARY[1] ~{3}\r\na\0b)']);
  await completes(ask, 'FETCH 3 BINARY.PEEK[1]', /^NO \[UNKNOWN-CTE\]/);
  await completes(ask, 'FETCH 3 BINARY.SIZE[1]', /^NO \[UNKNOWN-CTE\]/);
});

test('strings: an empty string is "", never {0}', async (t) => {
  const { ask, deliver } = await open(t, []);
  await deliver('Subject:\r\n\r\n');
  await ok(ask, 'NOOP');
  const lines = await ok(
    ask,
    'FETCH 1 (BODY.PEEK[TEXT] BODY.PEEK[1] BODY.PEEK[]<999.9> BINARY.PEEK[1] ENVELOPE)',
  );
  assert.doesNotMatch(lines.join(), /\{0\}/);
  assert.match(lines.join(), /BODY\[TEXT\] "" BODY\[1\] "" BODY\[\]<999> "" BINARY\[1\] ""/);
});

test('SEARCH finds substrings of addresses, names and groups, and HEADER with "" every message with the field', async (t) => {
  const { ask, deliver } = await open(t, []);
  await deliver('From: "Ann Other" <ann@one.example>\r\nTo: Team: x@two.example;\r\nX-Own: v\r\n\r\nx\r\n');
  await deliver(
    'From: =?utf-8?q?J=C3=BCrgen?= <j@one.example>\r\nSubject: a\r\n folded subject\r\n\r\nx\r\n',
  );
  await ok(ask, 'NOOP');
  for (const [keys, found] of [
    ['FROM OTHER', ' 1'],
    ['FROM ne.exam', ' 1 2'],
    ['TO team', ' 1'],
    ['TO two.ex', ' 1'],
    ['CC x', ''],
    ['HEADER X-OWN ""', ' 1'],
    ['HEADER subject ""', ' 2'],
    ['SUBJECT "A FOLDED"', ' 2'],
    ['NOT FROM one', ''],
    ['OR TO team SUBJECT folded', ' 1 2'],
  ])
    assert.deepEqual(await ok(ask, `SEARCH ${keys}`), [`* SEARCH${found}`], keys);
  await completes(ask, 'SEARCH CHARSET X-NONE ALL', /^NO \[BADCHARSET \(US-ASCII UTF-8 ISO-8859-1\)\]/);
});

test('$ is the saved result of a search, without messages that were expunged since', async (t) => {
  const { ask } = await open(t, ['1', '2', '3', '4']);
  assert.deepEqual(await ok(ask, 'SEARCH RETURN (SAVE) 1:3'), []);
  await ok(ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  assert.deepEqual(await ok(ask, 'FETCH $ UID'), ['* 1 FETCH (UID 1)', '* 2 FETCH (UID 3)']);
  assert.deepEqual(await ok(ask, 'SEARCH NOT $'), ['* SEARCH 3']);
  await ok(ask, 'SEARCH RETURN (SAVE MAX) ALL');
  assert.deepEqual(await ok(ask, 'UID SEARCH $'), ['* SEARCH 4']);
});

test('names: NIL, ~a, ] and } are atoms, parents are created, and a trailing separator is accepted', async (t) => {
  const { ask, mailbox } = await open(t, []);
  for (const name of ['NIL', '~a', 'a]', 'a}']) {
    await ok(ask, `CREATE ${mailbox}/${name}`);
    await ok(ask, `STATUS ${mailbox}/${name} (MESSAGES)`);
  }
  await ok(ask, `CREATE ${mailbox}/p/q/r/`);
  assert.deepEqual(await ok(ask, `LIST "" ${mailbox}/p*`), [
    `* LIST (\\HasChildren) "/" ${mailbox}/p`,
    `* LIST (\\HasChildren) "/" ${mailbox}/p/q`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}/p/q/r`,
  ]);
  await completes(ask, 'CREATE "a&b"', /^NO/);
  assert.deepEqual(await ok(ask, 'LIST "" ""'), ['* LIST (\\Noselect) "/" ""']);
  await completes(ask, 'LIST (RECURSIVEMATCH) "" *', /^BAD/);
  await ok(ask, `SUBSCRIBE ${mailbox}/p/q`);
  const childInfo = async (...patterns: string[]) => {
    const lines = await ok(ask, `LIST (SUBSCRIBED RECURSIVEMATCH) "" (${patterns.join(' ')}) RETURN ()`);
    return lines.map((line) => line.slice('* LIST '.length).replaceAll(mailbox, 'M'));
  };
  const parent = '() "/" M/p (CHILDINFO ("SUBSCRIBED"))';
  assert.deepEqual(await childInfo(`${mailbox}/%`), [parent]);
  assert.deepEqual(await childInfo(`${mailbox}/*`), ['(\\Subscribed) "/" M/p/q']);
  assert.deepEqual(await childInfo(`${mailbox}/p`, `${mailbox}/p/q`), ['(\\Subscribed) "/" M/p/q']);
  await ok(ask, `CREATE ${mailbox}/p/r`);
  await ok(ask, `SUBSCRIBE ${mailbox}/p/r`);
  assert.deepEqual(await childInfo(`${mailbox}/p`, `${mailbox}/p/q`), [parent, '(\\Subscribed) "/" M/p/q']);
  await ok(ask, `SUBSCRIBE ${mailbox}/p`);
  assert.deepEqual(await childInfo(`${mailbox}/p`), ['(\\Subscribed) "/" M/p (CHILDINFO ("SUBSCRIBED"))']);
  for (const name of ['p', 'p/r']) await ok(ask, `UNSUBSCRIBE ${mailbox}/${name}`);
  assert.deepEqual(await ok(ask, `LSUB "" ${mailbox}/%`), [`* LSUB (\\Noselect) "/" ${mailbox}/p`]);
  assert.deepEqual(await ok(ask, `LSUB "" ${mailbox}/*`), [`* LSUB () "/" ${mailbox}/p/q`]);
});

test('UIDVALIDITY is unique, also after RENAME, and belongs to the mailbox', async (t) => {
  const { ask, mailbox } = await open(t, []);
  const valid = async (name: string) =>
    numbersOf('UIDVALIDITY', await ok(ask, `STATUS ${name} (UIDVALIDITY)`))[0];
  await ok(ask, `CREATE ${mailbox}/a`);
  const first = await valid(`${mailbox}/a`);
  await ok(ask, `RENAME ${mailbox}/a ${mailbox}/b`);
  assert.equal(await valid(`${mailbox}/b`), first);
  await ok(ask, `CREATE ${mailbox}/a`);
  await ok(ask, `DELETE ${mailbox}/b`);
  await ok(ask, `CREATE ${mailbox}/b`);
  const all = [first, await valid(`${mailbox}/a`), await valid(`${mailbox}/b`), await valid(mailbox)];
  assert.equal(new Set(all).size, 4, all.join());
});

test('[MODIFIED] names messages that were changed meanwhile, and UNCHANGEDSINCE 0 always fails', async (t) => {
  const { ask, connect } = await open(t, ['1', '2'], 'ENABLE CONDSTORE');
  const [since = 0] = numbersOf('MODSEQ', await ok(ask, 'FETCH 2 MODSEQ'));
  const other = await connect('STORE 1 +FLAGS.SILENT \\Flagged');
  const lines = await ask(`STORE 1:2 (UNCHANGEDSINCE ${since}) +FLAGS.SILENT \\Seen`);
  assert.equal(lines.at(-1), 'OK [MODIFIED 1] STORE completed');
  assert.ok(
    lines.some((line) => /^\* 2 FETCH \(MODSEQ \(\d+\)\)$/.test(line)),
    lines.join('\n'),
  );
  assert.equal((await ok(other.ask, 'SEARCH SEEN'))[0], '* SEARCH 2');
  assert.match(
    (await ask('UID STORE 2 (UNCHANGEDSINCE 0) +FLAGS \\Draft')).at(-1) ?? '',
    /^OK \[MODIFIED 2\]/,
  );
});

test('QRESYNC: VANISHED takes the place of EXPUNGE, and HIGHESTMODSEQ completes what removed messages', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2', '3', '4', '5'], 'ENABLE QRESYNC');
  const other = await connect();
  await ok(ask, 'STORE 1,2,4 +FLAGS.SILENT \\Deleted');
  const expunged = await ask('EXPUNGE');
  assert.deepEqual(expunged.slice(0, -1), ['* VANISHED 1:2,4']);
  assert.match(expunged.at(-1) ?? '', /^OK \[HIGHESTMODSEQ \d+\] EXPUNGE/);
  assert.deepEqual(await ok(other.ask, 'NOOP'), ['* 4 EXPUNGE', '* 2 EXPUNGE', '* 1 EXPUNGE']);
  assert.deepEqual(await ask('EXPUNGE'), ['OK EXPUNGE completed']);
  const moved = await ask(`UID MOVE 3 ${mailbox}`);
  assert.match(moved.join('\n'), /COPYUID \d+ 3 6\].*\n\* VANISHED 3\n\* 2 EXISTS/);
  assert.match(moved.at(-1) ?? '', /^OK \[HIGHESTMODSEQ \d+\] UID MOVE/);
  assert.match((await ok(ask, 'STORE 1 +FLAGS \\Flagged')).join(), /^\* 1 FETCH \(UID 5 FLAGS \(.*\) MODSEQ/);
  assert.match((await ok(ask, 'FETCH 1 BODY[TEXT]')).join(), / FLAGS \(.*\\Seen.*\).* UID 5\)$/);
});

test('VANISHED (EARLIER) is right for SELECT with QRESYNC and for UID FETCH', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2', '3', '4', '5', '6'], 'ENABLE QRESYNC');
  const status = async () => await ok(ask, `STATUS ${mailbox} (UIDVALIDITY HIGHESTMODSEQ)`);
  const lines = await status();
  const [valid] = numbersOf('UIDVALIDITY', lines);
  const [since] = numbersOf('HIGHESTMODSEQ', lines);
  await ok(ask, 'STORE 2,3,6 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'EXPUNGE');
  await ok(ask, 'STORE 3 +FLAGS.SILENT \\Flagged');
  const resync = async (parameters: string) => {
    const all = await ok(ask, `SELECT ${mailbox} (QRESYNC (${parameters}))`);
    const news = all.filter((line) => /VANISHED|FETCH/.test(line));
    return news.map((line) => line.replace(/MODSEQ \(\d+\)/, 'MODSEQ'));
  };
  const flagged = '* 3 FETCH (UID 5 FLAGS (\\Flagged) MODSEQ)';
  assert.deepEqual(await resync(`${valid} ${since}`), ['* VANISHED (EARLIER) 2:3,6', flagged]);
  assert.deepEqual(await resync(`${valid} ${since} 1:3`), ['* VANISHED (EARLIER) 2:3']);
  assert.deepEqual(await resync(`${valid} ${since} 5:6 (1:2 1,5)`), ['* VANISHED (EARLIER) 6', flagged]);
  for (const unknown of [Number(valid) + 1_000, 0]) assert.deepEqual(await resync(`${unknown} ${since}`), []);
  // Some clients send modseq 0 for a state that they do not know.
  const [vanished, ...told] = await resync(`${valid} 0 1:3 `);
  assert.equal(vanished, '* VANISHED (EARLIER) 2:3');
  assert.deepEqual(told, [`* 1 FETCH (UID 1 FLAGS () MODSEQ)`]);
  const fetched = await ok(ask, `UID FETCH 1:* FLAGS (CHANGEDSINCE ${since} VANISHED)`);
  assert.equal(fetched[0], '* VANISHED (EARLIER) 2:3,6');
  assert.equal(fetched.length, 2);
  await completes(ask, `FETCH 1:* FLAGS (CHANGEDSINCE ${since} VANISHED)`, /^BAD/);
  await completes(ask, 'UID FETCH 1:* FLAGS (VANISHED)', /^BAD/);
  for (const wrong of ['1', '1 x', '1 1 *', '1 1 $', '1 1 1:2 (1)', '1 1 (1:2 1:2'])
    await completes(ask, `SELECT ${mailbox} (QRESYNC (${wrong}))`, /^BAD/);
});

test('QRESYNC is refused until the client has enabled it', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  await completes(ask, `SELECT ${mailbox} (QRESYNC (1 1))`, /^BAD/);
  await completes(ask, 'UID FETCH 1 FLAGS (CHANGEDSINCE 1 VANISHED)', /^BAD/);
});

test('[CLOSED] and [TRYCREATE] are sent where they apply', async (t) => {
  const { ask, mailbox } = await open(t, ['1']);
  await completes(ask, 'COPY 1 nowhere', /^NO \[TRYCREATE\]/);
  await completes(ask, 'APPEND nowhere {1+}\r\nx', /^NO \[TRYCREATE\]/);
  // The message is not asked for.
  await completes(ask, 'APPEND nowhere {99}', /^NO \[TRYCREATE\]/);
  assert.equal((await ask(`EXAMINE ${mailbox}`))[0], '* OK [CLOSED] The previous mailbox is closed');
  assert.equal((await ask('SELECT nowhere')).at(-1)?.slice(0, 16), 'NO [NONEXISTENT]');
  await completes(ask, 'FETCH 1 UID', /^BAD/);
});
