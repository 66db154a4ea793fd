/** Searches whose results are updated (RFC 5267), which every kind of session must answer the same. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccountMail } from '../../support/account-mail.ts';
import { completes, message, ok, openerOf } from './letter.ts';

const open = openerOf(await createAccountMail());

/** Returns responses with the tags of searches left out. */
const shown = async (ask: (command: string) => Promise<string[]>, command: string): Promise<string[]> =>
  (await ok(ask, command)).map((line) => line.replace(/\(TAG "[^"]*"\)/, '(TAG)'));

test('CONTEXT: the options alone return no results, and CONTEXT changes nothing', async (t) => {
  const { ask } = await open(t, ['1', '2']);
  assert.deepEqual(await shown(ask, 'SEARCH RETURN (CONTEXT COUNT) ALL'), ['* ESEARCH (TAG) COUNT 2']);
  assert.deepEqual(await shown(ask, 'UID SORT RETURN (CONTEXT PARTIAL 1:1) (REVERSE ARRIVAL) UTF-8 ALL'), [
    '* ESEARCH (TAG) UID PARTIAL (1:1 1)',
  ]);
  assert.deepEqual(await shown(ask, 'UID SEARCH RETURN (UPDATE) ALL'), ['* ESEARCH (TAG) UID']);
  assert.deepEqual(await shown(ask, 'SEARCH RETURN (UPDATE SAVE) ALL'), ['* ESEARCH (TAG)']);
  for (const wrong of ['(UPDATE UPDATE)', '(UPDATE ())', '(UPDATE (FOO))', '(UPDATE COUNT', '(CONTEXT 1)'])
    await completes(ask, `SEARCH RETURN ${wrong} ALL`, /^BAD/);
});

test('CONTEXT: results come with the changes that cause them, whoever makes these', async (t) => {
  const { ask, connect, deliver, mailbox } = await open(t, ['1', '2', '3']);
  await ok(ask, 'UID SEARCH RETURN (UPDATE COUNT) FLAGGED');
  assert.deepEqual(await shown(ask, 'STORE 2 +FLAGS.SILENT \\Flagged'), ['* ESEARCH (TAG) UID ADDTO (0 2)']);
  const other = await connect();
  await ok(other.ask, 'STORE 1,3 +FLAGS.SILENT (\\Flagged \\Deleted)');
  // The FETCH responses stand before (RFC 5465 section 5.1).
  assert.match(
    (await shown(ask, 'NOOP')).join(),
    /^\* 1 FETCH .*,\* 3 FETCH .*,\* ESEARCH \(TAG\) UID ADDTO \(0 1,3\)$/,
  );
  await deliver(message('4'), { flags: ['\\Flagged'] });
  assert.deepEqual(
    (await shown(ask, `STATUS ${mailbox} (MESSAGES)`)).filter((line) => !line.includes('RECENT')).slice(1),
    ['* 4 EXISTS', '* ESEARCH (TAG) UID ADDTO (0 4)'],
  );
  await ok(ask, 'STORE 2 -FLAGS.SILENT \\Flagged');
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await shown(ask, 'NOOP'), [
    '* ESEARCH (TAG) UID REMOVEFROM (0 1,3)',
    '* 3 EXPUNGE',
    '* 1 EXPUNGE',
  ]);
});

test('CONTEXT: a result is removed at once, and keeps its sequence number until EXPUNGE may come', async (t) => {
  const { ask, connect } = await open(t, ['1', '2', '3']);
  await ok(ask, 'SEARCH RETURN (UPDATE) ALL');
  const other = await connect();
  await ok(other.ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'NOOP');
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await shown(ask, 'FETCH 3 UID'), [
    '* 3 FETCH (UID 3)',
    '* ESEARCH (TAG) REMOVEFROM (0 2)',
  ]);
  // A search that begins now finds the message once more.
  assert.deepEqual(await shown(ask, 'SEARCH RETURN (UPDATE ALL) 2:3'), [
    '* ESEARCH (TAG) ALL 2:3',
    '* ESEARCH (TAG) REMOVEFROM (0 2)',
  ]);
  assert.deepEqual(await shown(ask, 'NOOP'), ['* 2 EXPUNGE']);
  await ok(ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  const removed = '* ESEARCH (TAG) REMOVEFROM (0 2)';
  assert.deepEqual(await shown(ask, 'EXPUNGE'), [removed, removed, '* 2 EXPUNGE']);
});

test('CONTEXT: IDLE reports updates at once', async (t) => {
  const { client, connect } = await open(t, ['1', '2']);
  await ok(client.ask, 'UID SORT RETURN (UPDATE) (REVERSE SUBJECT) UTF-8 SEEN');
  const other = await connect();
  await client.ask('IDLE');
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Seen');
  assert.match(await client.line(), /^\* 1 FETCH/);
  assert.match(await client.line(), /^\* ESEARCH \(TAG "t\d+"\) UID ADDTO \(1 1\)$/);
  await ok(other.ask, 'STORE 2 +FLAGS.SILENT \\Seen');
  assert.match(await client.line(), /^\* 2 FETCH/);
  assert.match(await client.line(), /^\* ESEARCH \(TAG "t\d+"\) UID ADDTO \(1 2\)$/);
  client.send('DONE\r\n');
  await client.responses();
});

test('CONTEXT: positions of sorted results', async (t) => {
  const { ask, connect, deliver } = await open(t, ['d', 'b', 'f'].map(String));
  const { ask: change } = await connect();
  await ok(ask, 'UID SORT RETURN (UPDATE ALL) (SUBJECT) UTF-8 UNFLAGGED');
  for (const subject of ['c', 'a', 'Re: g']) await deliver(message(subject));
  const updates = async () => (await shown(ask, 'NOOP')).filter((line) => line.includes('ESEARCH'));
  await ok(change, 'NOOP');
  // The results were b, d, f: UIDs 2, 1, 3.
  assert.deepEqual(await updates(), ['* ESEARCH (TAG) UID ADDTO (1 5 3 4 6 6)']);
  await ok(change, 'UID STORE 2,5 +FLAGS.SILENT \\Flagged');
  assert.match((await updates()).join(), /UID REMOVEFROM \((?:1 5,2|1 5 1 2)\)$/);
  await ok(change, 'UID STORE 1 +FLAGS.SILENT \\Flagged');
  await ok(change, 'UID STORE 5 -FLAGS.SILENT \\Flagged');
  assert.deepEqual(await updates(), ['* ESEARCH (TAG) UID REMOVEFROM (2 1) ADDTO (1 5)']);
  assert.deepEqual(await shown(ask, 'UID SORT RETURN (ALL) (SUBJECT) UTF-8 UNFLAGGED'), [
    '* ESEARCH (TAG) UID ALL 5,4,3,6',
  ]);
});

test('CONTEXT: sequence numbers and the saved result stay what they were, and * is the last UID', async (t) => {
  const { ask, deliver } = await open(t, ['1', '2', '3']);
  const updates = async (command: string) =>
    (await shown(ask, command)).filter((line) => line.includes('ESEARCH'));
  await ok(ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(ask, 'SEARCH RETURN (SAVE) 2:3');
  await ok(ask, 'SEARCH RETURN (UPDATE) 3:4 UNSEEN');
  await ok(ask, 'SEARCH RETURN (UPDATE) *');
  await ok(ask, 'UID SEARCH RETURN (SAVE UPDATE) $ UNSEEN');
  await ok(ask, 'EXPUNGE');
  await deliver(message('4'));
  assert.deepEqual(await updates('NOOP'), []);
  // The first list had message 3, which is 2 now.
  assert.deepEqual(await updates('UID STORE 3 +FLAGS.SILENT \\Seen'), [
    '* ESEARCH (TAG) REMOVEFROM (0 2)',
    '* ESEARCH (TAG) UID REMOVEFROM (0 3)',
  ]);
  await ok(ask, 'UID SEARCH RETURN (UPDATE) UID 9:*');
  await deliver(message('5'));
  assert.deepEqual(await updates('NOOP'), ['* ESEARCH (TAG) UID REMOVEFROM (0 4) ADDTO (0 5)']);
});

test('CANCELUPDATE and the end of the selection end updates', async (t) => {
  const { ask, mailbox } = await open(t, ['1', '2']);
  await ok(ask, 'UNSELECT');
  await completes(ask, 'CANCELUPDATE "a"', /^BAD/);
  await ok(ask, `SELECT ${mailbox}`);
  const tags: string[] = [];
  for (let count = 0; count < 4; count++)
    tags.push(/TAG "([^"]*)"/.exec((await ok(ask, 'SEARCH RETURN (UPDATE) SEEN')).join())?.[1] ?? '');
  await ok(ask, `CANCELUPDATE "${tags[0]}" "${tags[2]}" "none"`);
  const updates = (await ok(ask, 'STORE 1 +FLAGS.SILENT \\Seen')).join();
  assert.deepEqual(
    [...updates.matchAll(/TAG "([^"]*)"/g)].map(([, tag]) => tag),
    [tags[1], tags[3]],
  );
  await ok(ask, `SELECT ${mailbox}`);
  assert.deepEqual(await ok(ask, 'STORE 2 +FLAGS.SILENT \\Seen'), []);
  for (const wrong of ['', ' ', ' a', ' "a"b', ' ("a")'])
    await completes(ask, `CANCELUPDATE${wrong}`, /^BAD/);
});

test('NOUPDATE: the other options are honoured when there are too many updates, and a tag is used once', async (t) => {
  const { client, ask } = await open(t, ['1']);
  for (let count = 0; count < 10; count++) await ok(ask, 'SEARCH RETURN (UPDATE) ALL');
  const refused = await ok(ask, 'UID SEARCH RETURN (UPDATE COUNT) ALL');
  assert.match(refused.join('\n'), /^\* ESEARCH \(TAG "(t\d+)"\) UID COUNT 1\n\* NO \[NOUPDATE "\1"\] /);
  await ok(ask, 'CLOSE');
  await ok(ask, 'SELECT INBOX');
  const answer = async (command: string) => {
    client.send(`x ${command}\r\n`);
    const lines = [await client.line()];
    while (!lines.at(-1)?.startsWith('x ')) lines.push(await client.line());
    return lines;
  };
  assert.match((await answer('SEARCH RETURN (UPDATE) ALL')).at(-1) ?? '', /^x OK/);
  assert.match((await answer('SORT RETURN (UPDATE) (SUBJECT) UTF-8 ALL')).join(), /^x BAD [^,]*$/);
  assert.match((await answer('SEARCH RETURN (COUNT) ALL')).at(-1) ?? '', /^x OK/);
  assert.match((await answer('CANCELUPDATE "x"')).at(-1) ?? '', /^x OK/);
  assert.match((await answer('SEARCH RETURN (UPDATE) ALL')).at(-1) ?? '', /^x OK/);
});

test('UPDATE returns items of new messages that are added, once for all searches', async (t) => {
  const { ask, deliver, connect } = await open(t, ['1', '2']);
  const other = await connect();
  await ok(ask, 'SEARCH RETURN (UPDATE (UID BODY.PEEK[HEADER.FIELDS (SUBJECT)])) UNSEEN');
  await ok(ask, 'SEARCH RETURN (UPDATE (UID)) SUBJECT "3"');
  await ok(ask, 'SEARCH RETURN (UPDATE (ENVELOPE)) FLAGGED');
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Flagged');
  await deliver(message('3'));
  await deliver(message('4'), { flags: ['\\Seen'] });
  const lines = (await shown(ask, 'NOOP')).filter((line) => !line.includes('RECENT'));
  assert.deepEqual(lines, [
    '* 4 EXISTS',
    `* 1 FETCH (UID 1 FLAGS (\\Flagged${lines[1]?.includes('Recent') ? ' \\Recent' : ''}))`,
    '* 3 FETCH (UID 3 BODY[HEADER.FIELDS (SUBJECT)] {14}\r\nSubject: 3\r\n\r\n)',
    '* ESEARCH (TAG) ADDTO (0 3)',
    '* ESEARCH (TAG) ADDTO (0 3)',
    '* ESEARCH (TAG) ADDTO (0 1)',
  ]);
});
