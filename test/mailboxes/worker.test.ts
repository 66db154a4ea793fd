import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { accountFolder } from '../../src/accounts/folder.ts';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { deleteMailbox } from '../../src/mailboxes/delete.ts';
import { createRemovalKind } from '../../src/mailboxes/worker.ts';
import type { WakeupSubjects } from '../../src/system/wakeups.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { releaseTasksOf, runDueTasks } from '../support/tasks.ts';
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
  const kind = createRemovalKind(app, async (closing) => void closed.push([closing, existsSync(folder)]));
  assert.deepEqual(await runDueTasks(app, kind), [id]);
  assert.deepEqual(closed, [[id, true]]);
  assert.deepEqual([existsSync(folder), existsSync(kept)], [false, true]);
  assert.deepEqual(await runDueTasks(app, kind), []);
});

test('a removal that a crash has interrupted is made after the next start', async () => {
  const { id, folder } = await deleted();
  const dying = createRemovalKind(app, () => Promise.reject(new Error('the daemon ends here')));
  await assert.rejects(runDueTasks(app, dying));
  assert.equal(existsSync(folder), true);
  const kind = createRemovalKind(app, async () => {});
  assert.deepEqual(await runDueTasks(app, kind), []);
  assert.equal(await releaseTasksOf(app, kind.name), 1);
  assert.deepEqual(await runDueTasks(app, kind), [id]);
  assert.equal(existsSync(folder), false);
});

test('a mailbox without a folder is removed too, and deleting one wakes the work', async () => {
  const woken = Promise.withResolvers<WakeupSubjects>();
  const stopListening = app.wakeups.listen('tasks', woken.resolve);
  const { id } = await addMailbox(world, { address: 'empty@people.example' });
  await deleteMailbox({ ...app, accounts: noAccounts }, tenantId, id);
  assert.deepEqual(await woken.promise, ['mailbox-removals mailbox-removals']);
  stopListening();
  assert.deepEqual(
    await runDueTasks(
      app,
      createRemovalKind(app, async () => {}),
    ),
    [id],
  );
});
