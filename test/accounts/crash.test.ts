import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkAccount } from '../../src/accounts/check.ts';
import { INLINE_BYTES, prepareContent, readContent } from '../../src/accounts/content.ts';
import { deliver } from '../../src/accounts/deliver.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { findMissing, importMessages } from '../../src/accounts/transfer.ts';
import { createAccountApp, messageOf, openTestAccount, START_MS } from '../support/test-account.ts';
import { importedBatch } from './imported-batch.ts';

const CHILD = fileURLToPath(new URL('./delivering-child.ts', import.meta.url));
const IMPORTING = fileURLToPath(new URL('./importing-child.ts', import.meta.url));

for (const { point, size, stored } of [
  { point: 'mailbox-delivery-before-commit', size: INLINE_BYTES + 100, stored: 0 },
  { point: 'mailbox-delivery-after-commit', size: 100, stored: 1 },
]) {
  test(`a delivery that is killed at ${point} is stored once when it is repeated`, async () => {
    const app = createAccountApp();
    const created = await openTestAccount(app);
    await created.close();
    const { folder } = created;
    const child = spawn(process.execPath, [CHILD, folder, point, String(size)], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
    const account = await openAccount(app, { id: 'mbx_1', folder });
    const messages = () => account.db.read.selectFrom('messages').select(['uid', 'contentId']).execute();
    assert.equal((await messages()).length, stored);
    assert.deepEqual((await checkAccount(account)).findings, []);
    const content = await prepareContent(account, [messageOf('delivered', size)]);
    const prefix = Buffer.from('Return-Path: <a@test.example>\r\n');
    await deliver(account, { deliveryId: 'in_1', content, prefix, flags: 0, receivedAt: START_MS });
    const [message, ...more] = await messages();
    assert.deepEqual([message?.uid, more], [1, []]);
    assert.deepEqual(await readContent(account, message!.contentId), messageOf('delivered', size));
    await account.close();
  });
}

for (const { point, stored } of [
  { point: 'import-before-commit', stored: 0 },
  { point: 'import-after-commit', stored: 2 },
]) {
  test(`an import that is killed at ${point} is stored once when it is repeated`, async () => {
    const app = createAccountApp();
    const created = await openTestAccount(app);
    await created.close();
    const { folder } = created;
    const child = spawn(process.execPath, [IMPORTING, folder, point], { stdio: 'inherit' });
    assert.deepEqual(await once(child, 'close'), [null, 'SIGKILL']);
    const account = await openAccount(app, { id: 'mbx_1', folder });
    const count = async () => (await account.db.read.selectFrom('messages').select('uid').execute()).length;
    assert.equal(await count(), stored);
    const missing = await findMissing(account, ['one', 'two', 'content of one']);
    assert.deepEqual(missing, stored === 0 ? ['one', 'two', 'content of one'] : []);
    const { added } = await importMessages(account, importedBatch());
    assert.deepEqual([added, await count()], [2 - stored, 2]);
    assert.deepEqual((await checkAccount(account)).findings, []);
    await account.close();
  });
}
