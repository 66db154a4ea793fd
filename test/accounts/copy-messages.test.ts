/** Copies of messages that were removed, as the account stores them; tests of sessions check the responses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyOrMove } from '../../src/accounts/copy-messages.ts';
import { expungeMessages } from '../../src/accounts/expunge-messages.ts';
import { DELETED } from '../../src/accounts/flags.ts';
import { findFolder } from '../../src/accounts/folders.ts';
import { listKeywordSets } from '../../src/accounts/keyword-store.ts';
import { listSummaries } from '../../src/accounts/message-store.ts';
import { removeUnused } from '../../src/accounts/remove-unused.ts';
import { addTestMessages, messageOf, openTestAccount } from '../support/test-account.ts';

test('a message is copied without keywords that nobody had any more when they were removed', async (t) => {
  const account = await openTestAccount();
  t.after(() => account.close());
  await addTestMessages(account, 'INBOX', [
    { bytes: messageOf('1'), keywords: ['gone'], flags: DELETED },
    { bytes: messageOf('2'), keywords: ['kept'], flags: DELETED },
    { bytes: messageOf('3'), keywords: ['kept'] },
  ]);
  const folderId = (await findFolder(account, 'INBOX'))!.id;
  const toFolderId = (await findFolder(account, 'Archive'))!.id;
  const ranges = [{ uidFrom: 1, uidTo: 3 }];
  const removed = (await account.db.commit(expungeMessages, { folderId, ranges }))!.messages;
  for (const { contentId } of removed) account.heldContents.add(contentId);
  await removeUnused(account);
  const copy = { folderId, ranges: [], removed, toFolderId, isMove: false, quotaBytes: null, now: 0 };
  const copied = await account.db.commit(copyOrMove, copy);
  const stored = await listSummaries(account.db.read, { folderId: toFolderId, uidFrom: 1, uidTo: 9 });
  const keywords = await listKeywordSets(account.db.read);
  assert.deepEqual(
    stored.map(({ keywordSetId }) => (keywordSetId === 0 ? [] : keywords.get(keywordSetId))),
    [[], ['kept']],
  );
  assert.ok(copied.kind === 'copied');
  assert.deepEqual(
    copied.added.map(({ keywordSetId }) => keywordSetId),
    stored.map(({ keywordSetId }) => keywordSetId),
  );
});
