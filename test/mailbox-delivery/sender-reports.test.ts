/** Senders of received mail are told what becomes of it here, as they ask for it (RFC 3461), and nobody else is told anything. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { readReturnedMail } from '../../src/mail/dsn/read.ts';
import { createNotificationKind } from '../../src/mailbox-delivery/forward/notify.ts';
import { createSenderReportKind } from '../../src/mailbox-delivery/sender-reports/work.ts';
import { endMailbox } from '../../src/mailboxes/store.ts';
import { startDelivering } from '../../src/queue/worker.ts';
import { createLocalReceiver } from '../../src/receiving/local.ts';
import { PASS, sendMail } from '../inbound/mail-world.ts';
import { runDueTasks } from '../support/tasks.ts';
import { waitUntilInTime } from '../support/wait-until.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { openScriptWorld } from './scripts/world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const world = await openScriptWorld({ dns: zoneDns('people.example MX 10 mx.postrider.example') });
const { app, clock, knobs } = world;
const reporting = createSenderReportKind(app);
const notifying = createNotificationKind({
  ...app,
  mailboxDelivery: { deliver: async () => ({ kind: 'delivered' }) },
});
let known = new Set<string>();

beforeEach(async () => {
  knobs.result = PASS;
  world.replaced.deliver = () => undefined;
  // The rates of reports begin anew.
  await clock.advance(DAY_MS);
  await runDueTasks(app, reporting);
  known = new Set((await world.queued()).map(({ messageId }) => messageId));
});

/** Returns the messages that have entered the queue since the last call. */
async function newMail() {
  const mail = (await world.queued()).filter(({ messageId }) => !known.has(messageId));
  for (const { messageId } of mail) known.add(messageId);
  return mail;
}

/** Writes the reports that are due, and returns them with what they say about each recipient. */
async function reports() {
  await clock.advance(100);
  await newMail();
  await runDueTasks(app, reporting);
  return (await newMail()).map(({ to, returnPath, text }) => {
    const read = readReturnedMail(Buffer.from(text));
    assert.ok(read.kind === 'bounce', text);
    const says = read.notices.map(
      ({ action, status, finalRecipient }) => `${action} ${status} ${finalRecipient}`,
    );
    return { to, returnPath, text, says };
  });
}

const saidBy = async () => (await reports()).flatMap(({ says }) => says);
const SUCCESS = { rcpt: 'NOTIFY=SUCCESS,FAILURE' };

test('port 25 offers DSN, refuses parameters that are malformed, and takes the longest', async () => {
  const { address } = await world.add('keep;');
  const client = await world.open();
  assert.match(await client.ask('EHLO mail.sender.example\r\n'), /^250[- ]DSN\r$/m);
  const mail = 'MAIL FROM:<ann@sender.example>';
  for (const wrong of ['RET=BODY', 'ENVID=a=b', `ENVID=${'a'.repeat(101)}`, 'RET=FULL RET=HDRS'])
    assert.match(await client.ask(`${mail} ${wrong}\r\n`), /^501 5\.5\.4 /, wrong);
  assert.match(await client.ask(`${mail} HOLDFOR=5\r\n`), /^555 /);
  assert.match(await client.ask(`${mail} RET=FULL ENVID=${'a'.repeat(100)}\r\n`), /^250 /);
  const rcpt = `RCPT TO:<${address}>`;
  for (const wrong of ['NOTIFY=NEVER,DELAY', 'NOTIFY=OFTEN', 'ORCPT=ann', `ORCPT=rfc822;${'a'.repeat(500)}`])
    assert.match(await client.ask(`${rcpt} ${wrong}\r\n`), /^501 5\.5\.4 /, wrong);
  const longest = `NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;${'a'.repeat(493)}`;
  assert.match(await client.ask(`${rcpt} ${longest}\r\n`), /^250 /);
});

test('a delivery to a mailbox is reported once to a sender that asks for it, with its names and the header alone', async () => {
  const { address } = await world.add('keep;');
  const dsn = { mail: 'RET=FULL ENVID=QQ314159', rcpt: `NOTIFY=SUCCESS ORCPT=rfc822;Old@people.example` };
  await world.deliver(address, { text: 'The secret body', dsn });
  const [report, ...more] = await reports();
  assert.ok(report && more.length === 0);
  assert.deepEqual([report.to, report.returnPath], [['ann@sender.example'], '']);
  assert.deepEqual(report.says, [`delivered 2.0.0 ${address}`]);
  assert.match(report.text, /\r\nOriginal-Envelope-Id: QQ314159\r\n/);
  assert.match(report.text, /\r\nOriginal-Recipient: rfc822;Old@people\.example\r\n/);
  assert.match(report.text, /\r\nSubject: Greetings\r\n/);
  assert.doesNotMatch(report.text, /secret body/);
  assert.deepEqual(await saidBy(), []);
});

test('nobody is told who does not ask, is not proven, or has no address', async () => {
  const { address } = await world.add('keep;');
  for (const rcpt of ['', 'NOTIFY=NEVER', 'NOTIFY=FAILURE,DELAY', 'ORCPT=rfc822;old@people.example'])
    await world.deliver(address, { dsn: { rcpt } });
  knobs.result = { ...PASS, spf: { ...PASS.spf, result: 'none' }, dmarc: { ...PASS.dmarc, result: 'none' } };
  await world.deliver(address, { dsn: SUCCESS });
  knobs.result = PASS;
  assert.match(await sendMail(await world.open(), { from: '', to: address, dsn: SUCCESS }), /^250 /);
  await world.run();
  assert.deepEqual(await saidBy(), []);
});

test('a program that asks is told, and no address is told too often', async () => {
  const { address } = await world.add('keep;');
  await world.deliver(address, { header: ['Auto-Submitted: auto-generated'], dsn: SUCCESS });
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${address}`]);
  for (let count = 0; count < 25; count++) await world.receive(address, { dsn: SUCCESS });
  while ((await world.run()) > 0);
  assert.equal((await saidBy()).length, 19);
});

test('two addresses of one mailbox are in one report, each as the sender asks', async () => {
  const { address } = await world.add('keep;');
  const tagged = address.replace('@', '+tag@');
  const client = await world.open();
  for (const command of [
    'MAIL FROM:<ann@sender.example>',
    `RCPT TO:<${address}> NOTIFY=NEVER`,
    `RCPT TO:<${tagged}> NOTIFY=SUCCESS`,
  ])
    assert.match(await client.ask(`${command}\r\n`), /^250 /);
  await client.ask('DATA\r\n');
  await client.ask('Subject: Hello\r\n\r\nHi\r\n.\r\n');
  await world.run();
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${tagged}`]);
});

test('mail that a program reads is delivered once it is accepted, and with a mailbox once that has it', async () => {
  const mailbox = await world.add('keep;');
  const [, domain = ''] = mailbox.address.split('@');
  const hooks = `hooks@${domain}`;
  await world.addRoute(hooks);
  await world.addRoute(mailbox.address);
  await world.receive(hooks, { dsn: SUCCESS });
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${hooks}`]);
  await world.receive(mailbox.address, { dsn: SUCCESS });
  assert.deepEqual(await saidBy(), [], 'the mailbox does not have it yet');
  await world.run();
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${mailbox.address}`]);
  const postmaster = `postmaster@${app.config.hostname}`;
  await world.receive(postmaster, { dsn: SUCCESS });
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${postmaster}`]);
});

test('mail that is kept and sent on is delivered, and mail for several addresses is expanded', async () => {
  const kept = await world.add('require "copy"; redirect :copy "bob@other.example";');
  await world.deliver(kept.address, { dsn: SUCCESS });
  const [copy] = await app.db.read.selectFrom('recipients').selectAll().orderBy('id', 'desc').execute();
  assert.equal(copy?.dsn, `NOTIFY=FAILURE ORCPT=rfc822;${kept.address}`);
  assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${kept.address}`]);
  const several = await world.add('redirect "bob@other.example"; redirect "eve@other.example";');
  await world.deliver(several.address, { dsn: SUCCESS });
  assert.deepEqual(await saidBy(), [`expanded 2.0.0 ${several.address}`]);
});

test('the wishes go on with a redirect without that for a report of the delivery, and without RET=FULL when nobody is proven', async () => {
  const { address } = await world.add('redirect "bob@other.example";');
  const dsn = { mail: 'RET=FULL ENVID=QQ1', rcpt: 'NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Old@people.example' };
  const passedOn = async () => {
    await world.deliver(address, { dsn });
    const { messageId = assert.fail() } = (await newMail()).at(-1) ?? {};
    const { read } = app.db;
    const message = await read
      .selectFrom('messages')
      .select('dsn')
      .where('id', '=', messageId)
      .executeTakeFirst();
    const row = await read
      .selectFrom('recipients')
      .select('dsn')
      .where('messageId', '=', messageId)
      .execute();
    return [message?.dsn, ...row.map((one) => one.dsn)];
  };
  const RCPT = 'NOTIFY=FAILURE ORCPT=rfc822;Old@people.example';
  assert.deepEqual(await passedOn(), ['RET=FULL ENVID=QQ1', RCPT]);
  knobs.result = { ...PASS, spf: { ...PASS.spf, result: 'none' }, dmarc: { ...PASS.dmarc, result: 'none' } };
  assert.deepEqual(await passedOn(), ['ENVID=QQ1', RCPT]);
  assert.deepEqual(await saidBy(), []);
});

test('mail that is only sent on is reported once the next server has taken it, and where it went is not told', async () => {
  const target = await world.add('keep;');
  const { address } = await world.add(`redirect "${target.address}";`);
  await world.deliver(address, { dsn: { mail: 'ENVID=QQ1', rcpt: 'NOTIFY=SUCCESS,FAILURE' } });
  assert.deepEqual([await saidBy(), (await runDueTasks(app, notifying)).length], [[], 0]);
  const delivering = startDelivering(app, createLocalReceiver(app));
  after(() => delivering.stop(1_000));
  let told = '';
  const isTold = async () => {
    await runDueTasks(app, notifying);
    // Mail of earlier tests expires here.
    told = (await newMail()).find(({ text }) => text.includes(`; ${address}`))?.text ?? '';
    return told !== '';
  };
  await waitUntilInTime([clock], isTold, 'the sender is told');
  assert.match(
    told,
    new RegExp(`\r\nFinal-Recipient: rfc822; ${address}\r\nAction: relayed\r\nStatus: 2\\.0\\.0\r\n`),
  );
  assert.match(told, /\r\nOriginal-Envelope-Id: QQ1\r\n/);
  assert.doesNotMatch(told, new RegExp(target.address));
  await delivering.stop(1_000);
  await world.run();
  assert.deepEqual(await saidBy(), [], 'the mailbox behind it reports nothing');
});

test('a mailbox gets mail back whose sender wants to hear of no failure, and reports at once that it was sent on', async () => {
  const mailbox = await world.add('redirect "bob@other.example";');
  await world.deliver(mailbox.address, { dsn: { rcpt: 'NOTIFY=SUCCESS' } });
  const { read } = app.db;
  const row = await read
    .selectFrom('failureNotifications')
    .selectAll()
    .orderBy('messageId', 'desc')
    .executeTakeFirst();
  assert.deepEqual([row?.address, row?.recipient], ['', mailbox.id]);
  assert.deepEqual(await saidBy(), [`relayed 2.0.0 ${mailbox.address}`]);
});

test('a script that refuses mail reports it as the sender asks', async () => {
  const refusing = 'require ["reject", "fileinto"]; if header "Subject" "Greetings" { reject "Not here."; }';
  const { address } = await world.add(refusing);
  const other = await world.add('keep;');
  const refusalOf = async (dsn: { mail?: string; rcpt?: string }) => {
    const message = 'From: ann@sender.example\r\nSubject: Greetings\r\n\r\nThe body\r\n';
    await sendMail(await world.open(), { to: [address, other.address], message, dsn });
    await newMail();
    await world.run();
    return (await newMail()).map(({ text }) => text);
  };
  assert.deepEqual(await refusalOf({ rcpt: 'NOTIFY=NEVER' }), []);
  const [refusal = ''] = await refusalOf({ mail: 'RET=FULL ENVID=QQ1', rcpt: 'NOTIFY=FAILURE' });
  assert.match(refusal, /\r\nAction: failed\r\nStatus: 5\.7\.1\r\n/);
  assert.match(refusal, /\r\nOriginal-Envelope-Id: QQ1\r\n/);
  assert.match(refusal, /The body/);
  for (const dsn of [SUCCESS, { rcpt: 'NOTIFY=SUCCESS' }]) {
    await refusalOf(dsn);
    assert.deepEqual(await saidBy(), [`delivered 2.0.0 ${other.address}`], dsn.rcpt);
  }
});

test('mail for a mailbox that is deleted has failed, and its sender is told unless it wants not to be', async () => {
  for (const [rcpt, told] of [
    ['', 1],
    ['NOTIFY=NEVER', 0],
  ] as const) {
    const mailbox = await world.add('keep;');
    await world.receive(mailbox.address, { dsn: { rcpt } });
    await app.db.commit(endMailbox, { tenantId: mailbox.tenantId, id: mailbox.id, now: clock.now() });
    await world.run();
    assert.deepEqual(await saidBy(), Array(told).fill(`failed 5.2.0 ${mailbox.address}`));
  }
});

test('a delay of four hours is reported once, unless the mailbox has taken the message or the sender does not want it', async () => {
  const mailbox = await world.add('keep;');
  const { address } = mailbox;
  world.replaced.deliver = () => ({ kind: 'waiting', reason: 'The mailbox is damaged' });
  await world.receive(address);
  await world.receive(address, { dsn: { rcpt: 'NOTIFY=FAILURE' } });
  const says: string[] = [];
  const wait = async (times: number) => {
    for (let count = 0; count < times; count++) {
      await clock.advance(HOUR_MS / 4);
      await world.run();
      says.push(...(await saidBy()));
    }
  };
  await wait(15);
  assert.deepEqual(says, []);
  await wait(30);
  assert.deepEqual(says, [`delayed 4.2.0 ${address}`]);
  await world.receive(address);
  await wait(2);
  world.replaced.deliver = () => undefined;
  await wait(20);
  assert.deepEqual(says, [`delayed 4.2.0 ${address}`]);
});
