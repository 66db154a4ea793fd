/** NOTIFY over an account, beside what all kinds of sessions have in common. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFolder } from '../../../src/accounts/folders.ts';
import { openImapAccount } from '../../../src/accounts/imap/imap-account.ts';
import { setMetadata } from '../../../src/accounts/metadata.ts';
import type { NotifyEvent } from '../../../src/mail/imap/notify.ts';
import { startServer } from '../../mail/imap/fixture.ts';
import { message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { createRandom } from '../../support/random.ts';

const mail = await createAccountMail();
const open = openerOf(mail);

/** Opens a session that has asked for all changes of names and for other events, and returns what it is told. */
async function openWatcher({ account } = mail, others: readonly NotifyEvent[] = []) {
  const session = openImapAccount(account, { disabledCapabilities: [], quotaBytes: null });
  const read = async (chunks: AsyncIterable<Buffer>) => {
    let text = '';
    for await (const chunk of chunks) text += chunk;
    return text;
  };
  await read(
    session.notify({
      status: false,
      selected: { messages: true, flags: true, items: [] },
      groups: [{ filter: { kind: 'personal' }, events: ['MailboxName', 'SubscriptionChange', ...others] }],
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

test('a session is woken for what it has asked for, until its end', async () => {
  const { session, told } = await openWatcher();
  let calls = 0;
  session.watch(() => calls++);
  // Nobody is woken for what the client has not asked for.
  await mail.deliver('INBOX', message('1'));
  assert.equal(calls, 0);
  subscribeMany(1);
  assert.notEqual(await told(), '');
  session.close();
  subscribeMany(1);
  assert.equal(await told(), '');
  assert.equal(calls, 1);
});

test('names are told in the order in which they changed', async (t) => {
  const { mailbox, ask } = await open(t, []);
  const { session, told } = await openWatcher();
  await ok(ask, `RENAME ${mailbox} ${mailbox}b`);
  await ok(ask, `CREATE ${mailbox}/x`);
  await ok(ask, `RENAME ${mailbox}b ${mailbox}c`);
  await ok(ask, `DELETE ${mailbox}/x`);
  assert.deepEqual((await told()).split('\r\n').slice(0, -1), [
    `* LIST (\\HasNoChildren) "/" ${mailbox}b ("OLDNAME" (${mailbox}))`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}/x`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}c ("OLDNAME" (${mailbox}b))`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}`,
    `* LIST (\\NonExistent \\HasNoChildren) "/" ${mailbox}/x`,
  ]);
  // The level above has another name now, which is told.
  await ok(ask, `CREATE ${mailbox}c/x`);
  await ok(ask, `RENAME ${mailbox}c ${mailbox}d`);
  assert.deepEqual((await told()).split('\r\n').slice(0, -1), [
    `* LIST (\\HasNoChildren) "/" ${mailbox}c/x`,
    `* LIST (\\HasChildren) "/" ${mailbox}d ("OLDNAME" (${mailbox}c))`,
  ]);
  for (const name of ['y', 'z']) await ok(ask, `CREATE ${mailbox}d/${name}`);
  assert.deepEqual((await told()).split('\r\n').slice(0, -1), [
    `* LIST (\\HasNoChildren) "/" ${mailbox}d/y`,
    `* LIST (\\HasChildren) "/" ${mailbox}d`,
    `* LIST (\\HasNoChildren) "/" ${mailbox}d/z`,
  ]);
  for (const command of ['CREATE', 'SUBSCRIBE']) await ok(ask, `${command} ${mailbox}e`);
  assert.equal(await told(), `* LIST (\\Subscribed \\HasNoChildren) "/" ${mailbox}e\r\n`);
  session.close();
});

test('a session that is woken reads only the folders that have changed', async (t) => {
  const own = await createAccountMail();
  const { session, told } = await openWatcher(own, ['MessageNew', 'MessageExpunge']);
  const prepared: string[] = [];
  await own.account.db.maintain((connection) => {
    const { prepare } = connection;
    t.mock.method(connection, 'prepare', (sql: string) => {
      prepared.push(sql);
      return prepare.call(connection, sql);
    });
  });
  await createFolder(own.account, 'a/b', null);
  await own.deliver('INBOX', message('1'));
  await setMetadata(own.account, {
    mailbox: 'a',
    entries: [{ entry: '/private/comment', value: Buffer.of(1) }],
  });
  prepared.length = 0;
  assert.match(await told(), /^\* LIST .* a\r\n\* LIST .* a\/b\r\n\* STATUS INBOX [^\r]*\r\n$/s);
  session.close();
  const reads = prepared.filter((sql) => /from "(?:folders|subscriptions)"/.test(sql));
  assert.ok(reads.length > 0);
  for (const sql of reads) assert.match(sql, / where /);
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

/** A client that only reads what is pushed. It knows the mailboxes below a name, and the messages of the one that it has selected. */
class PassiveClient {
  /** Number of messages by name. */
  readonly mailboxes = new Map<string, number>();
  readonly subscribed = new Set<string>();
  readonly messages: string[] = [];

  learn(line: string): void {
    const [, number = '', name, rest = ''] = /^\* (\d+) (EXISTS|EXPUNGE|FETCH)(.*)$/.exec(line) ?? [];
    if (name === 'EXPUNGE') this.messages.splice(Number(number) - 1, 1);
    if (name === 'EXISTS') this.messages.length = Number(number);
    if (name === 'FETCH') this.messages[Number(number) - 1] = plainFlags(rest);
    const [, mailbox = '', count] = /^\* STATUS (\S+) \(.*?(?:MESSAGES (\d+).*)?\)$/.exec(line) ?? [];
    if (count) this.mailboxes.set(mailbox, Number(count));
    const listed = /^\* LIST \(([^)]*)\) "\/" (\S+)(?: \("OLDNAME" \(([^)]*)\)\))?$/.exec(line);
    if (listed) this.#list(listed[1] ?? '', listed[2] ?? '', listed[3]);
  }

  #list(attributes: string, name: string, oldName: string | undefined): void {
    for (const [known, count] of oldName === undefined ? [] : [...this.mailboxes]) {
      if (known !== oldName && !known.startsWith(`${oldName}/`)) continue;
      this.mailboxes.delete(known);
      this.mailboxes.set(name + known.slice(`${oldName}`.length), count);
    }
    if (attributes.includes('NonExistent')) this.mailboxes.delete(name);
    else if (!this.mailboxes.has(name)) this.mailboxes.set(name, 0);
    if (attributes.includes('Subscribed')) this.subscribed.add(name);
    else this.subscribed.delete(name);
  }
}

/** Returns UID and flags, sorted. */
function plainFlags(items: string): string {
  const flags = /FLAGS \(([^)]*)\)/.exec(items)?.[1]?.split(' ') ?? [];
  return `${/UID \d+/.exec(items)} ${flags
    .filter((flag) => flag !== '\\Recent')
    .sort()
    .join(' ')}`;
}

/** Opens a session that has selected this mailbox, and wants to know all about those below it. Returns what it reads. */
async function openPassive(root: string) {
  const session = openImapAccount(mail.account, { disabledCapabilities: [], quotaBytes: null });
  const selection = await session.select(root, { readOnly: true, condstore: false });
  if (!('selected' in selection)) return assert.fail(selection.text);
  const { selected } = selection;
  const passive = new PassiveClient();
  const read = async (chunks: AsyncIterable<Buffer>) => {
    let text = '';
    for await (const chunk of chunks) text += chunk;
    for (const line of text.split('\r\n')) passive.learn(line);
  };
  const items = [{ kind: 'UID' }, { kind: 'FLAGS' }] as const;
  const fetch = { uid: false, items, changedSince: undefined, vanished: false, partial: undefined };
  await read(selected.fetch({ ...fetch, set: [[1, selection.exists]] }));
  const messageEvents = ['MessageNew', 'MessageExpunge', 'FlagChange'] as const;
  const events = [...messageEvents, 'MailboxName', 'SubscriptionChange'] as const;
  const groups = [{ filter: { kind: 'subtree', names: [root] }, events }] as const;
  await read(session.notify({ status: true, selected: { messages: true, flags: true, items }, groups }));
  return {
    session,
    passive,
    async readAll() {
      await read(session.accountChanges());
      await read(selected.changes('all'));
    },
  };
}

test('a client that only reads what it is told knows what another one asks for', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const random = createRandom(seed);
    const { mailbox: root, client, ask } = await open(t, ['1', '2', '3']);
    const { session, passive, readAll } = await openPassive(root);
    const below = ['a', 'b', 'a/x', 'b/x'].map((end) => `${root}/${end}`);
    for (let step = 0; step < 150; step++) {
      const flag = ['\\Seen', '\\Deleted', '\\Flagged'][random(3)];
      const [one, other] = [below[random(4)], below[random(4)]];
      const commands = [
        `CREATE ${one}`,
        `CREATE ${one}`,
        `DELETE ${one}`,
        `RENAME ${one} ${other}`,
        `RENAME ${one} ${other}`,
        `SUBSCRIBE ${one}`,
        `UNSUBSCRIBE ${one}`,
        `COPY 1:2 ${one}`,
        `COPY 1:2 ${root}`,
        `MOVE 1 ${one}`,
        `STORE 1:${1 + random(3)} +FLAGS.SILENT ${flag}`,
        `STORE 1:* -FLAGS.SILENT ${flag}`,
        'EXPUNGE',
        `APPEND ${one} {1+}\r\nx`,
        'NOOP',
      ];
      await client.ask(commands[random(commands.length)] ?? '');
      // Many changes are told at once.
      if (random(8) === 0) await readAll();
    }
    await readAll();
    await ok(ask, 'NOOP');
    const fetched = passive.messages.length === 0 ? [] : await ok(ask, 'FETCH 1:* (UID FLAGS)');
    assert.deepEqual(passive.messages.map(String), fetched.map(plainFlags), `seed ${seed}`);
    const listed = (await ok(ask, `LIST "" ${root}/* RETURN (STATUS (MESSAGES))`)).join('\n');
    const counts = [...listed.matchAll(/STATUS (\S+) \(MESSAGES (\d+)\)/g)];
    passive.mailboxes.delete(root);
    assert.deepEqual(
      [...passive.mailboxes].sort(),
      counts.map(([, name, count]) => [name, Number(count)]),
      `seed ${seed}`,
    );
    const subscribed = await ok(ask, `LIST (SUBSCRIBED) "" ${root}/*`);
    assert.deepEqual(
      [...passive.subscribed].sort(),
      subscribed.map((line) => line.split(' ').at(-1)).sort(),
      `seed ${seed}`,
    );
    session.close();
  }
});
