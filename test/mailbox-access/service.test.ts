/** Logins by IMAP and POP3 whose credential is revoked while they are admitted. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, beforeEach, test } from 'node:test';
import { connect } from 'node:tls';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { createMailboxes } from '../../src/mailbox-access/service.ts';
import { revokeAppPassword } from '../../src/mailboxes/app-passwords/revoke.ts';
import { recordUsage } from '../../src/mailboxes/store.ts';
import { createClient, type TestClient } from '../mail/imap/fixture.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { openTestApp } from '../support/test-app.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';

const ports = ['IMAP', 'POP3', 'MANAGESIEVE'].map((name) => [`POSTRIDER_${name}_PORT`, '0']);
const world = await openTestApp({ env: Object.fromEntries(ports) });
const { db } = world.app;

/** Runs while a mailbox is opened for the first time. */
let whileOpened = async (): Promise<unknown> => undefined;
beforeEach(() => {
  whileOpened = async () => undefined;
});
const commit: typeof db.commit = async (write, ...input) => {
  if (write.name === recordUsage.name) await whileOpened();
  return await db.commit(write, ...input);
};
const app = { ...world.app, db: { ...db, read: db.read, commit } };
const certificates = { follow: () => [EC_PAIR], list: () => assert.fail() };
const mailboxes = createMailboxes(app, certificates, { inThreads: false });
const clients: Socket[] = [];
after(async () => {
  for (const client of clients) client.destroy();
  await mailboxes.stop(0);
  await world.close();
});

async function addRevocable(name: string) {
  const mailbox = await addMailbox(world, { address: `${name}@people.example` });
  await mailboxes.startIfNeeded();
  const { row, secret } = await addAppPassword(world, mailbox);
  const named = { mailboxId: mailbox.id, id: row.id };
  const revoke = () => revokeAppPassword({ ...app, accounts: mailboxes.accounts }, world.tenantId, named);
  return { mailbox, secret, revoke };
}

async function dial(protocol: 'imap' | 'pop3'): Promise<TestClient> {
  const port = Number((await mailboxes.accessAddresses())?.[protocol][0]?.split(':').at(-1));
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  clients.push(socket);
  const client = createClient(socket);
  await client.line();
  return client;
}

/** Returns true when no session has the account, which can then be closed. */
const isFree = (mailbox: MailboxRow): Promise<boolean> =>
  mailboxes.accounts.run(mailbox, (_, calls) => calls.closeIdle({ id: mailbox.id }));

test('an app password that is revoked while IMAP opens the mailbox leaves no session', async () => {
  const { mailbox, secret, revoke } = await addRevocable('imap');
  whileOpened = revoke;
  const client = await dial('imap');
  assert.match(
    (await client.ask(`LOGIN ${mailbox.address} ${secret}`)).join(),
    /^NO \[AUTHENTICATIONFAILED\]/,
  );
  assert.equal(await isFree(mailbox), true);
});

test('an app password that is revoked while POP3 opens the mailbox leaves no session', async () => {
  const { mailbox, secret, revoke } = await addRevocable('pop');
  whileOpened = revoke;
  const client = await dial('pop3');
  client.send(`USER ${mailbox.address}\r\nPASS ${secret}\r\n`);
  assert.match(await client.line(), /^\+OK/);
  assert.match(await client.line(), /^-ERR \[AUTH\]/);
  assert.equal(await isFree(mailbox), true);
});
