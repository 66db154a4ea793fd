/** Senders are told when their mail was forwarded and could not be delivered, unless that would reach somebody else. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { readReturnedMail } from '../../../src/mail/dsn/read.ts';
import { createNotificationKind } from '../../../src/mailbox-delivery/forward/notify.ts';
import { provenSenderOf, senderRewritingOf } from '../../../src/mailbox-delivery/forward/proven-sender.ts';
import { createForwardKind } from '../../../src/mailbox-delivery/forward/work.ts';
import { ADDRESS_RATE } from '../../../src/mailbox-delivery/sender-limits.ts';
import { findMessage, listRecipients } from '../../../src/queue/store.ts';
import { startDelivering } from '../../../src/queue/worker.ts';
import { receivedSteps } from '../../../src/receiving/expire.ts';
import { createLocalReceiver } from '../../../src/receiving/local.ts';
import { startTasks } from '../../../src/tasks/engine.ts';
import type { TaskKind } from '../../../src/tasks/kind.ts';
import { openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { deliveryAppOf } from '../../support/spool.ts';
import { leaseTasksOf, releaseTasksOf, runDueTasks } from '../../support/tasks.ts';
import { waitUntil, waitUntilInTime } from '../../support/wait-until.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const HOST = 'mx.postrider.example';
const TO = `postmaster@${HOST}`;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The operator's server takes no mail, or it is this one. Nobody can be reached at the addresses of senders. */
const NO_MAIL = 'operator.example MX 0 .';
const LOOP = `operator.example MX 10 ${HOST}`;
const MESSAGE = 'From: Ann <ann@sender.example>\r\nSubject: Help\r\n\r\nThe secret body\r\n';

const dns = zoneDns(NO_MAIL);
const world = await openMailWorld({
  env: { POSTRIDER_INBOUND_POSTMASTER: 'private@operator.example' },
  system: { dns, dial: () => Promise.reject(new Error('nothing is dialled')) },
});
const { app, clock, knobs } = world;
const delivering = startDelivering(app, createLocalReceiver(app));
after(() => delivering.stop(1_000));
const queued = () => app.db.read.selectFrom('messages').selectAll().orderBy('id').execute();
const waiting = () => app.db.read.selectFrom('failureNotifications').selectAll().execute();

beforeEach(async () => {
  knobs.result = PASS;
  knobs.crashPoint = () => {};
  dns.setZone(NO_MAIL);
  dns.heal('operator.example');
  // What was told to one address lies behind.
  await clock.advance(DAY_MS);
});

/** Runs what is due, and returns how many tasks that were. */
async function run(kind: TaskKind): Promise<number> {
  await clock.advance(100);
  return (await runDueTasks(app, kind)).length;
}

/** Receives a message for the postmaster, forwards it, and waits until the next server has refused it. */
async function fail(mail: Partial<Parameters<typeof sendMail>[1]> = {}): Promise<void> {
  assert.match(await sendMail(await world.open(), { to: TO, message: MESSAGE, ...mail }), /^250 /);
  await clock.advance(100);
  assert.equal((await runDueTasks(app, createForwardKind(app))).length, 1);
  const { id } = (await queued()).at(-1) ?? assert.fail();
  await waitUntilInTime(
    [clock],
    async () => {
      return (await listRecipients(app.db.read, id)).every(({ state }) => state === 'bounced');
    },
    'the forward failed',
  );
}

/** Sends what is due, and returns the notifications that were queued. */
async function notify(kind = createNotificationKind(app)) {
  const { length } = await queued();
  await run(kind);
  return Promise.all((await queued()).slice(length).map(({ id }) => rawOf(id)));
}

async function rawOf(id: string) {
  const message = (await findMessage(app.db.read, id)) ?? assert.fail();
  const recipients = await listRecipients(app.db.read, id);
  const { signature, content, returnPath } = await deliveryAppOf(app).prepare({ message, recipients });
  const pieces: Uint8Array[] = [Buffer.from(signature, 'latin1')];
  if (content.inline) pieces.push(content.inline);
  else for await (const piece of content.chunks()) pieces.push(piece);
  return { message, to: recipients.map(({ address }) => address), returnPath, raw: Buffer.concat(pieces) };
}

test('the sender is told once, with the address that it wrote to and the header alone', async () => {
  await world.addDomain('shop.example');
  await fail({ to: 'Abuse@shop.example' });
  const [told, ...more] = await notify();
  assert.ok(told && more.length === 0);
  assert.deepEqual([told.to, told.returnPath, told.message.requireTls], [['ann@sender.example'], '', 0]);
  const text = told.raw.toString('latin1');
  assert.match(text, /^DKIM-Signature: /);
  assert.match(text, /\r\nAuto-Submitted: auto-replied\r\n/);
  assert.match(text, /\r\nSubject: Help\r\n/);
  assert.doesNotMatch(text, /secret body|operator\.example/);
  const read = readReturnedMail(told.raw);
  assert.ok(read.kind === 'bounce');
  assert.deepEqual(
    read.notices.map(({ action, status, finalRecipient }) => [action, status, finalRecipient]),
    [['failed', '5.1.10', 'Abuse@shop.example']],
  );
  assert.deepEqual([await notify(), await waiting()], [[], []]);
});

test('the sender is told once that its mail is delayed, after four hours, and later of its failure', async () => {
  dns.fail('operator.example', 'ESERVFAIL');
  assert.match(await sendMail(await world.open(), { to: TO, message: MESSAGE }), /^250 /);
  await clock.advance(100);
  assert.equal((await runDueTasks(app, createForwardKind(app))).length, 1);
  const { id, expiresAt } = (await queued()).at(-1) ?? assert.fail();
  const recipient = async () => (await listRecipients(app.db.read, id))[0] ?? assert.fail();
  /** Waits for so long, and until the forward was tried once more after it. */
  const tryAfter = async (delayMs: number, state: 'deferred' | 'bounced' = 'deferred') => {
    const { attempts } = await recipient();
    await clock.advance(delayMs);
    const isTried = async () => {
      const now = await recipient();
      return now.state === state && now.attempts > attempts;
    };
    await waitUntilInTime([clock], isTried, 'the forward is tried');
  };
  await tryAfter(0);
  await tryAfter(HOUR_MS);
  assert.deepEqual(await notify(), [], 'nobody is told of a short delay');
  const reports: Awaited<ReturnType<typeof notify>> = [];
  // Tries that were due earlier may be made late, and the next try that finds the delay long enough is an hour away.
  const isTold = async () => {
    await clock.advance(HOUR_MS / 2);
    return reports.push(...(await notify())) > 0;
  };
  await waitUntil(isTold, 'the sender is told of the delay');
  const [told, ...more] = reports;
  assert.ok(told && more.length === 0);
  assert.deepEqual([told.to, told.returnPath], [['ann@sender.example'], '']);
  const read = readReturnedMail(told.raw);
  assert.ok(read.kind === 'bounce');
  const [notice] = read.notices;
  assert.deepEqual([notice?.action, notice?.status, notice?.finalRecipient], ['delayed', '4.4.7', TO]);
  assert.equal(Math.floor((notice?.willRetryUntil ?? 0) / 1_000), Math.floor(expiresAt / 1_000));
  await tryAfter(5 * HOUR_MS);
  assert.deepEqual(await notify(), [], 'it is told once');
  dns.heal('operator.example');
  await tryAfter(5 * HOUR_MS, 'bounced');
  const [failed] = await notify();
  assert.match(failed?.raw.toString() ?? '', /\r\nAction: failed\r\n/);
});

test('a sender in UTF-8 is told with mail that needs SMTPUTF8, and a message in ASCII goes on to every server', async () => {
  const from = 'jörg@sender.example';
  await fail({ from, message: 'From: ann@sender.example\r\nSubject: Help\r\n\r\nHi\r\n' });
  const [forwarded] = (await queued()).slice(-1);
  assert.match(forwarded?.returnPath ?? '', /^r\+[0-9a-z]{54}@bounce\./);
  assert.equal(forwarded?.utf8, 0, 'nothing in it is UTF-8');
  const [told] = await notify();
  assert.deepEqual([told?.to, told?.message.utf8], [[from], 1]);
  assert.match(told?.raw.toString() ?? '', /\r\nTo: jörg@sender\.example\r\n/);
});

test('mailauth verifies the signature of a notification', async () => {
  await fail();
  const [{ raw } = assert.fail()] = await notify();
  const { publicKey } = await app.db.read
    .selectFrom('installationKeys')
    .selectAll()
    .executeTakeFirstOrThrow();
  const resolver = async () => [[`v=DKIM1; k=rsa; p=${publicKey}`]];
  const { results } = await dkimVerify(raw, { resolver, curTime: new Date(clock.now()) } as never);
  assert.deepEqual(
    results.map(({ signingDomain, status }) => [signingDomain, status?.result]),
    [[HOST, 'pass']],
  );
});

test('nobody is told of the failure of a notification', async () => {
  await fail();
  dns.setZone(`${NO_MAIL}\nsender.example MX 0 .`);
  const [told] = await notify();
  const id = told?.message.id ?? assert.fail();
  await waitUntilInTime(
    [clock],
    async () => {
      return (await listRecipients(app.db.read, id)).every(({ state }) => state === 'bounced');
    },
    'the notification failed',
  );
  assert.deepEqual(await notify(), []);
});

test('only a sender that SPF or DMARC has proven is told, and no program', async () => {
  const spf = { ...PASS.spf, result: 'fail' } as const;
  const dmarc = { ...PASS.dmarc, result: 'none' } as const;
  for (const result of [
    { ...PASS, spf, dmarc },
    { ...PASS, spf: { ...PASS.spf, domain: 'other.example' }, dmarc },
    { ...PASS, spf, dmarc: { ...PASS.dmarc, domain: 'other.example' } },
  ]) {
    knobs.result = result;
    await fail();
    assert.deepEqual([await waiting(), await notify()], [[], []]);
  }
  for (const result of [
    { ...PASS, dmarc },
    { ...PASS, spf, dmarc: { ...PASS.dmarc, domain: 'mail.sender.example' } },
  ]) {
    knobs.result = result;
    await fail();
    assert.equal((await notify()).length, 1);
  }
});

test('nobody is told about bounces and other mail of programs', async () => {
  for (const value of ['auto-replied', 'AUTO-GENERATED; x=y', 'no-reply', ''])
    await fail({ message: `Auto-Submitted: ${value}\r\n${MESSAGE}` });
  await fail({ from: '' });
  await fail({ from: '"a=?b"@sender.example' });
  assert.deepEqual([await waiting(), await notify()], [[], []]);
  await fail({ message: `Auto-Submitted: No (a person)\r\n${MESSAGE}` });
  assert.equal((await notify()).length, 1);
});

test('the sender is told what it asks for: nothing of a failure, or the whole message with its own names', async () => {
  for (const rcpt of ['NOTIFY=NEVER', 'NOTIFY=SUCCESS,DELAY']) {
    await fail({ dsn: { rcpt } });
    assert.deepEqual([await notify(), await waiting()], [[], []], rcpt);
  }
  const original = 'ORCPT=rfc822;Post+2Bmaster@old.example';
  await fail({ dsn: { mail: 'RET=FULL ENVID=QQ+3D1', rcpt: `NOTIFY=FAILURE ${original}` } });
  const [told] = await notify();
  const text = told?.raw.toString() ?? '';
  assert.match(text, /\r\nOriginal-Envelope-Id: QQ=1\r\n/);
  assert.match(text, /\r\nOriginal-Recipient: rfc822;Post\+master@old\.example\r\n/);
  assert.match(text, /The secret body/);
  await fail({ message: `Auto-Submitted: auto-generated\r\n${MESSAGE}`, dsn: { rcpt: 'NOTIFY=FAILURE' } });
  assert.equal((await notify()).length, 1, 'a program that asks is told');
});

test('a loop is logged, and so is what would be too many for one address', async () => {
  dns.setZone(LOOP);
  await fail();
  world.lines.length = 0;
  const kind = createNotificationKind(app);
  assert.deepEqual(await notify(kind), []);
  dns.setZone(NO_MAIL);
  let told = 0;
  for (let count = 0; count <= ADDRESS_RATE.burst; count++) {
    await fail({ from: count % 2 === 0 ? 'ann@sender.example' : 'ANN@sender.example' });
    told += (await notify(kind)).length;
  }
  assert.equal(told, ADDRESS_RATE.burst);
  await fail({ from: 'bob@sender.example' });
  assert.equal((await notify(kind)).length, 1, 'others are told still');
  const results = world.lines.flatMap(({ msg, ['result']: result }) =>
    msg === 'a sender was not told of a failure' ? [result] : [],
  );
  assert.deepEqual([results, await waiting()], [['loop', 'limited'], []]);
});

test('a domain has a limit of its own', async () => {
  const kind = createNotificationKind(app, { domainRate: { burst: 1, tokensPerSecond: 0 } });
  const told: number[] = [];
  for (const from of ['ann@sender.example', 'bob@sender.example']) {
    await fail({ from });
    told.push((await notify(kind)).length);
  }
  assert.deepEqual(told, [1, 0]);
});

test('a run that was interrupted is repeated, and a run that comes too late queues nothing', async () => {
  await fail();
  await clock.advance(100);
  const kind = createNotificationKind(app);
  const [interrupted] = await leaseTasksOf(app, { kind: kind.name });
  assert.ok(interrupted);
  assert.equal(await run(kind), 0, 'it is leased');
  assert.equal(await releaseTasksOf(app, kind.name), 1);
  assert.equal((await notify()).length, 1);
  const { length } = await queued();
  await kind.run(interrupted);
  assert.equal((await queued()).length, length);
});

test('a notification whose runs fail is given up', async () => {
  await fail();
  let runs = 0;
  const open = app.blobs.open.bind(app.blobs);
  app.blobs.open = async () => {
    runs += 1;
    throw new Error('a damaged file');
  };
  const running = startTasks(app, [createNotificationKind(app)]);
  for (let count = 1; count <= 5; count++) {
    await waitUntilInTime([clock], () => runs === count, `run ${count}`);
    await clock.advance(600_000);
  }
  const isOver = async () => (await waiting()).length === 0;
  await waitUntilInTime([clock], isOver, 'it is given up');
  app.blobs.open = open;
  await Promise.all([running.stop(0), clock.advance(0)]);
  assert.deepEqual([runs, await notify()], [5, []]);
});

test('who would be told is forgotten with the message', async () => {
  await fail();
  const { id } = (await queued()).at(-1) ?? assert.fail();
  await clock.advance(8 * DAY_MS);
  const step = receivedSteps(app).find(({ kind }) => kind === 'forwarded') ?? assert.fail();
  while ((await step.expire(clock.now(), { after: '', rows: 50 })).deleted > 0);
  assert.deepEqual([await waiting(), (await queued()).some((row) => row.id === id)], [[], false]);
});

test('mail that was forwarded here twice is told to the sender before, and mail of this machine to its return path', async () => {
  const local = senderRewritingOf(app).rewrite('ann@sender.example', clock.now());
  const rewritten = `${local}@bounce.${HOST}`;
  const auth = JSON.stringify(PASS);
  const find = (received: Partial<Parameters<typeof provenSenderOf>[1]>) =>
    provenSenderOf(
      app,
      { sender: rewritten, remoteAddress: '', auth, ...received },
      { fields: [], hasAsked: false },
    );
  assert.equal(await find({}), 'ann@sender.example');
  assert.equal(await find({ remoteAddress: '192.0.2.1' }), undefined, 'a stranger names the sender');
  const returnPath = `b+0@bounce.${HOST}`;
  assert.equal(await find({ sender: returnPath, auth: null }), returnPath);
  const handedOver = { sender: 'ann@sender.example', auth: null, remoteAddress: '127.0.0.1' };
  assert.equal(await find(handedOver), undefined, 'another server of this machine has proven nobody');
});
