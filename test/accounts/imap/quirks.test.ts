/** Habits of well-known mail programs, and the answers that an account gives them. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/mail/imap/options.ts';
import { startServer } from '../../mail/imap/fixture.ts';
import { message, ok, openerOf } from '../../mail/imap/letter.ts';
import { createAccountMail } from '../../support/account-mail.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const mail = await createAccountMail();
const open = openerOf(mail);
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

test('quirk 5: iOS sends CHANGEDSINCE 0', async (t) => {
  const { ask } = await open(t, ['1', '2'], 'ENABLE CONDSTORE', 'STORE 2 +FLAGS.SILENT \\Flagged');
  const lines = await ok(ask, 'UID FETCH 1:* (FLAGS) (CHANGEDSINCE 0)');
  assert.deepEqual(
    lines.map((line) => line.replace(/\(\d+\)/, '(n)')),
    [
      '* 1 FETCH (UID 1 FLAGS (\\Recent) MODSEQ (n))',
      '* 2 FETCH (UID 2 FLAGS (\\Flagged \\Recent) MODSEQ (n))',
    ],
  );
  const since = /MODSEQ \((\d+)\)/.exec(lines[0] ?? '')?.[1];
  assert.match((await ok(ask, `FETCH 1:* FLAGS (CHANGEDSINCE ${since})`)).join(), /^\* 2 FETCH [^*]*$/);
});

test('quirk 12: Outlook finds special folders by LSUB', async (t) => {
  const { ask } = await open(t, []);
  const lines = await ok(ask, 'LSUB "" *');
  for (const name of ['Drafts', 'Sent', 'Junk', 'Trash', 'Archive'])
    assert.ok(lines.includes(`* LSUB (\\${name}) "/" ${name}`), lines.join('\n'));
});

test('quirk 16: Thunderbird asks for subscribed mailboxes with their special use', async (t) => {
  const { ask } = await open(t, []);
  assert.deepEqual(await ok(ask, 'list (subscribed) "" "%" return (special-use)'), [
    ...['Archive', 'Drafts'].map((name) => `* LIST (\\Subscribed \\${name}) "/" ${name}`),
    '* LIST (\\Subscribed) "/" INBOX',
    ...['Junk', 'Sent', 'Trash'].map((name) => `* LIST (\\Subscribed \\${name}) "/" ${name}`),
  ]);
  assert.deepEqual(await ok(ask, 'LIST "" Sent RETURN (CHILDREN)'), ['* LIST (\\HasNoChildren) "/" Sent']);
});

test('quirk 18: IDLE begins with what the client was not told yet', async (t) => {
  const { client, ask, deliver } = await open(t, []);
  await deliver(message('1'));
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.deepEqual([await client.line(), await client.line()], ['* 1 EXISTS', '* 1 RECENT']);
  await deliver(message('2'));
  await deliver(message('3'));
  const lines = [await client.line(), await client.line()];
  assert.match(lines[0] ?? '', /^\* [23] EXISTS$/);
});

test('quirk 18: IDLE repeats the number of messages that the client was told at the end of FETCH', async (t) => {
  const { client, ask, deliver } = await open(t, ['1']);
  await deliver(message('2'));
  assert.ok((await ok(ask, 'UID FETCH 1:* FLAGS')).includes('* 2 EXISTS'));
  await ok(ask, 'NOOP');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.deepEqual([await client.line(), await client.line()], ['* 2 EXISTS', '* 2 RECENT']);
  client.send('DONE\r\n');
  await client.line();
  await deliver(message('3'));
  assert.ok((await ok(ask, 'NOOP')).includes('* 3 EXISTS'));
  // The client has heard this, and the next thing that it is told is new.
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  await deliver(message('4'));
  assert.equal(await client.line(), '* 4 EXISTS');
});

test('quirk 18: IDLE repeats the flags that the client was told at the end of FETCH, as they are now', async (t) => {
  const { client, ask, connect } = await open(t, ['1', '2', '3', '4', '5']);
  const other = await connect();
  await ok(other.ask, 'STORE 1,3,5 +FLAGS.SILENT \\Flagged');
  const flagged = (number: number): string => `* ${number} FETCH (UID ${number} FLAGS (\\Flagged \\Recent))`;
  assert.deepEqual(await ok(ask, 'UID FETCH 2 UID'), ['* 2 FETCH (UID 2)', ...[1, 3, 5].map(flagged)]);
  await ok(other.ask, 'STORE 5 +FLAGS.SILENT \\Deleted');
  await ok(other.ask, 'EXPUNGE');
  await ok(other.ask, 'STORE 4 +FLAGS.SILENT \\Seen');
  assert.deepEqual(await ok(ask, 'NOOP'), ['* 5 EXPUNGE', '* 4 FETCH (UID 4 FLAGS (\\Seen \\Recent))']);
  await ok(other.ask, 'STORE 2:3 +FLAGS.SILENT \\Answered');
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  assert.deepEqual(
    [await client.line(), await client.line(), await client.line()],
    [
      flagged(1),
      '* 2 FETCH (UID 2 FLAGS (\\Answered \\Recent))',
      '* 3 FETCH (UID 3 FLAGS (\\Answered \\Flagged \\Recent))',
    ],
  );
  client.send('DONE\r\n');
  assert.match((await client.line()) ?? '', / OK /);
  // The client has heard this, and the next thing that it is told is new.
  assert.deepEqual(await ask('IDLE'), ['+ idling']);
  await ok(other.ask, 'STORE 2 +FLAGS.SILENT \\Seen');
  assert.equal(await client.line(), '* 2 FETCH (UID 2 FLAGS (\\Seen \\Answered \\Recent))');
});

test('quirk 18: nothing comes together with the beginning of IDLE, where Thunderbird leaves it unread', async (t) => {
  const clock = createFakeClock(0);
  const limits = { idleBeginMs: DEFAULT_LIMITS.idleBeginMs };
  const client = await (await startServer(t, { mail, clock, limits })).open('SELECT INBOX');
  await mail.deliver('INBOX', message('early'));
  assert.deepEqual(await client.ask('IDLE'), ['+ idling']);
  const told: string[] = [];
  const line = client.line().then((text) => told.push(text));
  await clock.advance(limits.idleBeginMs - 1);
  await mail.deliver('INBOX', message('later'));
  assert.deepEqual(told, []);
  await clock.advance(1);
  await line;
  assert.match(told.join(), /^\* \d+ EXISTS$/);
});

test('quirk 22: UID comes first in a response, and the items follow as they were asked for', async (t) => {
  const { ask } = await open(t, ['1']);
  assert.match(
    (await ok(ask, 'FETCH 1 (BODY.PEEK[TEXT] RFC822.SIZE UID FLAGS)')).join(),
    /^\* 1 FETCH \(UID 1 BODY\[TEXT\] \{\d+\}\r\nbody of 1\r\n RFC822.SIZE \d+ FLAGS \(\\Recent\)\)$/,
  );
});

test('quirk 23: FETCH answers all messages but one whose file is gone, then ends the connection, and never answers NO', async (t) => {
  const { client, ask, deliver } = await open(t, ['1']);
  await deliver(`Subject: x\r\n\r\n${'y'.repeat(100_000)}`);
  await deliver(message('3'));
  await ok(ask, 'NOOP');
  rmSync(join(mail.account.folder, 'blobs'), { recursive: true });
  client.send('x FETCH 1:3 (UID FLAGS BODY.PEEK[])\r\n');
  const lines = await client.rest();
  assert.deepEqual(
    lines.map((line) => /^\* (?:(\d) FETCH \(UID \1 FLAGS \(\\Recent\) BODY\[\] .*\)$|BYE)/s.exec(line)?.[1]),
    ['1', '3', undefined],
  );
  assert.equal(lines.at(-1), '* BYE [SERVERBUG] A message could not be read');
});

test('quirk 24: MOVE and COPY of UIDs that do not exist succeed, and so does COPY to the same mailbox', async (t) => {
  const { mailbox, ask } = await open(t, ['1']);
  for (const command of ['UID MOVE', 'UID COPY'])
    assert.deepEqual(await ask(`${command} 7:9 INBOX`), ['OK No message was found']);
  assert.match((await ask(`COPY 1 ${mailbox}`)).at(-1) ?? '', /^OK \[COPYUID \d+ 1 2\]/);
  assert.match((await ask(`MOVE * ${mailbox}`)).join('\n'), /COPYUID \d+ 2 3\].*\n\* 2 EXPUNGE\n\* 2 EXISTS/);
});

test('quirk 25: UID FETCH n:* with n beyond the end returns the last message, and tells of mail that others have moved in', async (t) => {
  const { mailbox, ask, connect } = await open(t, ['1', '2']);
  const other = await connect();
  await ok(ask, `MOVE 1 ${mailbox}`);
  assert.deepEqual(await ok(other.ask, 'UID FETCH 100:* UID'), [
    '* 2 FETCH (UID 2)',
    '* 1 EXPUNGE',
    '* 2 EXISTS',
    '* 0 RECENT',
  ]);
  assert.deepEqual(await ok(other.ask, 'UID FETCH 100:* UID'), ['* 2 FETCH (UID 3)']);
});

test('quirk 27: ENVELOPE and BODYSTRUCTURE are 7-bit until the client has enabled UTF-8', async (t) => {
  const { ask, deliver } = await open(t, []);
  await deliver('Subject: gr\u00fcn\r\nContent-Description: \u00fc\r\n\r\nx\r\n');
  await ok(ask, 'NOOP');
  const fetch = async () => (await ok(ask, 'FETCH 1 (ENVELOPE BODYSTRUCTURE)')).join();
  assert.match(await fetch(), /^[\x20-\x7e]+$/);
  await ok(ask, 'ENABLE UTF8=ACCEPT');
  assert.ok((await fetch()).includes(utf8('"gr\u00fcn"')));
  assert.ok((await fetch()).includes(utf8('"\u00fc"')));
});
