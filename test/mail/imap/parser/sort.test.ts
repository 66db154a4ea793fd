import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../../../../src/mail/imap/command-error.ts';
import { Cursor } from '../../../../src/mail/imap/parser/cursor.ts';
import { parseSort } from '../../../../src/mail/imap/parser/sort.ts';
import { parseThread } from '../../../../src/mail/imap/parser/thread.ts';

const cursorOf = (text: string) => new Cursor(Buffer.from(text));
const sort = (text: string) => parseSort(cursorOf(text));
const thread = (text: string) => parseThread(cursorOf(text));

test('SORT reads its criteria, the charset and the keys', () => {
  assert.deepEqual(sort(' (SUBJECT reverse DATE DisplayFrom) UTF-8 ALL'), {
    esearch: undefined,
    criteria: [
      { key: 'subject', reverse: false },
      { key: 'date', reverse: true },
      { key: 'displayFrom', reverse: false },
    ],
    keys: [{ kind: 'all' }],
  });
  assert.deepEqual(sort(' RETURN (MIN) (SIZE) "us-ascii" ALL').esearch?.min, true);
  assert.deepEqual(sort(' RETURN () (SIZE) US-ASCII ALL').esearch?.all, true);
});

test('a criterion counts once', () => {
  const repeated = `(${'DATE REVERSE DATE '.repeat(5_000)}SIZE)`;
  assert.deepEqual(sort(` ${repeated} UTF-8 ALL`).criteria, [
    { key: 'date', reverse: false },
    { key: 'size', reverse: false },
  ]);
});

test('THREAD reads its algorithm, the charset and the keys', () => {
  assert.deepEqual(thread(' references UTF-8 SEEN'), {
    algorithm: 'REFERENCES',
    keys: [{ kind: 'flag', flag: '\\Seen' }],
  });
  assert.equal(thread(' ORDEREDSUBJECT US-ASCII ALL').algorithm, 'ORDEREDSUBJECT');
});

test('malformed arguments are BAD, and an unknown charset is NO', () => {
  for (const text of [
    '',
    ' ',
    ' () UTF-8 ALL',
    ' (X) UTF-8 ALL',
    ' (REVERSE) UTF-8 ALL',
    ' (DATE) UTF-8',
    ' DATE UTF-8 ALL',
  ])
    assert.throws(() => sort(text), { name: 'CommandError', status: 'BAD' }, text);
  for (const text of ['', ' REFS UTF-8 ALL', ' REFERENCES UTF-8', ' REFERENCES', ' (REFERENCES) UTF-8 ALL'])
    assert.throws(() => thread(text), { name: 'CommandError', status: 'BAD' }, text);
  for (const run of [() => sort(' (DATE) X-NONE ALL'), () => thread(' REFERENCES X-NONE ALL')])
    assert.throws(
      run,
      (error) => error instanceof CommandError && error.code === 'BADCHARSET (US-ASCII UTF-8 ISO-8859-1)',
    );
});
