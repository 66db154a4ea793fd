/** NOTIFY over an account, beside what all kinds of sessions have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openImapAccount } from '../../../../src/mailboxes/account/imap/imap-account.ts';
import { startServer } from '../../../mail/imap/fixture.ts';
import { message, ok, openerOf } from '../../../mail/imap/letter.ts';
import { createAccountMail } from '../../../support/account-mail.ts';

const mail = await createAccountMail();
const open = openerOf(mail);

/** Opens a session that has asked for all changes of names, and returns what it is told. */
async function openWatcher() {
  const session = openImapAccount(mail.account, { disabledCapabilities: [], quotaBytes: null });
  const read = async (chunks: AsyncIterable<Buffer>) => {
    let text = '';
    for await (const chunk of chunks) text += chunk;
    return text;
  };
  await read(
    session.notify({
      status: false,
      selected: { messages: true, flags: true, items: [] },
      groups: [{ filter: { kind: 'personal' }, events: ['MailboxName', 'SubscriptionChange'] }],
    }),
  );
  return { session, told: () => read(session.accountChanges()) };
}

/** Subscribes names without storing them. */
function subscribeMany(count: number): void {
  for (let index = 0; index < count; index++)
    mail.account.changes.subscriptions.publish({ name: `name${index}` });
}

test('a client that takes too long to read is told that changes were lost, and nothing more', async () => {
  const { session, told } = await openWatcher();
  subscribeMany(1_000);
  subscribeMany(1_000);
  const lines = (await told()).split('\r\n');
  assert.deepEqual([lines.length, lines[0]], [1_001, '* LIST (\\NonExistent \\HasNoChildren) "/" name0']);
  subscribeMany(1_001);
  subscribeMany(5);
  assert.match(await told(), /^\* OK \[NOTIFICATIONOVERFLOW\] [^\r]*\r\n$/);
  subscribeMany(5);
  assert.equal(await told(), '');
  const selection = await session.select('INBOX', { readOnly: false, condstore: false });
  assert.ok('selected' in selection);
  await mail.deliver('INBOX', message('1'));
  const { done } = await selection.selected.changes('all').next();
  assert.equal(done, true);
  session.close();
});

test('the end of a session ends what it watches', async () => {
  const { session, told } = await openWatcher();
  let calls = 0;
  session.watch(() => calls++);
  subscribeMany(1);
  assert.notEqual(await told(), '');
  session.close();
  subscribeMany(1);
  assert.equal(await told(), '');
  assert.equal(calls, 1);
});

test('a folder that is renamed twice is told of once, under its last name', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const { session, told } = await openWatcher();
  await ok(ask, `RENAME ${mailbox} ${mailbox}b`);
  await ok(ask, `RENAME ${mailbox}b ${mailbox}c`);
  assert.equal(await told(), `* LIST (\\HasNoChildren) "/" ${mailbox}c ("OLDNAME" (${mailbox}))\r\n`);
  session.close();
});

test('FlagChange tells that a mailbox was replaced by another one with its name', async (t) => {
  const { mailbox, ask, connect } = await open(t, []);
  const watcher = await connect(
    'UNSELECT',
    `NOTIFY SET (mailboxes ${mailbox} (MessageNew MessageExpunge FlagChange))`,
  );
  await ok(ask, `CREATE ${mailbox}b`);
  await ok(ask, `RENAME ${mailbox} ${mailbox}a`);
  assert.deepEqual(await ok(watcher.ask, 'NOOP'), []);
  await ok(ask, `RENAME ${mailbox}b ${mailbox}`);
  const [, uidValidity] = / (\d+)\)$/.exec((await ok(ask, `STATUS ${mailbox} (UIDVALIDITY)`)).join()) ?? [];
  assert.equal(await watcher.line(), `* STATUS ${mailbox} (UIDVALIDITY ${uidValidity} UNSEEN 0)`);
});

test('INBOX is told to be empty after its renaming, and its messages to be in the new mailbox', async (t) => {
  const { mailbox, ask, connect } = await open(t, []);
  await mail.deliver('INBOX', message('1'));
  const watcher = await connect(
    'UNSELECT',
    `NOTIFY SET (mailboxes (INBOX ${mailbox}i) (MessageNew MessageExpunge))`,
  );
  await ok(ask, `RENAME INBOX ${mailbox}i`);
  assert.match(
    await watcher.line(),
    new RegExp(`^\\* STATUS ${mailbox}i \\(UIDNEXT \\d+ MESSAGES [1-9]\\d*\\)$`),
  );
  assert.match(await watcher.line(), /^\* STATUS INBOX \(UIDNEXT \d+ MESSAGES 0\)$/);
});

test('pushes follow the client to other mailboxes, and into compression', async (t) => {
  const { mailbox, ask, deliver } = await open(t, ['1']);
  const server = await startServer(t, { mail });
  const client = await server.open('NOTIFY SET (selected (MessageNew MessageExpunge))', `CREATE ${mailbox}b`);
  await ok(client.ask, `SELECT ${mailbox}b`);
  await ok(client.ask, `SELECT ${mailbox}`);
  await ok(ask, `COPY 1 ${mailbox}b`);
  await deliver(message('2'));
  assert.equal(await client.line(), '* 2 EXISTS');
  assert.equal(await client.line(), '* 1 RECENT');
  const { send } = client;
  client.send = async () => {
    // The change comes after the server has begun to read the command.
    send('z COMPRESS ');
    await ok(ask, 'NOOP');
    await deliver(message('3'));
    send('DEFLATE\r\n');
  };
  await client.compress();
  assert.equal(await client.line(), '* 3 EXISTS');
});

test('a client that waits for notifications is ended after the time for its next command', async (t) => {
  const { clock } = mail.account.app as unknown as { clock: { advance(ms: number): Promise<void> } };
  const server = await startServer(t, { mail, clock: mail.account.app.clock, limits: { commandMs: 1_000 } });
  const client = await server.open('NOTIFY SET (personal (MailboxName))');
  await clock.advance(1_000);
  assert.deepEqual(await client.rest(), ['* BYE The client took too long']);
});
