import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { GRACE_MS } from '../../../src/domains/states.ts';
import type { Action } from '../../../src/mail/sieve/actions.ts';
import { forwardMark } from '../../../src/mailbox-delivery/forward/mark.ts';
import { MAX_SENT } from '../../../src/mailbox-delivery/scripts/limit.ts';
import { planOf } from '../../../src/mailbox-delivery/scripts/plan.ts';
import { activateScript, putScript } from '../../../src/mailboxes/scripts/store.ts';
import { addUse } from '../../../src/submission/limits/store.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { PASS, sendMail } from '../../inbound/mail-world.ts';
import { releaseTasksOf } from '../../support/tasks.ts';
import { openScriptWorld } from './world.ts';

const world = await openScriptWorld();
const { stored, folders, replaced, knobs } = world;

/** Empties the queue and the mailboxes. */
beforeEach(async () => {
  stored.length = 0;
  folders.length = 0;
  delete replaced.deliver;
  delete replaced.run;
  delete replaced.beforeCommit;
  knobs.result = PASS;
  knobs.crashPoint = () => {};
});

/** Returns what has entered the queue since the call of the returned function. */
async function watchQueue() {
  const before = new Set((await world.queued()).map(({ messageId }) => messageId));
  return async () => (await world.queued()).filter(({ messageId }) => !before.has(messageId));
}

/** Receives a message for a mailbox, runs what is due, and returns what has entered the queue. */
async function deliver(...message: Parameters<typeof world.receive>) {
  const queued = await watchQueue();
  await world.deliver(...message);
  return await queued();
}

const recipientsOf = (mail: readonly { to: string[] }[]) => mail.map(({ to }) => to);
const places = () => stored.map(({ target, isJunk }) => `${target?.mailbox}${isJunk ? ' junk' : ''}`);

test('a script chooses folders and flags, and the message is stored once in each', async () => {
  const script = `require ["fileinto", "copy", "imap4flags", "mailbox"];
    if header :contains "subject" "greet" { fileinto :create :copy :flags ["\\\\Seen", "work"] "Lists"; }
    keep;`;
  const { address } = await world.add(script);
  await world.receive(address);
  assert.equal(await world.run(), 1);
  assert.deepEqual(places(), ['Lists', 'INBOX']);
  const [lists, inbox] = stored;
  assert.deepEqual(lists?.target?.flags, ['\\Seen', 'work']);
  assert.equal(lists?.target?.createsMailbox, true);
  assert.equal(inbox?.deliveryId, `${lists?.deliveryId}/1`);
  assert.deepEqual([lists?.sharedId, inbox?.sharedId], [lists?.deliveryId, lists?.deliveryId]);
  assert.match(lists?.text ?? '', new RegExp(`^Return-Path: .*\\r\\nDelivered-To: ${address}\\r\\n`));
  assert.equal((await world.tasks()).at(-1)?.state, 'done');
});

test('each script of a message sees the recipient of its own mailbox', async () => {
  const script = `require ["envelope", "fileinto", "variables"]; if envelope :matches "to" "*" { fileinto "\${1}"; }`;
  const [one, two] = [await world.add(script), await world.add(script)];
  const to = [one.address, two.address.replace('@', '+tag@')];
  assert.match(await sendMail(await world.open(), { to }), /^250 /);
  assert.equal(await world.run(), 2);
  assert.deepEqual(places().sort(), to.sort());
});

test('a discarded message is stored nowhere, and spam that is kept goes to the folder for spam', async () => {
  const { address } = await world.add('if header :is "x-drop" "yes" { discard; }');
  await world.receive(address, { header: ['X-Drop: yes'] });
  knobs.result = {
    ...PASS,
    dmarc: { ...PASS.dmarc, result: 'fail', policy: 'quarantine' } as typeof PASS.dmarc,
  };
  await world.receive(address);
  assert.equal(await world.run(), 2);
  assert.deepEqual(places(), ['INBOX junk']);
});

test('the body of a message is read where a script asks for it, and the folders that exist are known', async () => {
  const script = `require ["body", "mailbox", "fileinto"];
    if allof (body :contains "needle", mailboxexists "Found") { fileinto "Found"; }`;
  const { address } = await world.add(script);
  folders.push({ name: 'Found', mailboxId: 'F1', specialUse: null });
  await world.deliver(address, { text: `${'hay '.repeat(100)}needle` });
  folders.length = 0;
  await world.deliver(address, { text: 'needle' });
  assert.deepEqual(places(), ['Found', 'INBOX']);
});

test('a message is sent on with a rewritten sender and the trace of the mailbox, and a copy stays where that is asked for', async () => {
  const { address } = await world.add(
    'require "copy"; redirect :copy "bob@other.example"; redirect "carl@other.example";',
  );
  const mail = await deliver(address);
  assert.deepEqual(recipientsOf(mail).sort(), [['bob@other.example'], ['carl@other.example']]);
  for (const { returnPath, trace, text } of mail) {
    assert.match(returnPath ?? '', /^SRS0=.*=ann@bounce\./);
    assert.match(trace, new RegExp(`^ARC-Seal: [\\s\\S]*Delivered-To: ${address}\\r\\n`));
    assert.match(text, /Subject: Greetings/);
  }
  assert.deepEqual(places(), []);
});

test('a message that has been here before is not sent on again, and is kept instead', async () => {
  const script = 'require "editheader"; deleteheader "X-Postrider-Forwarded"; addheader "X" "1";';
  const { address } = await world.add(`${script} redirect "bob@other.example";`);
  const mail = await deliver(address, { header: [forwardMark(world.app, address.toUpperCase()).trim()] });
  assert.deepEqual(mail, []);
  assert.deepEqual(places(), ['INBOX']);
});

test('a sender cannot keep a message from being sent on', async () => {
  const { address } = await world.add('redirect "bob@other.example";');
  const header = [`Delivered-To: ${address}`, 'X-Postrider-Forwarded: a.b', 'X-Postrider-Forwarded: '];
  const mail = await deliver(address, { header });
  assert.equal(mail.length, 1);
  assert.deepEqual(places(), []);
});

test('a mark that somebody has copied from a message which was sent on holds for three weeks', async () => {
  const { address } = await world.add('redirect "bob@other.example";');
  const queued = await watchQueue();
  const [name, value = ''] = forwardMark(world.app, address).trim().split(': ');
  const receive = async (mark: string) => {
    await world.deliver(address, { header: [`${name}: ${mark}`] });
    return (await queued()).length;
  };
  await world.clock.advance(21 * 86_400_000);
  assert.equal(await receive(value), 0);
  await world.clock.advance(86_400_000);
  assert.equal(await receive(value), 1);
  const today = Math.floor(world.clock.now() / 86_400_000).toString(36);
  assert.equal(await receive(value.replace(/\.[^.]+\./, `.${today}.`)), 2, 'nobody can renew it');
});

test('a message that another address here has sent on is sent on once more at most, and kept', async () => {
  const script = 'redirect "bob@other.example"; redirect "carl@other.example";';
  const { address } = await world.add(script);
  const mail = await deliver(address, { header: [forwardMark(world.app, 'dora@people.example').trim()] });
  assert.deepEqual(recipientsOf(mail), [['bob@other.example']]);
  assert.deepEqual(places(), ['INBOX']);
});

test('a message that cannot be sent on is kept', async () => {
  const { address } = await world.add(
    `require "editheader"; redirect "bob@other.example"; addheader "From" "ceo@bank.example"; redirect "carl@other.example";`,
  );
  const mail = await deliver(address);
  assert.equal(mail.length, 1);
  assert.deepEqual(places(), ['INBOX']);
});

test('an automatic reply is sent once to a sender, whichever message comes first', async () => {
  const script = 'require "vacation"; vacation :subject "Away" "I am away.";';
  const { id, address } = await world.add(script, { displayName: 'Ann Lee' });
  const queued = await watchQueue();
  for (let count = 0; count < 3; count++) await world.receive(address);
  assert.equal(await world.run(), 3);
  await world.deliver(address, { from: 'bob@sender.example' });
  const [reply, other, ...more] = await queued();
  assert.deepEqual([reply?.to, other?.to, more], [['ann@sender.example'], ['bob@sender.example'], []]);
  assert.equal(reply?.returnPath, '');
  const header = reply?.text ?? '';
  assert.match(
    header,
    new RegExp(`^From: Ann Lee <${address}>\\r\\nTo: ann@sender\\.example\\r\\nSubject: Away\\r\\n`),
  );
  assert.match(header, /\r\nAuto-Submitted: auto-replied\r\nIn-Reply-To: <one@sender\.example>\r\n/);
  assert.match(header, /\r\n\r\nI am away\.\r\n$/);
  const { db } = world.app;
  const [row] = await db.read
    .selectFrom('messages')
    .selectAll()
    .where('id', '=', reply?.messageId ?? '')
    .execute();
  assert.deepEqual([row?.tenantId, row?.sender, row?.mailboxId], [world.test.tenantId, address, id]);
  assert.ok(row?.domainId, 'it is signed by the key of the domain');
  assert.equal(places().length, 4, 'each message is kept');
});

test('after its days have passed, a sender is answered again', async () => {
  const { address } = await world.add('require "vacation"; vacation :days 3 "Away.";');
  const queued = await watchQueue();
  for (const days of [0, 2, 2]) {
    await world.clock.advance(days * 86_400_000);
    await world.deliver(address);
  }
  assert.equal((await queued()).length, 2);
});

test('a reply comes from an address of its owner, whatever the script says', async () => {
  const own = await world.add('');
  await world.activate(
    own.id,
    `require "vacation"; vacation :from "Ann <${own.address.replace('@', '+away@')}>" "Away.";`,
  );
  const other = await world.add(`require "vacation"; vacation :from "Boss <${own.address}>" "Away.";`);
  const queued = await watchQueue();
  await world.receive(own.address);
  await world.deliver(other.address);
  const froms = (await queued()).map(({ text }) => /^From: (.*)\r\n/.exec(text)?.[1]);
  assert.deepEqual(froms.sort(), [`Ann <${own.address.replace('@', '+away@')}>`, other.address].sort());
});

test('nothing is sent from a domain that the tenant has lost, nor from the sandbox to the world', async () => {
  const { db, config } = world.app;
  const lost = 'lost.example';
  const reply = (from: string) =>
    `require ["vacation", "enotify"]; vacation ${from} "Away."; notify "mailto:x@other.example";`;
  const own = await world.add(reply(`:from "ann@${lost}"`), { aliases: [`ann@${lost}`] });
  const other = await world.add(reply(`:from "bob@people.example"`), {
    address: `bob@${lost}`,
    aliases: ['bob@people.example'],
  });
  const sandbox = await world.add(reply(''), { address: `cat@sandbox.${config.hostname.toLowerCase()}` });
  const queued = await watchQueue();
  for (const { address } of [own, other, sandbox]) await world.receive(address);
  const domains = await db.read.selectFrom('domains').select(['id', 'name']).execute();
  const { id } = domains.find(({ name }) => name === lost) ?? {};
  assert.equal((await world.test.request('DELETE', `/v1/domains/${id}`)).status, 204);
  await world.run();
  const froms = (await queued()).map(({ text }) => /^From: (.*)\r\n/.exec(text)?.[1]);
  assert.deepEqual(froms.sort(), ['bob@people.example', own.address, own.address].sort());
  assert.equal(places().length, 3, 'each message is kept');
});

test('a mailbox at the sandbox keeps what it would send on to the world, and sends on within the sandbox', async () => {
  const sandbox = `sandbox.${world.app.config.hostname.toLowerCase()}`;
  const friend = await world.add('keep;', { address: `gus@${sandbox}` });
  const outward = await world.add('redirect "bob@other.example";', { address: `fay@${sandbox}` });
  const inward = await world.add(`redirect "${friend.address}";`, { address: `hal@${sandbox}` });
  const person = await world.add('redirect "bob@other.example";', { aliases: [`ida@${sandbox}`] });
  const queued = await watchQueue();
  for (const { address } of [outward, inward, person]) await world.deliver(address);
  const recipients = recipientsOf(await queued());
  assert.deepEqual(recipients.flat().sort(), ['bob@other.example', friend.address].sort());
  assert.equal(places().length, 1, 'the message for the world is kept');
});

test('nothing is sent from a domain whose records are gone for longer than the time of grace', async () => {
  const { clock } = world;
  const failing = { status: 'temporary_failure', failingSince: clock.now() } as const;
  await addDomain(world.test, { name: 'failing.example', productType: 'mailbox', ...failing });
  const alias = 'ann@failing.example';
  const script = `require "vacation"; vacation :from "${alias}" "Away.";`;
  const { address } = await world.add(script, { aliases: [alias] });
  const queued = await watchQueue();
  await world.deliver(address);
  await clock.advance(GRACE_MS);
  await world.deliver(address, { from: 'ben@sender.example' });
  const froms = (await queued()).map(({ text }) => /^From: (.*)\r\n/.exec(text)?.[1]);
  assert.deepEqual(froms, [alias, address]);
});

test('programs, lists, spam and mail to others are not answered', async () => {
  const { address } = await world.add('require "vacation"; vacation "Away.";');
  const queued = await watchQueue();
  for (const header of ['Auto-Submitted: auto-generated', 'List-Id: <a.example>', 'Precedence: bulk'])
    await world.receive(address, { header: [header] });
  await world.receive(address, { from: 'no-reply@sender.example' });
  await world.deliver(address, { from: '' });
  assert.deepEqual(await queued(), []);
});

test('a sender that is probably forged is not answered, and the tags of an address are one sender', async () => {
  const { address } = await world.add('require "vacation"; vacation "Away.";');
  const queued = await watchQueue();
  const results = { spf: PASS.spf, dmarc: { ...PASS.dmarc, result: 'none' } };
  for (const result of ['fail', 'softfail'] as const) {
    knobs.result = { ...PASS, ...results, spf: { ...PASS.spf, result } } as typeof PASS;
    await world.receive(address);
  }
  const failed = { result: 'fail', policy: 'none' };
  knobs.result = {
    ...PASS,
    spf: { ...PASS.spf, result: 'none' },
    dmarc: { ...PASS.dmarc, ...failed },
  } as typeof PASS;
  await world.deliver(address);
  assert.deepEqual(await queued(), []);
  knobs.result = PASS;
  for (const from of ['ann+1@sender.example', 'Ann+2@sender.example', 'ann@sender.example'])
    await world.deliver(address, { from });
  assert.equal((await queued()).length, 1);
});

test('notifications are sent by mail, except about automatic mail', async () => {
  const script = 'require "enotify"; notify :message "New mail" "mailto:phone@other.example";';
  const { address } = await world.add(script);
  const queued = await watchQueue();
  await world.receive(address);
  await world.deliver(address, { header: ['Auto-Submitted: auto-notified'] });
  const [notification, ...more] = await queued();
  assert.deepEqual([notification?.to, more], [['phone@other.example'], []]);
  assert.match(
    notification?.text ?? '',
    new RegExp(`Auto-Submitted: auto-notified; owner-email="${address}"`),
  );
});

test('scripts of a mailbox in UTF-8 match, send on, answer and notify, and only mail with UTF-8 needs SMTPUTF8', async () => {
  const script = `require ["copy", "enotify", "envelope", "fileinto", "vacation", "subaddress"];
    if allof (envelope :localpart "to" "jürgen+x", envelope :user "to" "jürgen", address :localpart "from" "zoë")
      { fileinto "Both"; }
    redirect :copy "büb@other.example"; redirect :copy "carl@other.example";
    vacation :addresses "JÜRGEN@people.example" "Away."; notify "mailto:phone@other.example";`;
  const { id } = await world.add(script, { address: 'jürgen@people.example', aliases: ['j@people.example'] });
  const flags = async (messageId: string) =>
    (await world.app.db.read.selectFrom('messages').select('utf8').where('id', '=', messageId).execute())[0]
      ?.utf8;
  const sent = async (to: string, from: string) => {
    const queued = await watchQueue();
    await world.deliver(to, { from, header: ['Cc: ju\u0308rgen@people.example'] });
    const mail = await queued();
    return Object.fromEntries(
      await Promise.all(
        mail.map(async (one) => [one.to.join(), { ...one, utf8: await flags(one.messageId) }] as const),
      ),
    );
  };
  const both = await sent('JU\u0308RGEN+x@people.example', 'zoë@sender.example');
  assert.deepEqual(places(), ['Both']);
  assert.deepEqual(
    [stored[0]?.mailboxId, /Delivered-To: jürgen@people\.example/.test(stored[0]?.text ?? '')],
    [id, true],
  );
  assert.deepEqual(
    Object.entries(both)
      .map(([to, { utf8 }]) => [to, utf8])
      .sort(),
    [
      ['büb@other.example', 1],
      ['carl@other.example', 1],
      ['phone@other.example', 1],
      ['zoë@sender.example', 1],
    ],
  );
  assert.match(
    both['zoë@sender.example']?.text ?? '',
    /^From: jürgen@people\.example\r\nTo: zoë@sender\.example\r\n/,
  );
  assert.match(
    both['phone@other.example']?.text ?? '',
    /Auto-Submitted: auto-notified; owner-token=[0-9a-f]{32}\r\n/,
  );
  const plain = await sent('j@people.example', 'ann@sender.example');
  const { trace, utf8 } = plain['carl@other.example'] ?? assert.fail();
  assert.deepEqual([utf8, plain['büb@other.example']?.utf8], [0, 1], 'the alias is in ASCII');
  assert.doesNotMatch(trace, /[^\0-\x7f]/);
});

test('a notification that cannot be composed holds nothing else up', async () => {
  const script = `require ["enotify", "copy"]; redirect :copy "bob@other.example";
    notify "mailto:phone@other.example";`;
  const { address } = await world.add(script, { displayName: 'a'.repeat(1_000) });
  const mail = await deliver(address);
  assert.equal((await world.tasks()).at(-1)?.state, 'done');
  assert.deepEqual([recipientsOf(mail), places()], [[['bob@other.example']], ['INBOX']]);
});

test('a notification goes to all addresses of its URI, which sets no Reply-To', async () => {
  const uri = 'mailto:phone@other.example?cc=desk@other.example&reply-to=me@people.example';
  const { address } = await world.add(`require "enotify"; notify "${uri}";`);
  const [notification, ...more] = await deliver(address);
  assert.deepEqual([notification?.to.sort(), more], [['desk@other.example', 'phone@other.example'], []]);
  assert.match(notification?.text ?? '', /\r\nCc: desk@other\.example\r\n/);
  assert.doesNotMatch(notification?.text ?? '', /Reply-To/i);
});

test('spam is kept in the folder for spam, and causes no mail', async () => {
  const script = `require ["vacation", "enotify"]; redirect "bob@other.example"; vacation "Away.";
    notify "mailto:phone@other.example";`;
  const { address } = await world.add(script);
  const dmarc = { ...PASS.dmarc, result: 'fail', policy: 'quarantine' } as const;
  knobs.result = { ...PASS, dmarc };
  const mail = await deliver(address);
  assert.deepEqual([mail, places()], [[], ['INBOX junk']]);
});

/** Counts recipients as if scripts of this mailbox had sent to them; by default of another one of the tenant. */
function send(
  use: { sentByScripts?: number; notified?: number },
  { address }: { address: string } = { address: 'others@people.example' },
): Promise<void> {
  const side = openWriting(join(world.test.dataDir, 'postrider.db'), 'NORMAL');
  const counted = { address, tenantId: world.test.tenantId };
  return addUse(kyselyOn(side), counted, { ...use, now: world.clock.now() }).finally(() => side.close());
}

test('a mailbox sends on a bounded number of messages a day, keeps the others, and tells its owner', async () => {
  const mailbox = await world.add('redirect "bob@other.example";');
  const { address } = mailbox;
  const queued = await watchQueue();
  await send({ sentByScripts: MAX_SENT.sentByScripts - 2 }, mailbox);
  await world.deliver(address);
  assert.deepEqual([(await queued()).length, places()], [1, []]);
  // Another delivery sends the last one while this one is built.
  await world.receive(address);
  replaced.beforeCommit = (write) => {
    if (write === 'inbound.settleDelivery') void send({ sentByScripts: 1 }, mailbox);
  };
  await world.run();
  delete replaced.beforeCommit;
  assert.deepEqual([(await queued()).length, places()], [1, []]);
  await world.clock.advance(60_000);
  await world.run();
  assert.equal((await queued()).length, 1);
  assert.deepEqual(places(), ['INBOX', 'undefined']);
  assert.match(stored[1]?.text ?? '', /has failed: it sends to more than 1000 recipients a day/);
  await world.clock.advance(86_400_000);
  await world.deliver(address);
  assert.equal((await queued()).length, 2);
});

test('the mailboxes of a tenant send on to a bounded number of recipients a day together', async () => {
  const { address } = await world.add('redirect "bob@other.example";');
  const { recipientsPerDayOfTenant } = world.app.config.submission;
  const queued = await watchQueue();
  // The limit counts 24 hours, so the messages that earlier tests have sent do not count any more.
  await world.clock.advance(90_000_000);
  await send({ sentByScripts: recipientsPerDayOfTenant - 2, notified: 1 });
  for (let count = 0; count < 2; count++) {
    await world.deliver(address);
  }
  assert.equal((await queued()).length, 1);
  assert.match(
    stored.at(-1)?.text ?? '',
    /the mailboxes of its account send on to more than 10000 recipients/,
  );
  await world.clock.advance(90_000_000);
});

test('a mailbox sends a bounded number of notifications a day', async () => {
  const mailbox = await world.add('require "enotify"; notify "mailto:phone@other.example";');
  const { address } = mailbox;
  const queued = await watchQueue();
  await send({ notified: MAX_SENT.notified - 1 }, mailbox);
  for (let count = 0; count < 2; count++) {
    await world.deliver(address);
  }
  assert.equal((await queued()).length, 1);
  assert.deepEqual(places(), ['INBOX', 'INBOX']);
});

test('a message that comes twice is noticed, also when both are delivered at the same time', async () => {
  const { address } = await world.add(
    'require ["duplicate", "fileinto"]; if duplicate { fileinto "Twice"; }',
  );
  await world.receive(address);
  await world.receive(address);
  assert.equal(await world.run(), 2);
  assert.deepEqual(places().sort(), ['INBOX', 'Twice']);
});

test('a message that is discarded is remembered for the time that the script says', async () => {
  const script = 'require ["duplicate", "fileinto"]; discard; if duplicate :seconds 60 { fileinto "Twice"; }';
  const { address } = await world.add(script);
  const receive = async () => {
    world.stored.length = 0;
    await world.deliver(address);
    return world.stored.map(({ target }) => target?.mailbox);
  };
  assert.deepEqual(await receive(), []);
  assert.deepEqual(await receive(), ['Twice']);
  await world.clock.advance(61_000);
  assert.deepEqual(await receive(), []);
});

test('what scripts ask about the account takes a bounded number of runs', async () => {
  let runs = 0;
  const questions = (name: string) =>
    Array.from({ length: 20 }, (_, n) => `if ${name.replace('#', `${n}`)} { fileinto "${n}"; }`).join(' ');
  const script = `require ["mailbox", "duplicate", "fileinto", "copy"];
    ${questions('mailboxexists "#"')} ${questions('duplicate :uniqueid "#"')}`;
  const { address } = await world.add(script);
  folders.push({ name: '7', mailboxId: 'F1', specialUse: null });
  replaced.run = async (job, owner) => {
    runs++;
    return await world.runScripts(job, owner);
  };
  await world.deliver(address);
  assert.deepEqual([places(), runs], [['7'], 2]);
  await world.deliver(address);
  assert.equal(runs, 5, 'one run for the folders, and one for the keys that are known by now');
  assert.deepEqual(places().slice(1).toSorted(), Array.from({ length: 20 }, (_, n) => `${n}`).toSorted());
});

test('a key is not claimed by a run that turns out to be wrong', async () => {
  const script = `require ["duplicate", "fileinto"];
    if duplicate :uniqueid "one" { fileinto "Twice"; } elsif duplicate :header "x-two" { fileinto "Wrong"; }`;
  const { id, address } = await world.add(script);
  await world.receive(address, { header: ['X-Two: a'] });
  await world.deliver(address, { header: ['X-Two: b'] });
  assert.deepEqual(places(), ['INBOX', 'Twice']);
  const memories = await world.app.db.read.selectFrom('scriptMemories').selectAll().execute();
  assert.equal(memories.filter(({ mailboxId }) => mailboxId === id).length, 2, 'that of X-Two: a, not of b');
});

test('a script gets what it includes and nothing else, within a limit', async () => {
  const { id, address } = await world.add('require ["include"]; include "a";');
  const put = (name: string, content: string) =>
    world.app.db.commit(putScript, { mailboxId: id, name, content, now: 1 });
  await put(
    'a',
    'require ["include"]; include :optional "none"; include :global :optional "g"; include "b";',
  );
  await put('b', 'require ["fileinto"]; fileinto "B";');
  await put('unused', `# ${'x'.repeat(100_000)}`);
  const names = new Set<string>();
  replaced.run = async (job, owner) => {
    for (const { name } of job.included) names.add(name);
    return await world.runScripts(job, owner);
  };
  await world.deliver(address);
  assert.deepEqual([places(), [...names]], [['B'], ['personal/a', 'personal/b']]);
  const large = ['c', 'd', 'e'];
  for (const name of large) await put(name, `keep; # ${'x'.repeat(100_000)}`);
  await put('a', `require ["include"]; ${large.map((name) => `include "${name}";`).join(' ')}`);
  await world.deliver(address);
  assert.match(stored.at(-1)?.text ?? '', /scripts that it includes have more than 262144 characters/);
});

test('a script that fails keeps the message, and its owner is told once a day', async () => {
  const script = 'require "variables"; set "a" "no address"; redirect "$' + '{a}";';
  const { address } = await world.add(script);
  for (let count = 0; count < 2; count++) {
    await world.deliver(address);
  }
  assert.deepEqual(
    stored.map(({ deliveryId }) => deliveryId.split('/').length),
    [2, 3, 2],
  );
  const note = stored[1]?.text ?? '';
  assert.match(note, /^Date: .*\r\nFrom: Mail server <postmaster@/);
  assert.match(note, /Your Sieve script "rules", line 1 has failed: /);
});

test('while no thread is free, a message waits; a script that takes too long has failed', async () => {
  const { address } = await world.add('keep;');
  await world.receive(address);
  replaced.run = async () => ({ kind: 'busy', reason: 'no thread was free' });
  await world.run();
  assert.deepEqual([(await world.tasks()).at(-1)?.state, places()], ['pending', []]);
  delete replaced.run;
  await world.clock.advance(60_000);
  await world.run();
  assert.deepEqual([(await world.tasks()).at(-1)?.state, places()], ['done', ['INBOX']]);
});

test('an edited header replaces that of the message, in folders and in what is sent on', async () => {
  const script = `require ["editheader", "fileinto", "copy"];
    addheader "X-Sorted" "yes"; deleteheader "subject"; redirect :copy "bob@other.example"; fileinto "Lists";`;
  const { address } = await world.add(script);
  const mail = await deliver(address);
  const [message] = stored;
  assert.match(message?.text ?? '', /^X-Sorted: yes\r\nReturn-Path: /);
  assert.doesNotMatch(message?.text ?? '', /Subject:/);
  assert.match(message?.text ?? '', /\r\n\r\nHello\r\n\r\n$/);
  const [redirected] = mail;
  assert.match(redirected?.text ?? '', /^X-Sorted: yes\r\nFrom: /);
  assert.doesNotMatch(redirected?.text ?? '', /Subject:|Delivered-To:/);
});

test('a message is sent on although its script removes the fields of the reception', async () => {
  const script = `require "editheader"; addheader "X-Top" "1"; deleteheader "Authentication-Results"; deleteheader "Return-Path";
    deleteheader "Delivered-To"; redirect "bob@other.example";`;
  const { address } = await world.add(script);
  const [redirected] = await deliver(address);
  assert.match(redirected?.text ?? '', /^X-Top: 1\r\nFrom: /);
  assert.deepEqual(places(), []);
});

test('a message that is rejected gets no other answer, whichever script comes first', () => {
  const kinds = ['vacation', 'reject', 'vacation'] as const;
  const plan = planOf(
    kinds.map((kind) => ({ kind, header: undefined }) as unknown as Action),
    [],
  );
  assert.deepEqual(
    plan.outgoing.map(({ kind }) => kind),
    ['reject'],
  );
});

test('a message that is refused after it was accepted is reported to a proven sender alone', async () => {
  const { id, address } = await world.add('keep;');
  const queued = await watchQueue();
  await world.receive(address);
  await world.activate(id, 'require "reject"; reject "Not here.";');
  await world.run();
  await world.activate(id, 'keep;');
  knobs.result = {
    ...PASS,
    spf: { ...PASS.spf, result: 'none' },
    dmarc: { ...PASS.dmarc, result: 'none' } as typeof PASS.dmarc,
  };
  await world.receive(address);
  await world.activate(id, 'require "reject"; reject "Not here.";');
  await world.run();
  const [report, ...more] = await queued();
  assert.deepEqual([report?.to, more, places()], [['ann@sender.example'], [], []]);
  assert.match(report?.text ?? '', /Not here\./);
});

test('a reply, and the report of a refusal, ask for REQUIRETLS like the message that they are about', async () => {
  const { id, address } = await world.add('keep;');
  for (const script of ['require "vacation"; vacation "Away.";', 'require "reject"; reject "Not here.";']) {
    const queued = await watchQueue();
    await world.activate(id, 'keep;');
    await world.receive(address);
    const side = openWriting(join(world.test.dataDir, 'postrider.db'), 'NORMAL');
    side.prepare('UPDATE receivedMessages SET requireTls = 1 WHERE sender = ?').run('ann@sender.example');
    side.close();
    await world.activate(id, script);
    await world.run();
    const [answer] = await queued();
    const row = world.test.app.db.read.selectFrom('messages').select('requireTls');
    assert.equal((await row.where('id', '=', answer?.messageId ?? '').executeTakeFirst())?.requireTls, 1);
  }
});

const FIVE_ACTIONS = `require ["fileinto", "copy", "vacation"];
  fileinto "One"; fileinto "Two"; redirect :copy "bob@other.example"; vacation "Away."; keep;`;

test('a delivery of five actions that is interrupted anywhere is completed as it was decided, and repeats nothing', async () => {
  const interruptions: (() => void)[] = [
    () => {
      replaced.deliver = ({ target }) =>
        target?.mailbox === 'Two' ? { kind: 'waiting', reason: 'the daemon ends here' } : undefined;
    },
    ...['inbound.storePlan', 'inbound.settleDelivery'].map((interrupted) => () => {
      replaced.beforeCommit = (write) => {
        if (write === interrupted) throw new Error('the daemon ends here');
      };
    }),
  ];
  for (const [index, interrupt] of interruptions.entries()) {
    const { id, address } = await world.add(FIVE_ACTIONS);
    const queued = await watchQueue();
    await world.receive(address);
    interrupt();
    await world.run();
    assert.deepEqual(await queued(), []);
    delete replaced.deliver;
    delete replaced.beforeCommit;
    // Before the plan is stored, nothing is done yet, and the script decides anew.
    if (index !== 1) await world.activate(id, 'discard;');
    await world.clock.advance(60_000);
    await world.run();
    assert.deepEqual(places(), ['One', 'Two', 'INBOX'], `${index}`);
    assert.deepEqual(recipientsOf(await queued()).sort(), [['ann@sender.example'], ['bob@other.example']]);
    assert.deepEqual(await world.app.db.read.selectFrom('deliveryPlans').selectAll().execute(), []);
    stored.length = 0;
  }
});

test('a run that has lost its lease settles nothing, and the next run does', async () => {
  const { address } = await world.add('redirect "bob@other.example";');
  const queued = await watchQueue();
  await world.receive(address);
  replaced.run = async () => {
    delete replaced.run;
    await releaseTasksOf(world.app, 'received-mailbox');
    await world.run();
    return { kind: 'done', actions: [], remembered: [] };
  };
  await world.run();
  assert.deepEqual(recipientsOf(await queued()), [['bob@other.example']]);
});

test('what a script has decided is carried out, also when the owner deactivates it before the next attempt', async () => {
  const mailbox = await world.add('require "fileinto"; fileinto "Work"; redirect "late@other.example";');
  const queued = await watchQueue();
  await world.receive(mailbox.address);
  replaced.deliver = () => ({ kind: 'waiting', reason: 'busy' });
  await world.run();
  delete replaced.deliver;
  await world.app.db.commit(activateScript, { mailboxId: mailbox.id, name: '' });
  await world.clock.advance(20 * 60_000);
  await world.run();
  assert.deepEqual(places(), ['Work']);
  assert.deepEqual(recipientsOf(await queued()), [['late@other.example']]);
  assert.deepEqual(await world.app.db.read.selectFrom('deliveryPlans').selectAll().execute(), []);
});

test('copies of what is sent are stored once each, also of what a limit has left out at first', async () => {
  const script = `require ["enotify", "vacation", "fcc"];
    notify :fcc "Sent" "mailto:team@other.example"; vacation :fcc "Sent" "Away.";`;
  const mailbox = await world.add(script);
  await send({ notified: MAX_SENT.notified }, mailbox);
  await world.receive(mailbox.address);
  replaced.beforeCommit = (write) => {
    if (write === 'inbound.settleDelivery') throw new Error('the daemon ends here');
  };
  await world.run();
  delete replaced.beforeCommit;
  assert.deepEqual(places(), ['INBOX', 'Sent'], 'the reply');
  await world.clock.advance(90_000_000);
  await world.run();
  assert.deepEqual(places(), ['INBOX', 'Sent', 'Sent']);
  const recipients = stored.slice(1).map(({ text }) => /^To: (.*)\r$/m.exec(text)?.[1]);
  assert.deepEqual(recipients, ['ann@sender.example', 'team@other.example']);
});

/** Returns the names of the files in which blobs are. */
const blobFiles = () =>
  readdirSync(join(world.test.dataDir, 'blobs'), { recursive: true })
    .map(String)
    .filter((name) => name.length > 60);

test('a large message with an edited header is written once for each header, and no file stays behind', async () => {
  const script = `require ["editheader", "fileinto", "copy"];
    fileinto "Old"; addheader "X-A" "1"; fileinto "One"; fileinto "Two"; redirect "bob@other.example"; redirect "carl@other.example";`;
  const { address } = await world.add(script, { quotaBytes: 50_000_000 });
  await world.receive(address, { text: 'line\r\n'.repeat(60_000) });
  const before = blobFiles();
  const seen: string[][] = [];
  replaced.deliver = ({ content, target }) => {
    seen.push([target?.mailbox ?? '', content.file?.sha256 ?? '']);
    return undefined;
  };
  const queued = await watchQueue();
  await world.run();
  assert.deepEqual(
    seen.map(([folder]) => folder),
    ['Old', 'One', 'Two'],
  );
  const [old, one, two] = seen.map(([, sha256]) => sha256 ?? '');
  assert.ok(old !== '' && one !== '' && one === two && one !== old);
  const rows = await world.app.db.read.selectFrom('messages').select(['id', 'blobId']).execute();
  const redirects = (await queued()).map(({ messageId }) => rows.find(({ id }) => id === messageId)?.blobId);
  assert.equal(redirects.length, 2);
  assert.equal(redirects[0], redirects[1], 'both redirects have the same bytes');
  assert.equal(blobFiles().length, before.length + 1, 'that of the redirects');
});

test('a redirect whose delivery has lost its lease leaves no file behind', async () => {
  const script =
    `require ["editheader", "date", "variables"];
    if currentdate :matches "iso8601" "*" { addheader "X-Now" "$` + `{1}"; } redirect "bob@other.example";`;
  const { address } = await world.add(script);
  await world.receive(address, { text: 'line\r\n'.repeat(60_000) });
  const before = blobFiles();
  replaced.run = async (job, owner) => {
    delete replaced.run;
    await world.clock.advance(10 * 60_000);
    await world.run();
    return await world.runScripts(job, owner);
  };
  await world.run();
  assert.equal(blobFiles().length, before.length + 1);
});

/** Adds fields of some 4 KB, and files the message into this number of folders besides INBOX. */
function editingScript(fields: number, folders: number): string {
  const text = 'x '.repeat(2_000);
  const added = Array.from({ length: fields }, (_, index) => `addheader "X-${index}" "${text}";`);
  const filed = Array.from({ length: folders }, (_, index) => `fileinto "F${index}";`);
  return ['require ["editheader", "fileinto"];', ...added, ...filed, 'keep;'].join('\n');
}

test('a plan has each edited header once, and scripts fail whose edits make a small message large', async () => {
  const moderate = await world.add(editingScript(4, 20));
  await world.receive(moderate.address);
  replaced.deliver = () => ({ kind: 'waiting', reason: 'busy' });
  await world.run();
  const [row] = await world.app.db.read.selectFrom('deliveryPlans').selectAll().execute();
  assert.ok(row && row.plan.length < 40_000, `${row?.plan.length} characters`);
  delete replaced.deliver;
  await world.clock.advance(20 * 60_000);
  await world.run();
  assert.equal(stored.length, 21);
  for (const { text } of stored) assert.match(text, /^X-3: x x/);
  stored.length = 0;
  const large = await world.add(editingScript(8, 20));
  await world.deliver(large.address);
  assert.deepEqual(stored.map(({ deliveryId }) => deliveryId.replace(/^.*\//, '')).sort(), ['0', 'note']);
});

test('copies and edits that a mailbox has no room for are left out', async () => {
  const { address } = await world.add(editingScript(1, 2), { quotaBytes: 10_000 });
  await world.deliver(address);
  assert.deepEqual(places(), ['F0', 'F1'], 'the third copy does not fit');
  stored.length = 0;
  const full = await world.add(editingScript(1, 2), { quotaBytes: 1_000 });
  await world.deliver(full.address);
  assert.deepEqual(places(), ['F0']);
  assert.doesNotMatch(stored[0]?.text ?? '', /X-0/);
});
