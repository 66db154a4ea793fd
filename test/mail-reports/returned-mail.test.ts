import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { insertBlob } from '../../src/blobs/store.ts';
import { takeRequestedWakeups } from '../../src/db/commit-wakeups.ts';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { ReceivedMessageRow } from '../../src/db/inbound-tables.ts';
import { insertReceived } from '../../src/inbound/store.ts';
import { insertTask } from '../../src/inbound/tasks/store.ts';
import type { Authenticator } from '../../src/mail/auth/authenticator.ts';
import { type DkimOutcome, undecided } from '../../src/mail/auth/result.ts';
import { createComplaintKind } from '../../src/mail-reports/complaints.ts';
import { createBounceKind } from '../../src/mail-reports/returned-mail.ts';
import { bounceLocalPart, complaintLocalPart, returnAddressKeyOf } from '../../src/queue/return-path.ts';
import { recoverQueue } from '../../src/queue/worker.ts';
import { createInboundApp } from '../../src/receiving/inbound-app.ts';
import { openInbound } from '../../src/receiving/listener.ts';
import { newId } from '../../src/system/ids.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { type Campaign, openCampaign } from '../broadcasts/sending/campaign.ts';
import { sendMail } from '../inbound/mail-world.ts';
import { POSTFIX, textBounce } from '../mail/dsn/bounces.ts';
import { createClient, STARTTLS } from '../mail/smtp/server/fixture.ts';
import { waitUntil } from '../support/wait-until.ts';

const MINUTE_MS = 60_000;
let campaign: Campaign;
let names = 0;
let database: ReturnType<typeof openWriting>;

before(async () => {
  campaign = await openCampaign();
  database = openWriting(join(campaign.spool.dataDir, 'postrider.db'), 'NORMAL');
});
after(async () => {
  database.close();
  await campaign[Symbol.asyncDispose]();
});

const newReader = () => `back${++names}@readers.example`;

async function deliver(to: string): Promise<string> {
  const id = await campaign.spool.accept([to]);
  await campaign.spool.deliverDue();
  return id;
}

type Arriving = {
  kind: 'bounce' | 'complaint';
  localPart: string;
  raw: string;
  sender?: string;
  auth?: ReceivedMessageRow['auth'];
};

/** Stores a message with its task, as the listener does. */
async function receive({ kind, localPart, raw, sender = '', auth = null }: Arriving): Promise<string> {
  const { app, clock } = campaign.spool;
  const side = kyselyOn(database);
  const createdAt = clock.now();
  const blob = await app.blobs.prepare([Buffer.from(raw.replaceAll('\n', '\r\n'))]);
  await insertBlob(side, blob);
  const id = newId('in', createdAt);
  const given = { blobId: blob.id, sizeBytes: blob.sizeBytes, sender, auth, createdAt };
  const none = {
    helo: null,
    tls: null,
    requireTls: 0,
    utf8: 0,
    spamScore: null,
    flagged: 0,
    isForRoute: 0,
    dsn: null,
    reportsDelivery: 0,
  } as const;
  const header = { headerFrom: null, subject: null, messageId: null, emailId: null } as const;
  const rest = { remoteAddress: '', trace: '', spamReasons: '[]', endedAt: null, contentDeletedAt: null };
  const message = { id, tenantId: null, ...given, ...none, ...header, ...rest };
  const recipient = { messageId: id, position: 0, kind, targetId: 'em_1', dsn: null };
  await insertReceived(side, message, [{ ...recipient, address: `${localPart}@bounce.example` }]);
  const task = { id: newId('tsk', createdAt), tenantId: null, createdAt };
  await insertTask(side, { ...recipient, ...task });
  for (const [name, subjects] of takeRequestedWakeups()) app.wakeups.notify(name, subjects);
  return id;
}

const tasksOf = (messageId: string) =>
  campaign.spool.app.db.read
    .selectFrom('receivedTasks')
    .select(['state', 'attempts', 'error'])
    .where('messageId', '=', messageId as `in_${string}`)
    .execute();

/** Runs the works until the task of a message has been tried so many times. Returns its state. */
async function runUntil(messageId: string, attempts = 1) {
  const { app, clock } = campaign.spool;
  const running = startTasks(app, [createBounceKind(app), createComplaintKind(app)]);
  await waitUntil(async () => {
    await clock.advance(0);
    const [task] = await tasksOf(messageId);
    return task?.attempts === attempts && (task.state !== 'pending' || task.error !== null);
  }, 'the task was not run');
  await running.stop(0);
  const [task] = await tasksOf(messageId);
  return [task?.state, task?.error];
}

function returnPathOf(emailId: string): string {
  const { app, clock } = campaign.spool;
  return bounceLocalPart(returnAddressKeyOf(app), { emailId, attemptedAt: clock.now() });
}

const metrics = async () => (await campaign.spool.app.metrics.show()).text;

test('a bounce is read from the stored message, and its recipient is bounced', async () => {
  const to = newReader();
  const emailId = await deliver(to);
  const raw = POSTFIX.replaceAll('bob@rcpt.example', to);
  const id = await receive({ kind: 'bounce', localPart: returnPathOf(emailId).toUpperCase(), raw });
  assert.deepEqual(await runUntil(id), ['done', null]);
  assert.equal((await campaign.spool.email(emailId)).status, 'bounced');
  assert.match(await metrics(), /inbound_bounces_total\{result="stored"\} 1/);
});

/** Finds a signature of the author that passes, and nothing else. */
const authenticator: Authenticator = {
  begin: () => ({
    write() {},
    finish: async () => ({ ...undecided('127.0.0.1', 'Not asked'), dkim: [SIGNATURE] }),
    abort() {},
  }),
  close: async () => {},
};
const SIGNATURE: DkimOutcome = {
  domain: 'provider.example',
  selector: 's',
  algorithm: 'rsa-sha256',
  reason: '',
  result: 'pass',
  isAligned: true,
};

test('bounces and complaints that come over SMTP change the recipients of their emails', async () => {
  const { app } = campaign.spool;
  const [to, other] = [newReader(), newReader()];
  const [bounced, complained] = [await deliver(to), await deliver(other)];
  const returnPath = campaign.sink.messages.find(({ recipients }) => recipients.includes(to))?.mailFrom ?? '';
  const key = returnAddressKeyOf(app);
  const forComplaints = `${complaintLocalPart(key, { emailId: complained, position: 0 })}@bounce.sender.example`;
  const config = { ...app.config, smtp: { ...app.config.smtp, address: '127.0.0.1', port: 0 } };
  const inbound = { ...createInboundApp(app), config, authenticator };
  const listener = await openInbound(inbound, { store: STARTTLS.certificates });
  const port = Number(listener.address.split(':').at(-1));
  const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
  await client.reply();
  await client.ask('EHLO mx.readers.example\r\n');
  const message = POSTFIX.replaceAll('bob@rcpt.example', to).replaceAll('\n', '\r\n');
  assert.match(await sendMail(client, { from: '', to: returnPath, message }), /^250 /);
  assert.match(await sendMail(client, { from: '', to: `x${returnPath}`, message }), /^550 5\.1\.1/);
  const report = REPORT.replaceAll('\n', '\r\n');
  const from = 'feedback@provider.example';
  assert.match(await sendMail(client, { from, to: forComplaints, message: report }), /^250 /);
  client.socket.destroy();
  await listener.close();
  const messages = await app.db.read.selectFrom('receivedMessages').select('id').orderBy('id').execute();
  for (const { id } of messages.slice(-2)) assert.deepEqual(await runUntil(id), ['done', null]);
  assert.equal((await campaign.spool.email(bounced)).status, 'bounced');
  assert.equal((await campaign.spool.email(complained)).status, 'complained');
});

test('automatic replies and other mail to a return path are counted and dropped', async () => {
  const emailId = await deliver(newReader());
  const localPart = returnPathOf(emailId);
  const away = await receive({
    kind: 'bounce',
    localPart,
    raw: textBounce('I am away.', 'X-Autoreply: yes\n'),
  });
  assert.deepEqual(await runUntil(away), ['done', null]);
  const letter = await receive({ kind: 'bounce', localPart, raw: 'Subject: Hi\n\nHello.\n' });
  assert.deepEqual(await runUntil(letter), ['done', null]);
  assert.equal((await campaign.spool.email(emailId)).status, 'delivered');
  assert.match(await metrics(), /inbound_bounces_total\{result="auto-reply"\} 1/);
  assert.match(await metrics(), /inbound_bounces_total\{result="other"\} 1/);
});

test('a bounce with a sender is done with, and changes nothing', async () => {
  const to = newReader();
  const emailId = await deliver(to);
  const raw = POSTFIX.replaceAll('bob@rcpt.example', to);
  const id = await receive({ kind: 'bounce', localPart: returnPathOf(emailId), raw, sender: to });
  assert.deepEqual(await runUntil(id), ['done', null]);
  assert.equal((await campaign.spool.email(emailId)).status, 'delivered');
});

/** A bounce of a group, which is marked as an automatic reply. */
const GROUP = `From: Mail Delivery Subsystem <mailer-daemon@groups.example>
Subject: Delivery Status Notification (Failure)
Auto-Submitted: auto-replied
X-Failed-Recipients: team@groups.example
Content-Type: text/plain; charset=utf-8

Hello a@sender.example,

The group you tried to contact (team) may not exist.
`;

test('a bounce that is marked as an automatic reply is a bounce, and an automatic reply is none', async () => {
  const emailId = await deliver(newReader());
  const away = textBounce(
    'I am away. Your message could not be delivered to team@groups.example.',
    'Auto-Submitted: auto-replied\n',
  ).replace('From: postmaster@mx.example', 'From: Bob <bob@groups.example>');
  for (const [raw, status] of [
    [away, 'delivered'],
    [GROUP, 'bounced'],
  ] as const) {
    const id = await receive({ kind: 'bounce', localPart: returnPathOf(emailId), raw });
    assert.deepEqual(await runUntil(id), ['done', null]);
    assert.equal((await campaign.spool.email(emailId)).status, status);
  }
  const [{ diagnostic }] = (await campaign.spool.email(emailId)).recipients;
  assert.match(diagnostic, /may not exist/);
});

test('a bounce that is faster than the settlement of its attempt is tried again', async () => {
  const { spool } = campaign;
  const to = newReader();
  const emailId = await spool.accept([to]);
  await spool.claim('another run');
  const raw = POSTFIX.replaceAll('bob@rcpt.example', to);
  const id = await receive({ kind: 'bounce', localPart: returnPathOf(emailId), raw });
  assert.deepEqual(await runUntil(id), ['pending', 'The recipient is still in flight']);
  await recoverQueue(spool.app);
  await spool.clock.advance(10_000);
  await spool.deliverDue();
  await spool.clock.advance(MINUTE_MS);
  assert.deepEqual(await runUntil(id, 2), ['done', null]);
  assert.equal((await spool.email(emailId)).status, 'bounced');
});

const REPORT = `Content-Type: multipart/report; report-type=feedback-report; boundary=part

--part
Content-Type: message/feedback-report

Feedback-Type: abuse
User-Agent: Provider FBL/1.0

--part
Content-Type: text/rfc822-headers

Subject: Hi

--part--
`;

const authOf = (result: string, isAligned: boolean) =>
  JSON.stringify({ dkim: [{ result, domain: 'provider.example', isAligned }] });

test('a complaint counts only with a signature of its author that has passed', async () => {
  const emailId = await deliver(newReader());
  const key = returnAddressKeyOf(campaign.spool.app);
  const localPart = complaintLocalPart(key, { emailId, position: 0 });
  for (const auth of [
    null,
    '{"dkim":[]}',
    authOf('fail', true),
    authOf('temperror', true),
    authOf('pass', false),
  ]) {
    const id = await receive({ kind: 'complaint', localPart, raw: REPORT, auth });
    assert.deepEqual(await runUntil(id), ['done', null]);
    assert.equal((await campaign.spool.email(emailId)).status, 'delivered', `${auth}`);
  }
  const id = await receive({ kind: 'complaint', localPart, raw: REPORT, auth: authOf('pass', true) });
  assert.deepEqual(await runUntil(id), ['done', null]);
  assert.equal((await campaign.spool.email(emailId)).status, 'complained');
  assert.match(await metrics(), /inbound_complaints_total\{result="unsigned"\} 5/);
  assert.match(await metrics(), /inbound_complaints_total\{result="stored"\} 2/);
});

test('other mail to an address for complaints is dropped, and a message without its content has failed', async () => {
  const emailId = await deliver(newReader());
  const key = returnAddressKeyOf(campaign.spool.app);
  const localPart = complaintLocalPart(key, { emailId, position: 0 });
  const letter = { kind: 'complaint', localPart, raw: 'Subject: Stop\n\nPlease.\n' } as const;
  assert.deepEqual(await runUntil(await receive({ ...letter, auth: authOf('pass', true) })), ['done', null]);
  const id = await receive(letter);
  await kyselyOn(database)
    .updateTable('receivedMessages')
    .set({ blobId: null })
    .where('id', '=', id as `in_${string}`)
    .execute();
  assert.deepEqual(await runUntil(id), ['failed', 'The message was deleted']);
});

/** Sets the counts of a broadcast, as the outcomes of many other copies would. */
function setCounts(id: string, column: 'bouncedPermanently' | 'complained', count: number): void {
  const set = `UPDATE broadcastCounts SET sent = 500, ${column} = ? WHERE broadcastId = ?`;
  database.prepare(set).run(count, id);
}

for (const { kind, column, tolerated, reason } of [
  { kind: 'bounce', column: 'bouncedPermanently', tolerated: 25, reason: 'bounces' },
  { kind: 'complaint', column: 'complained', tolerated: 1, reason: 'complaints' },
] as const)
  test(`one ${kind} too many that arrives by mail pauses the broadcast of its copy`, async () => {
    const { spool, sink } = campaign;
    for (let contact = 0; contact < 3; contact++) await campaign.addContact(newReader());
    const id = await campaign.draft({ pace: { perHour: 60 } });
    assert.equal((await campaign.act(id, 'send')).status, 200);
    await campaign.work();
    await spool.deliverDue();
    const { mailFrom = '', messageId = '', recipients = [] } = sink.messages.at(-1) ?? {};
    const emailId = messageId.slice(1, messageId.indexOf('@'));
    setCounts(id, column, tolerated);
    await campaign.work();
    assert.equal((await campaign.show(id)).status, 'sending');

    const localPart =
      kind === 'bounce'
        ? mailFrom.slice(0, mailFrom.indexOf('@'))
        : complaintLocalPart(returnAddressKeyOf(spool.app), { emailId, position: 0 });
    const raw = kind === 'bounce' ? POSTFIX.replaceAll('bob@rcpt.example', recipients[0] ?? '') : REPORT;
    assert.deepEqual(await runUntil(await receive({ kind, localPart, raw, auth: authOf('pass', true) })), [
      'done',
      null,
    ]);
    await spool.clock.advance(MINUTE_MS);
    await campaign.work();
    const { status, pausedReason, counts } = await campaign.show(id);
    assert.deepEqual([status, pausedReason, counts.waiting > 0], ['paused', reason, true]);
    assert.equal((await spool.email(emailId)).status, kind === 'bounce' ? 'bounced' : 'complained');
  });
