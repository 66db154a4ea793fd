/** Extensions that every kind of session must answer the same, as transcripts like those of letter.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/mail/imap/options.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { completes, numbersOf, ok, openerOf } from './letter.ts';

const open = openerOf(await createAccountMail());

test('APPENDLIMIT: CAPABILITY, STATUS and LIST tell the limit beyond which APPEND answers TOOBIG', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  const limit = DEFAULT_LIMITS.messageBytes;
  assert.ok((await ok(ask, 'CAPABILITY')).join().split(' ').includes(`APPENDLIMIT=${limit}`));
  const status = `* STATUS ${mailbox} (MESSAGES 1 APPENDLIMIT ${limit})`;
  assert.deepEqual(await ok(ask, `STATUS ${mailbox} (MESSAGES APPENDLIMIT)`), [status]);
  const [, listed] = await ok(ask, `LIST "" ${mailbox} RETURN (STATUS (MESSAGES appendlimit))`);
  assert.equal(listed, status);
  await completes(ask, `APPEND ${mailbox} {${limit + 1}}`, /^NO \[TOOBIG\]/);
  await completes(ask, `APPEND ${mailbox} {${limit}}`, /^\+/);
});

test('REPLACE: the new message is added and the old one removed as one change', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2', '3']);
  const other = await connect('ENABLE QRESYNC');
  await ok(ask, 'STORE 2 +FLAGS.SILENT (\\Flagged \\Deleted)');
  await ok(other.ask, 'NOOP');
  const replaced = await ok(ask, `REPLACE 2 ${mailbox} (\\Draft) {3+}\r\nnew`);
  assert.match(replaced[0] ?? '', /^\* OK \[APPENDUID \d+ 4\] /);
  assert.deepEqual(replaced.slice(1, 3), ['* 2 EXPUNGE', '* 3 EXISTS']);
  // Flags and content are not inherited.
  assert.deepEqual(await ok(ask, 'FETCH 3 (UID FLAGS BODY.PEEK[])'), [
    '* 3 FETCH (UID 4 FLAGS (\\Draft \\Recent) BODY[] {3}\r\nnew)',
  ]);
  assert.deepEqual((await ok(other.ask, 'NOOP')).slice(0, 2), ['* VANISHED 2', '* 3 EXISTS']);
  const again = await other.ask(`UID REPLACE 4 {${mailbox.length}+}\r\n${mailbox} {4+}\r\nnext`);
  assert.match(again.join('\n'), /APPENDUID \d+ 5\].*\n\* VANISHED 4\n\* 3 EXISTS/);
  assert.match(again.at(-1) ?? '', /^OK \[HIGHESTMODSEQ \d+\] UID REPLACE/);
  await ok(ask, 'NOOP');
  assert.deepEqual(await ok(ask, 'UID SEARCH ALL'), ['* SEARCH 1 3 5']);
});

test('REPLACE: nothing is added and nothing removed when it is refused', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  await completes(ask, `REPLACE 3 ${mailbox} {1+}\r\nx`, /^BAD/);
  await completes(ask, `UID REPLACE 9 ${mailbox} {1+}\r\nx`, /^NO \[NONEXISTENT\]/);
  await completes(ask, 'REPLACE 1 nowhere {99}', /^NO \[TRYCREATE\]/);
  for (const wrong of ['1:2', '1,2', '$', '0', ''])
    await completes(ask, `REPLACE ${wrong} ${mailbox} {1+}\r\nx`, /^BAD/);
  await completes(ask, `REPLACE 1 ${mailbox} {1+}\r\nx {1+}\r\ny`, /^BAD/);
  await completes(ask, `REPLACE 1 ${mailbox} (\\Seen)`, /^BAD/);
  assert.deepEqual(await ok(ask, 'UID SEARCH ALL'), ['* SEARCH 1 2']);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  await completes(ask, `REPLACE 1 ${mailbox} {1+}\r\nx`, /^NO \[EXPUNGEISSUED\]/);
  await ok(ask, `EXAMINE ${mailbox}`);
  await completes(ask, `REPLACE 1 ${mailbox} {1+}\r\nx`, /^NO \[READ-ONLY\]/);
  assert.deepEqual(await ok(ask, 'UID SEARCH ALL'), ['* SEARCH 2']);
  await ok(ask, 'UNSELECT');
  await completes(ask, `REPLACE 1 ${mailbox} {1+}\r\nx`, /^BAD/);
});

test('PARTIAL: SEARCH and SORT return pages, from either end', async (t) => {
  const { ask } = await open(t, ['1', '2', '3', '4', '5', '6']);
  const found = async (command: string) => (await ok(ask, command)).join().replace(/TAG "[^"]*"/, 'TAG');
  await ok(ask, 'STORE 3 +FLAGS.SILENT \\Flagged');
  // The messages without the flag are 1, 2, 4, 5 and 6.
  for (const [range, page] of [
    ['1:2', '1:2'],
    ['3:2', '2,4'],
    ['4:9', '5:6'],
    ['6:9', 'NIL'],
    ['-1:-2', '5:6'],
    ['-4:-3', '2,4'],
    ['-5:-9', '1'],
    ['-6:-9', 'NIL'],
  ])
    assert.equal(
      await found(`UID SEARCH RETURN (PARTIAL ${range}) UNFLAGGED`),
      `* ESEARCH (TAG) UID PARTIAL (${range} ${page})`,
    );
  assert.equal(
    await found('SEARCH RETURN (MIN partial 2:3 COUNT) UNFLAGGED'),
    '* ESEARCH (TAG) MIN 1 COUNT 5 PARTIAL (2:3 2,4)',
  );
  assert.equal(
    await found('SORT RETURN (PARTIAL 1:2) (REVERSE SUBJECT) UTF-8 ALL'),
    '* ESEARCH (TAG) PARTIAL (1:2 6,5)',
  );
  for (const wrong of [
    'PARTIAL',
    'PARTIAL 0:1',
    'PARTIAL 1:*',
    'PARTIAL -1:1',
    'PARTIAL 1',
    'PARTIAL 1:2 ALL',
  ])
    await completes(ask, `SEARCH RETURN (${wrong}) ALL`, /^BAD/);
  await completes(ask, 'SEARCH RETURN (PARTIAL 1:2 PARTIAL 3:4) ALL', /^BAD/);
});

test('PARTIAL: SAVE keeps the page with MIN and MAX, and all that was found with COUNT', async (t) => {
  const { ask } = await open(t, ['1', '2', '3', '4', '5', '6']);
  for (const [options, saved] of [
    ['SAVE PARTIAL 2:3', '2 3'],
    ['SAVE PARTIAL 2:3 MIN', '1 2 3'],
    ['SAVE PARTIAL 2:3 MAX', '2 3 6'],
    ['SAVE PARTIAL 2:3 MIN MAX', '1 2 3 6'],
    ['SAVE PARTIAL 2:3 COUNT', '1 2 3 4 5 6'],
  ]) {
    assert.match((await ok(ask, `SEARCH RETURN (${options}) ALL`)).join(), /PARTIAL \(2:3 2:3\)/);
    assert.deepEqual(await ok(ask, 'SEARCH $'), [`* SEARCH ${saved}`]);
  }
});

test('PARTIAL: UID FETCH returns a page of the messages, of which CHANGEDSINCE leaves those that were changed', async (t) => {
  const { mailbox, ask } = await open(t, ['1', '2', '3', '4', '5', '6']);
  const since = numbersOf('HIGHESTMODSEQ', await ok(ask, `STATUS ${mailbox} (HIGHESTMODSEQ)`))[0];
  await ok(ask, 'STORE 1,6 +FLAGS.SILENT \\Flagged');
  const uids = async (set: string, modifiers: string) =>
    numbersOf('UID', await ok(ask, `UID FETCH ${set} (UID) (${modifiers})`));
  assert.deepEqual(await uids('2:3,5:99', 'PARTIAL 2:3'), [3, 5]);
  assert.deepEqual(await uids('2:3,5:99', 'PARTIAL -1:-3'), [3, 5, 6]);
  assert.deepEqual(await uids('1:*', 'PARTIAL 7:9'), []);
  assert.deepEqual(await uids('1:*', `PARTIAL -1:-3 CHANGEDSINCE ${since}`), [6]);
  assert.deepEqual(await uids('1:*', `CHANGEDSINCE ${since} PARTIAL 1:2`), [1]);
  await completes(ask, 'FETCH 1:* (UID) (PARTIAL 1:2)', /^BAD/);
  await completes(ask, 'UID FETCH 1:* (UID) (PARTIAL 1:2 PARTIAL 3:4)', /^BAD/);
});
