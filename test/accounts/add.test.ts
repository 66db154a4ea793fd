import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, test } from 'node:test';
import { addMessages, type NewMessage } from '../../src/accounts/add.ts';
import type { FolderChange } from '../../src/accounts/changes.ts';
import { INLINE_BYTES, prepareContent } from '../../src/accounts/content.ts';
import { expungeMessages } from '../../src/accounts/expunge-messages.ts';
import { DELETED, SEEN } from '../../src/accounts/flags.ts';
import { contentFolder } from '../../src/accounts/folder.ts';
import { createFolder, findFolder } from '../../src/accounts/folders.ts';
import { findKeywords } from '../../src/accounts/keyword-store.ts';
import { findMessage } from '../../src/accounts/message-store.ts';
import { removeUnused } from '../../src/accounts/remove-unused.ts';
import { findAccountRow } from '../../src/accounts/store.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { addTestMessages, messageOf, openTestAccount, START_MS } from '../support/test-account.ts';

const account = await openTestAccount();
after(() => account.close());

async function newMessage(subject: string, size = 0): Promise<NewMessage> {
  const content = await prepareContent(account, [messageOf(subject, size)]);
  return { content, flags: 0, keywords: [], internalDate: { atMs: START_MS, zoneMinutes: 60 } };
}

test('messages get UIDs in their order, one modseq, and change the counts of the folder', async () => {
  const { id } = await createFolder(account, 'added');
  const told: FolderChange[] = [];
  account.changes.subscribe(id, (change) => told.push(change));
  const prefix = Buffer.from('Delivered-To: a@test.example\r\n');
  const bytes = messageOf('one');
  const uids = await addTestMessages(account, 'added', [
    { bytes, flags: SEEN, keywords: ['$Forwarded'], prefix },
    { bytes, flags: DELETED },
    bytes,
  ]);
  assert.deepEqual(uids, [1, 2, 3]);
  const folder = (await findFolder(account, 'added'))!;
  const { uidNext, messageCount, unseenCount, deletedCount, sizeBytes, highestModseq } = folder;
  assert.deepEqual(
    [uidNext, messageCount, unseenCount, deletedCount, sizeBytes],
    [4, 3, 2, 1, 3 * bytes.length + prefix.length],
  );
  const message = (await findMessage(account.db.read, { folderId: id, uid: 1 }))!;
  assert.equal(message.modseq, highestModseq);
  assert.equal(message.sizeBytes, bytes.length + prefix.length);
  assert.deepEqual(message.prefix, prefix);
  assert.deepEqual(await findKeywords(account.db.read, message.keywordSetId), ['$Forwarded']);
  assert.match(message.emailId, /^[A-Za-z0-9_-]{10,}$/);
  const firstContent = message.contentId;
  assert.deepEqual(told, [
    {
      kind: 'added',
      folderId: id,
      modseq: highestModseq,
      messages: [
        {
          uid: 1,
          contentId: firstContent,
          flags: SEEN,
          keywordSetId: message.keywordSetId,
          modseq: highestModseq,
        },
        { uid: 2, contentId: firstContent + 1, flags: DELETED, keywordSetId: 0, modseq: highestModseq },
        { uid: 3, contentId: firstContent + 2, flags: 0, keywordSetId: 0, modseq: highestModseq },
      ],
    },
  ]);
});

test('an unknown folder adds nothing and discards the contents', async () => {
  const message = await newMessage('nowhere', INLINE_BYTES + 1_000);
  const file = pathOf(contentFolder(account.folder), message.content.row.blobSha256!);
  assert.ok(existsSync(file));
  assert.deepEqual(await addMessages(account, { folder: 'nowhere', messages: [message] }), {
    refused: 'folder',
  });
  assert.equal(existsSync(file), false);
});

test('a full account adds none of the messages, and mail without a quota is added', async () => {
  await createFolder(account, 'full');
  const { usedBytes } = (await findAccountRow(account.db.read))!;
  const both = [await newMessage('a'), await newMessage('b')];
  const size = both[0]!.content.row.sizeBytes + both[1]!.content.row.sizeBytes;
  const add = (quotaBytes: number | undefined) =>
    addMessages(account, { folder: 'full', messages: both, ...(quotaBytes !== undefined && { quotaBytes }) });
  assert.deepEqual(await add(usedBytes + size - 1), { refused: 'quota' });
  assert.equal((await findFolder(account, 'full'))?.messageCount, 0);
  assert.ok('uids' in (await add(usedBytes + size)));
  assert.ok('uids' in (await add(undefined)));
  assert.equal((await findAccountRow(account.db.read))?.usedBytes, usedBytes + 2 * size);
});

test('changes are told in the order of their modseq when many add at once', async () => {
  const { id } = await createFolder(account, 'busy');
  const modseqs: number[] = [];
  account.changes.subscribe(id, ({ modseq }) => modseqs.push(modseq));
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => addTestMessages(account, 'busy', [messageOf(`m${index}`)])),
  );
  assert.equal(modseqs.length, 20);
  assert.deepEqual(
    modseqs,
    modseqs.toSorted((a, b) => a - b),
  );
});

test('messages that are added and removed again and again stay within twice the quota', async () => {
  const own = await openTestAccount();
  const add = async () => {
    const content = await prepareContent(own, [messageOf('again', 40_000)]);
    const internalDate = { atMs: START_MS, zoneMinutes: 0 };
    const message = { content, flags: DELETED, keywords: [], internalDate };
    const added = await addMessages(own, { folder: 'INBOX', messages: [message], quotaBytes: 100_000 });
    if ('refused' in added) return added.refused;
    await own.db.commit(expungeMessages, {
      folderId: added.folderId,
      ranges: [{ uidFrom: 1, uidTo: 1_000 }],
    });
    return 'added';
  };
  const results = [];
  for (let count = 0; count < 6; count++) results.push(await add());
  assert.deepEqual(results, ['added', 'added', 'added', 'added', 'quota', 'quota']);
  await removeUnused(own);
  assert.equal(await add(), 'added');
  await own.close();
});
