/** Writers are told in their INBOX what becomes of their messages: once, and with as much of them as they have asked for. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { DeliveryRequest, DeliveryResult } from '../../../src/accounts/delivery.ts';
import { recordUsage } from '../../../src/mailboxes/store.ts';
import { createReportKind } from '../../../src/submission/reports/work.ts';
import { AppError } from '../../../src/system/errors.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { leaseTasksOf, releaseTasksOf, runDueTasks } from '../../support/tasks.ts';
import { openSubmissionWorld, submit } from '../submission-world.ts';

const MINUTE_MS = 60_000;
const world = await openSubmissionWorld({
  system: { dial: () => Promise.reject(new Error('nothing is dialled')) },
});
const { app, clock } = world;
world.addZone('nomail.example MX 0 .\nslow.example MX 10 mx.slow.example\nmx.slow.example A 192.0.2.9');

const delivered: DeliveryRequest[] = [];
let onDelivery: () => Promise<void> | void = () => {};
let answer: DeliveryResult = { kind: 'delivered' };
const createKind = (db = app.db) =>
  createReportKind({
    ...app,
    db,
    mailboxDelivery: {
      deliver: async (request) => {
        delivered.push(request);
        await onDelivery();
        return answer;
      },
    },
  });
let kind = createKind();

beforeEach(() => {
  delivered.length = 0;
  onDelivery = () => {};
  answer = { kind: 'delivered' };
});

/** Runs what is due until nothing is. */
async function run(): Promise<void> {
  while ((await runDueTasks(app, kind)).length > 0);
}

function textOf({ content }: DeliveryRequest): string {
  return Buffer.from(content.bytes ?? []).toString();
}

/** Returns a text with its octets in quoted-printable (RFC 2045 section 6.7) decoded. */
function quotedPrintableIn(text: string): string {
  const octets = text
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(octets, 'latin1').toString();
}

async function send(to: string, parameters = '', fields = '', mailParameters = ''): Promise<string> {
  const client = await world.logIn();
  for (const command of [
    `MAIL FROM:<ann@people.example>${mailParameters}`,
    `RCPT TO:<${to}>${parameters}`,
    'DATA',
  ])
    assert.match(await client.ask(`${command}\r\n`), /^[23]/);
  const reply = await client.ask(
    `From: ann@people.example\r\nSubject: Secret plan\r\n${fields}\r\nThe secret body\r\n.\r\n`,
  );
  client.socket.destroy();
  return (await world.queued(reply)).id;
}

const exists = async (id: string) =>
  (await app.db.read.selectFrom('messages').select('id').where('id', '=', id).execute()).length > 0;

test('a failure is reported once, and the message is deleted then', async () => {
  const id = await send('bob@nomail.example', ' ORCPT=rfc822;first+2Bbob@old.example');
  await world.deliverDue();
  await run();
  const [report, ...more] = delivered;
  assert.ok(report);
  assert.equal(more.length, 0);
  assert.equal(report.mailboxId, world.ann.id);
  assert.equal(report.deliveryId, `${id}/report-1`);
  const text = textOf(report);
  assert.match(
    text,
    /^Date: .*\r\nFrom: Mail server <postmaster@mx\.postrider\.example>\r\nTo: ann@people\.example/,
  );
  assert.match(text, /Action: failed\r\nStatus: 5\.1\.10\r\n/);
  assert.match(text, /Original-Recipient: rfc822;first\+bob@old\.example\r\n/);
  assert.match(text, /Subject: Secret plan/);
  assert.doesNotMatch(text, /The secret body/);
  assert.equal(await exists(id), false);
  assert.deepEqual(
    await app.db.read.selectFrom('events').select('type').where('emailId', '=', id).execute(),
    [],
  );
  assert.deepEqual(await app.db.read.selectFrom('submittedMessages').selectAll().execute(), []);
  assert.deepEqual(await app.db.read.selectFrom('attempts').selectAll().execute(), []);
  assert.deepEqual(await app.db.read.selectFrom('unsentMail').selectAll().execute(), []);
  assert.deepEqual(
    await app.db.read.selectFrom('recipients').select('id').where('messageId', '=', id).execute(),
    [],
  );
  const suppressed = await world.request('GET', '/v1/suppressions', { key: world.liveKey });
  assert.deepEqual(suppressed.body.data, []);
});

test('a writer and a recipient with addresses in UTF-8 are named in a report', async () => {
  const { scramSalt, scramVerifier } = world.ann;
  await addMailbox(world, { address: 'zoë@people.example', scramSalt, scramVerifier });
  const client = await world.logIn('zoë@people.example');
  const from = 'zoë@people.example';
  const message = `From: ${from}\r\nSubject: Grüße\r\n\r\nHi\r\n`;
  const to = 'büb@nomail.example';
  const recipientParameters = ' ORCPT=utf-8;b\\x{FC}@old.example';
  assert.match(
    await submit(client, { from, to, message, parameters: ' SMTPUTF8', recipientParameters }),
    /^250/,
  );
  client.socket.destroy();
  await world.deliverDue();
  await run();
  const [report] = delivered;
  assert.ok(report);
  assert.equal(report.prefix, `Return-Path: <>\r\nDelivered-To: ${from}\r\n`);
  const text = textOf(report);
  assert.match(text, /\r\nTo: zoë@people\.example\r\n/);
  assert.match(text, /\r\nContent-Type: message\/global-delivery-status\r\n/);
  const decoded = quotedPrintableIn(text);
  assert.match(decoded, /\r\nOriginal-Recipient: utf-8;bü@old\.example\r\n/);
  assert.match(decoded, /\r\nFinal-Recipient: utf-8; büb@nomail\.example\r\n/);
  assert.match(text, /\r\nContent-Type: message\/global-headers\r\n/);
});

test('a report that a mailbox cannot take waits, and keeps its id', async () => {
  const id = await send('bob@nomail.example');
  await world.deliverDue();
  answer = { kind: 'waiting', reason: 'the mailbox is damaged' };
  await run();
  answer = { kind: 'delivered' };
  onDelivery = () => {
    throw new Error('database or disk is full');
  };
  await clock.advance(MINUTE_MS);
  await run();
  onDelivery = () => {};
  await clock.advance(MINUTE_MS);
  await run();
  const deliveryIds = delivered.map(({ deliveryId }) => deliveryId);
  assert.deepEqual(deliveryIds, [`${id}/report-1`, `${id}/report-1`, `${id}/report-1`]);
  assert.equal(await exists(id), false);
});

test('a crash after the delivery of a report delivers it again under its id', async () => {
  const id = await send('bob@nomail.example');
  await world.deliverDue();
  assert.equal((await runDueTasks(app, kind)).length, 1, 'the report is planned');
  const [task] = await leaseTasksOf(app, { kind: kind.name });
  assert.ok(task);
  await new Promise<void>((resolve) => {
    onDelivery = () => {
      resolve();
      return new Promise(() => {});
    };
    void kind.run(task);
  });
  onDelivery = () => {};
  assert.equal(await releaseTasksOf(app, kind.name), 1);
  await run();
  const [first, again, ...more] = delivered;
  assert.deepEqual(
    [first?.deliveryId, again?.deliveryId, more.length],
    [`${id}/report-1`, `${id}/report-1`, 0],
  );
  assert.equal(await exists(id), false);
});

test('a message about which all was told is deleted once there is room for the write', async () => {
  const id = await send('bob@nomail.example');
  await world.deliverDue();
  let isFull = true;
  const commit: typeof app.db.commit = (write, ...rest) => {
    if (write.name !== 'queue.endSubmitted' || !isFull) return app.db.commit(write, ...rest);
    isFull = false;
    return Promise.reject(new AppError('unavailable', 'The disk is full'));
  };
  kind = createKind({ ...app.db, commit });
  let isOver = false;
  const running = run().finally(() => {
    isOver = true;
  });
  while (!isOver) await clock.advance(100);
  await running;
  kind = createKind();
  assert.equal(await exists(id), false);
});

test('delays are reported after half an hour, four hours and a day', async () => {
  await send('bob@slow.example');
  const counts: number[] = [];
  for (const minutes of [29, 1, 209, 1, 1_199, 1, 600]) {
    await world.deliverDue();
    await clock.advance(minutes * MINUTE_MS);
    await run();
    counts.push(delivered.length);
  }
  assert.deepEqual(counts, [0, 1, 1, 2, 2, 3, 3]);
  assert.match(
    textOf(delivered[0] ?? assert.fail()),
    /Action: delayed\r\nStatus: 4\.\d+\.\d+\r\n(?:.*\r\n)*Will-Retry-Until: /,
  );
  await clock.advance(1_000 * MINUTE_MS);
  await world.deliverDue();
  await run();
  assert.match(textOf(delivered.at(-1) ?? assert.fail()), /Action: failed\r\nStatus: 5\.4\.7\r\n/);
});

test('the writer chooses what is reported', async () => {
  await send('bob@nomail.example', ' NOTIFY=NEVER');
  await world.deliverDue();
  await run();
  assert.equal(delivered.length, 0);
  const id = await send('delivered@simulator.mx.postrider.example', ' NOTIFY=SUCCESS');
  await world.deliverDue();
  await run();
  assert.match(textOf(delivered[0] ?? assert.fail()), /Action: delivered\r\nStatus: 2\.0\.0\r\n/);
  assert.equal(await exists(id), false);
});

test('a report returns at most 16 KiB of the header, in whole lines', async () => {
  const field = `X-Filler: ${'and so on '.repeat(4)}.\r\n`;
  await send('bob@nomail.example', '', field.repeat(900));
  await world.deliverDue();
  await run();
  const text = textOf(delivered[0] ?? assert.fail());
  assert.ok(text.length > 16_384 && text.length < 20_000, String(text.length));
  assert.match(text, /Subject: Secret plan/);
  assert.ok(!text.replaceAll(field, '').includes('X-Filler'));
});

test('a full mailbox is told of failures alone', async () => {
  const usage = { id: world.ann.id, messageCount: 1, lastModseq: 1 };
  await app.db.commit(recordUsage, { ...usage, usedBytes: world.ann.quotaBytes });
  await send('delivered@simulator.mx.postrider.example', ' NOTIFY=SUCCESS');
  await send('bob@nomail.example', '', '', ' RET=FULL');
  await world.deliverDue();
  await run();
  assert.doesNotMatch(textOf(delivered[0] ?? assert.fail()), /The secret body/);
  assert.deepEqual(
    delivered.map((one) => /^Action: .*/m.exec(textOf(one))?.[0]?.trim()),
    ['Action: failed'],
  );
  await app.db.commit(recordUsage, { ...usage, usedBytes: 0 });
});

test('RET=FULL returns the whole message with a failure, and never that of a message with REQUIRETLS', async () => {
  for (const [parameters, isWhole] of [
    [' RET=FULL ENVID=QQ+2B1', true],
    [' RET=HDRS', false],
    [' RET=FULL REQUIRETLS', false],
  ] as const) {
    delivered.length = 0;
    await send('bob@nomail.example', '', '', parameters);
    await world.deliverDue();
    await run();
    const text = textOf(delivered[0] ?? assert.fail());
    assert.match(text, /Action: failed\r\n/);
    assert.equal(text.includes('The secret body'), isWhole, parameters);
    assert.equal(text.includes('Content-Type: message/rfc822\r\n'), isWhole);
    assert.equal(text.includes('Original-Envelope-Id: QQ+1\r\n'), isWhole);
  }
  delivered.length = 0;
  await send('delivered@simulator.mx.postrider.example', ' NOTIFY=SUCCESS', '', ' RET=FULL');
  await world.deliverDue();
  await run();
  assert.doesNotMatch(textOf(delivered[0] ?? assert.fail()), /The secret body/);
});
