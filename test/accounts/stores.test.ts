import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  findKeywords,
  internKeywords,
  listKeywordSets,
  NO_KEYWORDS,
} from '../../src/accounts/keyword-store.ts';
import { nextUidValidity } from '../../src/accounts/store.ts';
import { openTestAccount, START_MS } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());

test('a UIDVALIDITY is never given twice, whatever the clock shows', async () => {
  const tx = account.db.read;
  const seconds = START_MS / 1_000;
  assert.equal(await nextUidValidity(tx, START_MS), seconds + 6);
  assert.equal(await nextUidValidity(tx, START_MS - 1_000_000), seconds + 7);
  assert.equal(await nextUidValidity(tx, START_MS + 60_000), seconds + 60);
});

test('a set of keywords is stored once', async () => {
  const tx = account.db.read;
  assert.equal(await internKeywords(tx, []), NO_KEYWORDS);
  const id = await internKeywords(tx, ['$Forwarded', 'a']);
  assert.equal(await internKeywords(tx, ['$Forwarded', 'a']), id);
  assert.notEqual(await internKeywords(tx, ['a']), id);
  assert.deepEqual(await findKeywords(tx, id), ['$Forwarded', 'a']);
  assert.deepEqual(await findKeywords(tx, NO_KEYWORDS), []);
  assert.deepEqual((await listKeywordSets(tx)).get(id), ['$Forwarded', 'a']);
});

test('the sets of keywords of an account have a limit, and those that exist stay in use', async () => {
  const words = (set: number) => Array.from({ length: 128 }, (_, word) => `${set}.${word}`.padEnd(255, 'k'));
  let sets = 0;
  const intern = async () => {
    for (; sets < 200; sets++) await internKeywords(account.db.read, words(sets));
  };
  await assert.rejects(intern(), /too many different sets of keywords/);
  assert.ok(sets > 100 && sets < 130, `${sets} sets`);
  assert.deepEqual(
    await findKeywords(account.db.read, await internKeywords(account.db.read, words(1))),
    words(1),
  );
  await account.db.maintain((connection) => connection.exec('DELETE FROM keywordSets'));
});
