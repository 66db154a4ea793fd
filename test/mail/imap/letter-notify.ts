/** NOTIFY (RFC 5465), which every kind of session must answer the same. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccountMail } from '../../support/account-mail.ts';
import type { TestClient } from './fixture.ts';
import { completes, message, type Opened, ok, openerOf } from './letter.ts';

const openPlain = openerOf(await createAccountMail());

/** Returns a response without what sessions choose, and without what belongs to `\Recent`. */
function plain(line: string): string {
  return line
    .replace(/(UIDVALIDITY|HIGHESTMODSEQ) \d+/g, '$1 n')
    .replace(/MODSEQ \(\d+\)/, 'MODSEQ n')
    .replace(/\(TAG "[^"]*"\)/, '(TAG)')
    .replace(/ ?\\Recent/, '');
}

/** Returns so many lines that come without a command. */
async function pushed(client: TestClient, count: number): Promise<string[]> {
  const lines: string[] = [];
  while (lines.length < count) {
    const line = await client.line();
    if (!line.endsWith(' RECENT')) lines.push(plain(line));
  }
  return lines;
}

/** Returns the responses to a command without the last one. */
async function told(client: TestClient, command = 'NOOP'): Promise<string[]> {
  const lines = await ok(client.ask, command);
  return lines.filter((line) => !line.endsWith(' RECENT')).map(plain);
}

const ALL = 'MessageNew MessageExpunge FlagChange';

const open = async (t: TestContext, subjects: readonly string[], ...commands: string[]) => {
  const opened = await openPlain(t, subjects, ...commands);
  return { ...opened, other: await opened.connect() };
};

test('NOTIFY: what is malformed is BAD, and an event that is not supported is NO with those that are', async (t) => {
  const { ask } = await open(t, []);
  const supported =
    'MessageNew MessageExpunge FlagChange MailboxName SubscriptionChange MailboxMetadataChange ServerMetadataChange';
  for (const event of ['MessageNew MessageExpunge AnnotationChange', 'Weather']) {
    const refused = (await ask(`NOTIFY SET (personal (${event}))`)).join();
    assert.ok(refused.startsWith(`NO [BADEVENT (${supported})] `), refused);
  }
  for (const wrong of [
    '',
    ' ALL',
    ' NONE NONE',
    ' SET',
    ' SET STATUS',
    ' SET (selected)',
    ' SET (selected ())',
    ' SET (selected MessageNew MessageExpunge)',
    ' SET (selected (MessageNew))',
    ' SET (selected (MessageExpunge))',
    ' SET (selected (FlagChange))',
    ' SET (personal (AnnotationChange))',
    ' SET (selected (MailboxName))',
    ' SET (selected NONE) (selected-delayed NONE)',
    ' SET (personal (MessageNew (uid) MessageExpunge))',
    ' SET (selected (MessageNew () MessageExpunge))',
    ' SET (selected (MessageNew (foo) MessageExpunge))',
    ' SET (subtree (MailboxName))',
    ' SET (mailboxes () (MailboxName))',
    ' SET (everything (MailboxName))',
    ' SET(personal (MailboxName))',
  ])
    await completes(ask, `NOTIFY${wrong}`, /^BAD/);
  const many = Array.from({ length: 101 }, () => '(personal NONE)').join(' ');
  await completes(ask, `NOTIFY SET ${many}`, /^NO \[NOTIFICATIONOVERFLOW\]/);
  for (const right of [
    'none',
    'set status (SELECTED-delayed (messagenew (uid body.peek[header.fields (from to)] flags) messageexpunge flagchange))',
    'SET (inboxes NONE) (subscribed (MailboxName SubscriptionChange))',
    'SET (mailboxes INBOX (ServerMetadataChange)) (subtree ("a b" c {1+}\r\nd) (MailboxMetadataChange MailboxName))',
  ])
    await completes(ask, `NOTIFY ${right}`, /^OK/);
});

test('NOTIFY: changes of the selected mailbox are told at once, without a command', async (t) => {
  const { client, deliver, other } = await open(t, ['1', '2']);
  assert.deepEqual(
    await told(client, `NOTIFY SET (selected (MessageNew (uid flags) MessageExpunge FlagChange))`),
    [],
  );
  await deliver(message('3'), { flags: ['\\Seen'] });
  assert.deepEqual(await pushed(client, 2), ['* 3 EXISTS', '* 3 FETCH (UID 3 FLAGS (\\Seen))']);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  assert.deepEqual(await pushed(client, 1), ['* 1 FETCH (UID 1 FLAGS (\\Deleted))']);
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await pushed(client, 1), ['* 1 EXPUNGE']);
  assert.deepEqual(await told(client), []);
});

test('NOTIFY: FETCH is not answered with EXPUNGE, which follows it', async (t) => {
  const { client, other } = await open(t, ['1', '2', '3'], `NOTIFY SET (selected (${ALL}))`);
  await ok(other.ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  await pushed(client, 1);
  client.send('a IDLE\r\nDONE\r\n');
  for (let line = ''; !line.startsWith('a OK'); ) line = await client.line();
  // The commands arrive before the change, and the last one ends after it.
  client.send('b FETCH 3 UID\r\n');
  const expunged = ok(other.ask, 'EXPUNGE');
  client.send('c FETCH 1 UID\r\n');
  await expunged;
  const lines: string[] = [];
  while (!lines.includes('* 2 EXPUNGE') || !lines.some((line) => line.startsWith('c OK')))
    lines.push(await client.line());
  const inside = (tag: string, before: number) =>
    lines
      .slice(
        before,
        lines.findIndex((line) => line.startsWith(`${tag} `)),
      )
      .join();
  for (const number of [1, 3]) {
    const at = lines.findIndex((line) => line.startsWith(`* ${number} FETCH`));
    if (at >= 0) assert.doesNotMatch(inside(number === 3 ? 'b' : 'c', at), /EXPUNGE/);
  }
});

test('NOTIFY: SELECTED-DELAYED holds EXPUNGE back until a command allows it', async (t) => {
  const { client, other, deliver } = await open(
    t,
    ['1', '2', '3'],
    'NOTIFY SET (selected-delayed (MessageNew MessageExpunge))',
  );
  await ok(other.ask, 'STORE 1:2 +FLAGS.SILENT \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  await deliver(message('4'));
  assert.deepEqual(await pushed(client, 1), ['* 4 EXISTS']);
  assert.deepEqual(await told(client, 'FETCH 4 UID'), ['* 4 FETCH (UID 4)']);
  assert.deepEqual(await told(client), ['* 2 EXPUNGE', '* 1 EXPUNGE']);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  assert.deepEqual(await pushed(client, 1), ['* 1 EXPUNGE']);
  client.send('DONE\r\n');
  await client.responses();
});

test('NOTIFY: without SELECTED nothing is told of the selected mailbox, but what the client removes', async (t) => {
  const { client, other, deliver, mailbox } = await open(t, ['1', '2', '3', '4']);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Flagged');
  // Changes from before the command are reported first (RFC 5465 section 3.1).
  assert.deepEqual(await told(client, 'NOTIFY SET (personal (MailboxName))'), [
    '* 1 FETCH (UID 1 FLAGS (\\Flagged))',
  ]);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Seen');
  await deliver(message('5'));
  assert.deepEqual(await told(client), []);
  assert.deepEqual(await told(client, 'NOTIFY NONE'), []);
  await ok(client.ask, 'STORE 4 +FLAGS.SILENT \\Deleted');
  assert.deepEqual(await told(client, 'EXPUNGE'), ['* 4 EXPUNGE']);
  assert.deepEqual(await told(client, `MOVE 3 ${mailbox}`).then((lines) => lines.slice(1)), ['* 3 EXPUNGE']);
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Answered');
  client.send('DONE\r\n');
  assert.deepEqual(await client.responses(), ['OK IDLE completed']);
  assert.deepEqual(
    await told(client, `NOTIFY SET (selected (${ALL}))`),
    ['* 1 EXPUNGE', '* 3 EXISTS', '* 1 FETCH (UID 2 FLAGS (\\Answered \\Seen))'].map((line) =>
      line.replace('\\Answered \\Seen', '\\Seen \\Answered'),
    ),
  );
});

test('NOTIFY: FlagChange is left out where it is not asked for', async (t) => {
  const { client, other, deliver } = await open(
    t,
    ['1'],
    'NOTIFY SET (selected (MessageNew MessageExpunge))',
  );
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT \\Seen');
  await deliver(message('2'));
  assert.deepEqual(await pushed(client, 1), ['* 2 EXISTS']);
  assert.deepEqual(await told(client), []);
  // The flags of the new message were not told either.
  const [changed] = await told(client, `NOTIFY SET (selected (${ALL}))`);
  assert.equal(changed, '* 1 FETCH (UID 1 FLAGS (\\Seen))');
  assert.deepEqual(await told(client), []);
});

test('NOTIFY: QRESYNC, CONDSTORE and IMAP4rev2 shape what is pushed', async (t) => {
  const { client, other, deliver } = await open(
    t,
    ['1', '2'],
    'ENABLE QRESYNC IMAP4rev2',
    'NOTIFY SET (selected (MessageNew (flags) MessageExpunge FlagChange))',
  );
  await deliver(message('3'));
  assert.equal(await client.line(), '* 3 EXISTS');
  assert.equal(await client.line(), '* 3 FETCH (UID 3 FLAGS ())');
  await ok(other.ask, 'STORE 2 +FLAGS.SILENT \\Deleted');
  assert.match(await client.line(), /^\* 2 FETCH \(UID 2 FLAGS \(\\Deleted\) MODSEQ \(\d+\)\)$/);
  await ok(other.ask, 'EXPUNGE');
  assert.equal(await client.line(), '* VANISHED 2');
});

test('NOTIFY: items are not returned of messages that the client adds', async (t) => {
  const { client, mailbox, other } = await open(
    t,
    ['1'],
    'SEARCH RETURN (UPDATE (envelope)) UNDELETED',
    'NOTIFY SET (selected (MessageNew (uid) MessageExpunge))',
  );
  for (const command of [
    `APPEND ${mailbox} {1+}\r\nx`,
    `COPY 1 ${mailbox}`,
    `REPLACE 1 ${mailbox} {1+}\r\ny`,
  ])
    assert.doesNotMatch((await told(client, command)).join(), /FETCH/);
  await ok(other.ask, `COPY 1 ${mailbox}`);
  assert.match(
    (await pushed(client, 3)).join('\n'),
    /^\* 4 EXISTS\n\* 4 FETCH \(UID 5 ENVELOPE .*\)\n\* ESEARCH \(TAG\) ADDTO \(0 4\)$/,
  );
});

test('NOTIFY: items for the client and for its searches come as one response, before the results', async (t) => {
  const { client, deliver } = await open(
    t,
    ['1'],
    'SEARCH RETURN (UPDATE (body.peek[text])) UNSEEN',
    'NOTIFY SET (selected (MessageNew (uid) MessageExpunge))',
  );
  await deliver('\r\nx');
  assert.deepEqual(await pushed(client, 3), [
    '* 2 EXISTS',
    '* 2 FETCH (UID 2 BODY[TEXT] {1}\r\nx)',
    '* ESEARCH (TAG) ADDTO (0 2)',
  ]);
  await deliver('\r\ny', { flags: ['\\Seen'] });
  assert.deepEqual(await pushed(client, 2), ['* 3 EXISTS', '* 3 FETCH (UID 3)']);
});

/** Returns a client that has not selected the mailbox, in which it watches another client at work. */
async function watcherOf({ connect, mailbox }: Opened, ...commands: string[]) {
  const watcher = await connect('UNSELECT', `CREATE ${mailbox}/sel`, `SELECT ${mailbox}/sel`, ...commands);
  return watcher;
}

test('NOTIFY: other mailboxes are told by STATUS, the selected one is not', async (t) => {
  const opened = await open(t, ['1', '2']);
  const { mailbox, other, deliver } = opened;
  const watcher = await watcherOf(opened);
  const status = (items: string, name = mailbox) => `* STATUS ${name} (${items})`;
  assert.deepEqual(await told(watcher, `NOTIFY SET STATUS (subtree ${mailbox} (${ALL}))`), [
    status('MESSAGES 2 UIDNEXT 3 UIDVALIDITY n HIGHESTMODSEQ n'),
  ]);
  await deliver(message('3'));
  assert.deepEqual(await pushed(watcher, 1), [status('UIDNEXT 4 MESSAGES 3')]);
  await ok(other.ask, 'STORE 1 +FLAGS.SILENT (\\Seen \\Deleted)');
  assert.deepEqual(await pushed(watcher, 1), [status('UIDVALIDITY n UNSEEN 2')]);
  await ok(other.ask, 'EXPUNGE');
  assert.deepEqual(await pushed(watcher, 1), [status('UIDNEXT 4 MESSAGES 2')]);
  await ok(other.ask, `COPY 1 ${mailbox}/sel`);
  // It is told by EXISTS, which the client has not asked for.
  assert.deepEqual(await told(watcher), []);
  // A client is not notified of changes that it makes itself.
  assert.deepEqual(await told(watcher, `APPEND ${mailbox} {1+}\r\nx`), []);
  await ok(watcher.ask, 'ENABLE CONDSTORE');
  await deliver(message('5'));
  assert.deepEqual(await pushed(watcher, 1), [status('UIDNEXT 6 MESSAGES 4 HIGHESTMODSEQ n')]);
  await ok(watcher.ask, 'UNSELECT');
  await ok(other.ask, `COPY 1 ${mailbox}/sel`);
  assert.deepEqual(await pushed(watcher, 1), [
    status('UIDNEXT 3 MESSAGES 2 HIGHESTMODSEQ n', `${mailbox}/sel`),
  ]);
});

test('NOTIFY: groups are looked at in their order, and NONE ends them', async (t) => {
  const opened = await open(t, []);
  const { mailbox, other } = opened;
  const events = '(MessageNew MessageExpunge)';
  const watcher = await watcherOf(
    opened,
    `CREATE ${mailbox}/a/b`,
    `CREATE ${mailbox}x`,
    `SUBSCRIBE ${mailbox}x`,
    `NOTIFY SET (mailboxes (${mailbox}/a none) NONE) (subscribed ${events}) (subtree ${mailbox} ${events})`,
  );
  await ok(other.ask, `CREATE ${mailbox}z`);
  for (const target of [`${mailbox}/a`, `${mailbox}/a/b`, `${mailbox}x`, `${mailbox}z`])
    await other.ask(`APPEND ${target} {1+}\r\nx`);
  const names = async () => (await told(watcher)).map((line) => line.split(' ')[2]).sort();
  const first = [...(await pushed(watcher, 2)), ...(await told(watcher))].map((line) => line.split(' ')[2]);
  assert.deepEqual(first.sort(), [`${mailbox}/a/b`, `${mailbox}x`]);
  await ok(other.ask, `SUBSCRIBE ${mailbox}z`);
  await ok(other.ask, `UNSUBSCRIBE ${mailbox}x`);
  await watcher.ask('NOOP');
  for (const target of [`${mailbox}x`, `${mailbox}z`]) await other.ask(`APPEND ${target} {1+}\r\nx`);
  assert.deepEqual(
    (await pushed(watcher, 1)).map((line) => line.split(' ')[2]),
    [`${mailbox}z`],
  );
  assert.deepEqual(await names(), []);
});

test('NOTIFY: MailboxName tells of mailboxes that are created, deleted and renamed', async (t) => {
  const opened = await open(t, []);
  const { mailbox, other } = opened;
  const watcher = await watcherOf(opened, `NOTIFY SET (subtree (${mailbox} ${mailbox}r) (MailboxName))`);
  const list = (attributes: string, name: string, more = '') => `* LIST (${attributes}) "/" ${name}${more}`;
  await ok(other.ask, `CREATE ${mailbox}/new`);
  assert.deepEqual(await pushed(watcher, 2), [
    list('\\HasChildren', mailbox),
    list('\\HasNoChildren', `${mailbox}/new`),
  ]);
  await ok(other.ask, `CREATE ${mailbox}/new/x`);
  await pushed(watcher, 2);
  await ok(other.ask, `RENAME ${mailbox}/new ${mailbox}r`);
  // Nothing is told of what is below it.
  assert.deepEqual(await pushed(watcher, 1), [
    list('\\HasChildren', `${mailbox}r`, ` ("OLDNAME" (${mailbox}/new))`),
  ]);
  await ok(other.ask, `SUBSCRIBE ${mailbox}r`);
  await ok(other.ask, `DELETE ${mailbox}r/x`);
  assert.deepEqual(await pushed(watcher, 2), [
    list('\\Subscribed \\HasNoChildren', `${mailbox}r`),
    list('\\NonExistent \\HasNoChildren', `${mailbox}r/x`),
  ]);
  assert.deepEqual(await told(watcher, `CREATE ${mailbox}/own`), []);
  assert.deepEqual(await told(watcher, `RENAME ${mailbox}/own ${mailbox}/own2`), []);
  assert.deepEqual(await told(watcher, `DELETE ${mailbox}/own2`), []);
  await ok(other.ask, `CREATE elsewhere${mailbox}`);
  assert.deepEqual(await told(watcher), []);
  await ok(other.ask, `RENAME INBOX ${mailbox}/old`);
  assert.deepEqual(await pushed(watcher, 1), [
    list('\\HasNoChildren', `${mailbox}/old`, ' ("OLDNAME" (INBOX))'),
  ]);
  assert.deepEqual(await told(watcher), []);
});

test('NOTIFY: SubscriptionChange tells of names that are subscribed, or no longer', async (t) => {
  const opened = await open(t, []);
  const { mailbox, other } = opened;
  const watcher = await watcherOf(opened, 'NOTIFY SET (subscribed (SubscriptionChange))');
  await ok(other.ask, `SUBSCRIBE ${mailbox}`);
  assert.deepEqual(await pushed(watcher, 1), [`* LIST (\\Subscribed \\HasChildren) "/" ${mailbox}`]);
  await ok(other.ask, `UNSUBSCRIBE ${mailbox}`);
  assert.deepEqual(await pushed(watcher, 1), [`* LIST (\\HasChildren) "/" ${mailbox}`]);
  await ok(other.ask, `UNSUBSCRIBE ${mailbox}`);
  await ok(other.ask, `CREATE ${mailbox}/more`);
  assert.deepEqual(await told(watcher), []);
  assert.deepEqual(await told(watcher, `SUBSCRIBE ${mailbox}`), []);
  await ok(other.ask, `SUBSCRIBE ${mailbox}`);
  assert.deepEqual(await told(watcher), []);
});

test('NOTIFY: annotations are told as they are asked for, with ENABLE METADATA or without', async (t) => {
  const opened = await open(t, []);
  const { mailbox, other } = opened;
  const watcher = await watcherOf(opened, `NOTIFY SET (mailboxes ${mailbox} (MailboxMetadataChange))`);
  await ok(other.ask, `SETMETADATA ${mailbox} (/private/comment "a")`);
  assert.deepEqual(await pushed(watcher, 1), [`* METADATA ${mailbox} /private/comment`]);
  await ok(other.ask, 'SETMETADATA "" (/private/comment "a")');
  await ok(other.ask, `SETMETADATA ${mailbox}/sel (/private/comment "a")`);
  assert.deepEqual(await told(watcher), []);
  await ok(watcher.ask, 'NOTIFY SET (personal (ServerMetadataChange))');
  await ok(other.ask, 'SETMETADATA "" (/private/comment NIL)');
  assert.deepEqual(await pushed(watcher, 1), ['* METADATA "" /private/comment']);
  assert.deepEqual(await told(watcher, 'SETMETADATA "" (/private/comment "b")'), []);
  await ok(watcher.ask, 'ENABLE METADATA');
  await ok(watcher.ask, 'NOTIFY NONE');
  await ok(other.ask, `SETMETADATA ${mailbox} (/private/comment NIL)`);
  assert.deepEqual(await told(watcher), []);
});

test('NOTIFY: IDLE sends the same events', async (t) => {
  const opened = await open(t, []);
  const { mailbox, other } = opened;
  const watcher = await watcherOf(opened, 'UNSELECT', `NOTIFY SET (subtree ${mailbox} (MailboxName))`);
  assert.deepEqual(await watcher.ask('IDLE'), ['+ idling']);
  await ok(other.ask, `CREATE ${mailbox}/sel/x`);
  assert.equal((await pushed(watcher, 2)).length, 2);
  watcher.send('DONE\r\n');
  assert.deepEqual(await watcher.responses(), ['OK IDLE completed']);
  // Pushes go on after it.
  await ok(other.ask, `DELETE ${mailbox}/sel/x`);
  assert.equal((await pushed(watcher, 2)).length, 2);
});
