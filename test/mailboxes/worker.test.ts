import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { accountFolder } from '../../src/accounts/folder.ts';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { deleteMailbox } from '../../src/mailboxes/delete.ts';
import { findNextRemoval } from '../../src/mailboxes/removal-store.ts';
import { createRemovalWork } from '../../src/mailboxes/worker.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());
const { app, tenantId } = world;
let mailboxes = 0;

/** Deletes a mailbox that has a folder with a file. */
async function deleted(): Promise<{ id: MailboxRow['id']; folder: string }> {
  const { id } = await addMailbox(world, { address: `user${++mailboxes}@people.example` });
  const folder = accountFolder(app.config.dataDir, id);
  mkdirSync(join(folder, 'blobs'), { recursive: true });
  writeFileSync(join(folder, 'blobs', 'message'), 'Subject: Hello\r\n\r\n');
  await deleteMailbox({ ...app, accounts: noAccounts }, tenantId, id);
  return { id, folder };
}

test('the folder of a deleted mailbox is removed after its account is closed, and those of others stay', async () => {
  const { id: other } = await addMailbox(world, { address: 'other@people.example' });
  const kept = accountFolder(app.config.dataDir, other);
  mkdirSync(kept, { recursive: true });
  const { id, folder } = await deleted();
  const closed: [string, boolean][] = [];
  const work = createRemovalWork(app, async (closing) => void closed.push([closing, existsSync(folder)]));
  const { items } = await work.lease(10);
  assert.deepEqual(items, [id]);
  await work.run(id);
  assert.deepEqual(closed, [[id, true]]);
  assert.deepEqual([existsSync(folder), existsSync(kept)], [false, true]);
  assert.deepEqual(await work.lease(10), { items: [], nextDueAt: undefined });
});

test('a removal that a crash has interrupted is made after its lease', async () => {
  const { id, folder } = await deleted();
  const first = createRemovalWork(app, () => Promise.reject(new Error('the daemon ends here')));
  const { items } = await first.lease(10);
  assert.deepEqual(items, [id]);
  await assert.rejects(first.run(id));
  assert.equal(existsSync(folder), true);
  const next = createRemovalWork(app, async () => {});
  const dueAt = clock.now() + 600_000;
  assert.deepEqual(await next.lease(10), { items: [], nextDueAt: dueAt });
  await clock.advance(600_000);
  assert.deepEqual((await next.lease(10)).items, [id]);
  await next.run(id);
  assert.equal(existsSync(folder), false);
  assert.equal(await findNextRemoval(app.db.read), undefined);
});

test('a mailbox without a folder is removed too, and deleting one wakes the work', async (t) => {
  const notify = t.mock.method(app.wakeups, 'notify');
  const { id } = await addMailbox(world, { address: 'empty@people.example' });
  await deleteMailbox({ ...app, accounts: noAccounts }, tenantId, id);
  assert.deepEqual(notify.mock.calls[0]?.arguments, ['mailboxes']);
  const work = createRemovalWork(app, async () => {});
  const { items } = await work.lease(10);
  await work.run(items[0] ?? id);
  assert.equal(await findNextRemoval(app.db.read), undefined);
});
