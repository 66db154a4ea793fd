import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { connectionOf } from '../../src/db/dialect.ts';
import { readingTogether } from '../../src/db/read-together.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const { tx, close } = openMemoryDatabase();
after(close);

test('reads of one turn share a transaction, each gets its own answer, and one that fails harms no other', async () => {
  const read: string[] = [];
  const find = readingTogether(tx, async (db, key: string) => {
    read.push(key);
    queueMicrotask(() => read.push('microtask'));
    if (key === 'bad') throw new Error('it fails');
    return [key, connectionOf(db).inTransaction];
  });
  const answers = await Promise.allSettled(['a', 'bad', 'b'].map(find));
  assert.deepEqual(read.slice(0, 4), ['a', 'bad', 'b', 'microtask']);
  assert.deepEqual(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason.message)),
    [['a', true], 'it fails', ['b', true]],
  );
  assert.equal(connectionOf(tx).inTransaction, false);
  assert.deepEqual(await find('c'), ['c', true]);
});
