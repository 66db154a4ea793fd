/** Imports in a running daemon, with real mailboxes, from our own IMAP server with mail in memory. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { MailboxImportRow, MailboxRow } from '../../src/db/mailbox-tables.ts';
import { readCounts } from '../../src/mailbox-imports/counts.ts';
import { createImport } from '../../src/mailbox-imports/create.ts';
import { findImport } from '../../src/mailbox-imports/store.ts';
import { changeMailbox } from '../../src/mailboxes/change.ts';
import { startDaemon } from '../../src/main.ts';
import { realClock } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';
import { insertTenant } from '../../src/tenants/store.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { USER } from '../support/account-mail.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { waitUntil } from '../support/wait-until.ts';
import { HOST, sourceSystem, startSource } from './fixture.ts';

const env = {
  POSTRIDER_DATA_DIR: newDataDirectory(),
  POSTRIDER_HOSTNAME: 'mx.postrider.example',
  ...FREE_PORTS,
  POSTRIDER_STORAGE_RESERVE_MEGABYTES: '0',
  POSTRIDER_LOG_LEVEL: 'silent',
};
const daemon = await startDaemon(loadConfig({ env }), sourceSystem(realClock));
const now = realClock.now();
const tenantId = newId('ten', now);
await daemon.app.db.commit(insertTenant, {
  id: tenantId,
  name: 'people',
  plan: 'unlimited',
  createdAt: now,
});

after(() => daemon.stop());

/** Imports from a server into a mailbox, and returns the import when it has ended. */
async function importFrom(port: number, { id: mailboxId }: MailboxRow): Promise<MailboxImportRow> {
  const { app } = daemon;
  const { username: user, password } = USER;
  const { id } = await createImport(app, tenantId, {
    mailboxId,
    wanted: { host: HOST, port, user, password },
  });
  let row: MailboxImportRow | undefined;
  await waitUntil(async () => {
    row = await findImport(app.db.read, id);
    return row?.finishedAt !== null;
  });
  return row ?? assert.fail();
}

const letter = (subject: string) => `Subject: ${subject}\r\n\r\n${subject}\r\n`;

test('small and large messages are stored, and a second import adds none of them again', async (t) => {
  const { port, mail } = await startSource(t);
  for (let number = 0; number < 201; number++) await mail.deliver('INBOX', letter(`${number}`));
  await mail.deliver('INBOX', letter('x'.repeat(1_100_000)));
  const mailbox = await addMailbox({ app: daemon.app, tenantId }, { quotaBytes: 50_000_000 });
  const first = await importFrom(port, mailbox);
  assert.deepEqual([first.status, first.error, first.password], ['completed', null, null]);
  assert.equal(readCounts(first).imported, 202);
  const { imported, known } = readCounts(await importFrom(port, mailbox));
  assert.deepEqual([imported, known], [0, 202]);
});

test('the quota ends an import, which goes on when it is raised', async (t) => {
  const { port, mail } = await startSource(t);
  for (let number = 0; number < 3; number++) await mail.deliver('INBOX', letter('x'.repeat(1_000 + number)));
  const address = 'full@people.example';
  const mailbox = await addMailbox({ app: daemon.app, tenantId }, { address, quotaBytes: 1_000 });
  const { status, reason, error } = await importFrom(port, mailbox);
  assert.deepEqual(
    [status, reason, error],
    ['failed', 'mailbox_full', 'The mailbox is full; raise its quota'],
  );
  const app = { ...daemon.app, accounts: noAccounts };
  await changeMailbox(app, tenantId, { id: mailbox.id, change: { quotaBytes: 10_000_000 } });
  const again = await importFrom(port, mailbox);
  assert.deepEqual([again.status, readCounts(again).imported], ['completed', 3]);
});
