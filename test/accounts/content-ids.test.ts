import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { prepareContent } from '../../src/accounts/content.ts';
import { insertContent } from '../../src/accounts/content-store.ts';
import { openAccount } from '../../src/accounts/open.ts';
import { createAccountApp, messageOf, openTestAccount } from '../support/test-account.ts';

async function add(account: OpenAccount, subject: string): Promise<number> {
  const content = await prepareContent(account, [messageOf(subject)]);
  return await insertContent(account.db.read, content.row, content);
}

function highest(account: OpenAccount): Promise<unknown> {
  return account.db.maintain((connection) =>
    connection.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'contents'").pluck().get(),
  );
}

function run(account: OpenAccount, statement: string): Promise<unknown> {
  return account.db.maintain((connection) => connection.exec(statement));
}

test('ids of contents are reserved together, and none is given twice', async () => {
  const app = createAccountApp();
  const first = await openTestAccount(app);
  const ids = [await add(first, 'a')];
  const reserved = await highest(first);
  ids.push(await add(first, 'b'));
  assert.equal(await highest(first), reserved);
  await run(first, 'DELETE FROM contents; DELETE FROM contentBytes');
  await first.close();

  const second = await openAccount(app, { id: 'mbx_1', folder: first.folder });
  await run(second, 'BEGIN');
  ids.push(await add(second, 'lost'));
  await run(second, 'ROLLBACK');
  assert.equal(await highest(second), reserved);
  const kept = await add(second, 'kept');
  ids.push(kept);
  assert.equal(await highest(second), kept);
  await run(second, 'DELETE FROM contents; DELETE FROM contentBytes');
  await second.close();

  const third = await openAccount(app, { id: 'mbx_1', folder: first.folder });
  ids.push(await add(third, 'c'));
  await third.close();
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
});
