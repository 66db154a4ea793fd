import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { discard, prepareContent } from '../../src/accounts/content.ts';
import { copyAccount, copyClosed } from '../../src/accounts/copy.ts';
import { accountFolder, contentFolder } from '../../src/accounts/folder.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { listForExport, readForExport } from '../../src/accounts/transfer.ts';
import { pathOf } from '../../src/blobs/files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { addTestMessages, createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';

const LARGE_BYTES = 400_000;

async function readAll(folder: string) {
  const account = await openAccount(createAccountApp(), { id: 'mbx_1', folder });
  try {
    const { uidValidity } = (await listForExport(account)).find(({ name }) => name === 'INBOX') ?? {};
    const messages = await readForExport(account, { folder: 'INBOX', afterUid: 0, maxBytes: 10_000_000 });
    return { uidValidity, sizes: messages.map(({ content }) => content.length > LARGE_BYTES / 2) };
  } finally {
    await account.close();
  }
}

test('an account is copied while it is used: small and large messages, and mail that arrives meanwhile', async () => {
  const account = await openTestAccount();
  await addTestMessages(account, 'INBOX', [messageOf('small'), messageOf('large', LARGE_BYTES)]);
  const to = join(temporaryDirectory('copy'), 'mbx_1');
  const copying = copyAccount(account, to);
  await addTestMessages(account, 'INBOX', [messageOf('later')]);
  const { linked } = await copying;
  assert.equal(linked.length, 1);
  await account.close();
  assert.deepEqual((await readAll(to)).sizes.slice(0, 2), [false, true]);
});

test('no file of an account is removed while it is copied', async () => {
  const account = await openTestAccount();
  const content = await prepareContent(account, [messageOf('large', LARGE_BYTES)]);
  const file = pathOf(contentFolder(account.folder), content.row.blobSha256 ?? '');
  await account.fileHolds.during(() => discard(account, content));
  assert.ok(existsSync(file));
  await discard(account, content);
  assert.ok(!existsSync(file));
  const copying = copyAccount(account, join(temporaryDirectory('copy'), 'mbx_1'));
  assert.ok(account.fileHolds.isHeld);
  await copying;
  assert.ok(!account.fileHolds.isHeld);
  await account.close();
});

test('an account that nobody has open is copied, when no daemon runs', async () => {
  const dataDir = temporaryDirectory('copy');
  const account = await openTestAccount(createAccountApp(), accountFolder(dataDir, 'mbx_1'));
  await addTestMessages(account, 'INBOX', [messageOf('small')]);
  await account.close();
  const to = join(temporaryDirectory('copy'), 'mbx_1');
  await copyClosed(dataDir)({ id: 'mbx_1' }, to);
  assert.deepEqual(await readAll(to), await readAll(account.folder));
});
