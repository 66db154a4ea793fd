/** The connections of submission end as soon as their logins do. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { createAccounts } from '../../src/mailboxes/accounts.ts';
import { revokeAppPassword } from '../../src/mailboxes/app-passwords/revoke.ts';
import { changeMailbox } from '../../src/mailboxes/change.ts';
import { deleteMailbox } from '../../src/mailboxes/delete.ts';
import { recordDamage } from '../../src/mailboxes/store.ts';
import type { TestClient } from '../mail/smtp/server/fixture.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { MESSAGE, openSubmissionWorld, plain, submit } from './submission-world.ts';

let afterComparison = async (): Promise<unknown> => undefined;
const world = await openSubmissionWorld({ afterComparison: () => afterComparison() });
const { clock, tenantId } = world;
const app = { ...world.app, accounts: createAccounts(world.app, []) };
beforeEach(() => {
  afterComparison = async () => undefined;
});

let mailboxes = 0;
const newMailbox = () => addMailbox(world, { address: `login${++mailboxes}@people.example` });

async function assertEnded(client: TestClient): Promise<void> {
  assert.match(await client.ask('NOOP\r\n'), /^421 4\.7\.0 The login does not stand any more/);
  assert.equal(await client.reply(), 'closed');
}

test('a revoked app password ends its sessions at once, and no others', async () => {
  const mailbox = await newMailbox();
  const { id, address } = mailbox;
  const { row, secret } = await addAppPassword(world, mailbox);
  const other = await addAppPassword(world, mailbox);
  const client = await world.logIn(address, secret);
  const others = [await world.logIn(address), await world.logIn(address, other.secret)];
  await revokeAppPassword(app, tenantId, { mailboxId: id, id: row.id });
  await assertEnded(client);
  const mail = { from: address, message: MESSAGE.replace('ann@people.example', address) };
  for (const one of others) assert.match(await submit(one, mail), /^250 /);
});

test('sessions end when their app password expires', async () => {
  const mailbox = await newMailbox();
  const { secret } = await addAppPassword(world, mailbox, { expiresAt: clock.now() + 60_000 });
  const client = await world.logIn(mailbox.address, secret);
  await clock.advance(59_000);
  assert.match(await client.ask('NOOP\r\n'), /^250 /);
  await clock.advance(1_000);
  await assertEnded(client);
});

for (const [what, end] of [
  [
    'another password',
    (id: string) => changeMailbox(app, tenantId, { id, change: { password: 'new password' } }),
  ],
  [
    'logins without it only',
    (id: string) => changeMailbox(app, tenantId, { id, change: { passwordLogin: false } }),
  ],
  ['a suspension', (id: string) => changeMailbox(app, tenantId, { id, change: { status: 'suspended' } })],
] as const)
  test(`sessions of the password of a mailbox end with ${what}`, async () => {
    const { id, address } = await newMailbox();
    const client = await world.logIn(address);
    await end(id);
    await assertEnded(client);
  });

test('sessions end with their mailbox', async () => {
  const { id, address } = await newMailbox();
  const client = await world.logIn(address);
  await deleteMailbox(app, tenantId, id);
  await assertEnded(client);
});

test('an app password that is revoked while it logs in leaves no session', async () => {
  const mailbox = await newMailbox();
  const { row, secret } = await addAppPassword(world, mailbox);
  const client = await world.open();
  afterComparison = () => revokeAppPassword(app, tenantId, { mailboxId: mailbox.id, id: row.id });
  assert.match(await client.ask(`AUTH PLAIN ${plain(mailbox.address, secret)}\r\n`), /^235 /);
  await assertEnded(client);
});

test('a damaged mailbox keeps its sessions, which wait for its repair', async () => {
  const { id, address } = await newMailbox();
  const client = await world.logIn(address);
  await app.db.commit(recordDamage, { id, now: clock.now() });
  app.wakeups.notify('logins', [id]);
  assert.match(await client.ask(`MAIL FROM:<${address}>\r\n`), /^451 4\.3\.2 /);
});

test('sessions of a mailbox are listed with what they have logged in with, and end on request; those of API keys are not', async () => {
  const mailbox = await newMailbox();
  const { row, secret } = await addAppPassword(world, mailbox);
  const [own, phone] = [await world.logIn(mailbox.address), await world.logIn(mailbox.address, secret)];
  await world.logIn('api', world.liveKey);
  const listed = await world.openLogins.listSessions(mailbox.id);
  assert.deepEqual(
    listed.map(({ protocol, address, credential }) => [protocol, address, credential]),
    [
      ['smtp', '127.0.0.1', row.id],
      ['smtp', '127.0.0.1', 'password'],
    ],
  );
  assert.equal(await world.openLogins.disconnect(mailbox.id, listed[0]?.id), 1);
  assert.match(await phone.ask('NOOP\r\n'), /^421 4\.7\.0 This session was ended on request/);
  assert.equal(await phone.reply(), 'closed');
  assert.match(await own.ask('NOOP\r\n'), /^250 /);
  assert.equal(await world.openLogins.disconnect(mailbox.id), 1);
  assert.deepEqual(await world.openLogins.listSessions(mailbox.id), []);
});
