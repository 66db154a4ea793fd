import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import type { DeliveryRequest, DeliveryResult } from '../../src/accounts/delivery.ts';
import { DamagedBlobError } from '../../src/blobs/damaged.ts';
import { createMailboxKind } from '../../src/mailbox-delivery/work.ts';
import { endMailbox, updateMailbox } from '../../src/mailboxes/store.ts';
import { createLocalReceiver } from '../../src/receiving/local.ts';
import { AppError } from '../../src/system/errors.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { openMailWorld, PASS, sendMail } from '../inbound/mail-world.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { runDueTasks } from '../support/tasks.ts';
import { waitUntil } from '../support/wait-until.ts';

const world = await openMailWorld();
const { app } = world;
const delivered: DeliveryRequest[] = [];
const DELIVERED = async (): Promise<DeliveryResult> => ({ kind: 'delivered' });
let answer = DELIVERED;
const kind = createMailboxKind({
  ...app,
  scriptRunner: { run: () => assert.fail() },
  mailboxDelivery: {
    listTargets: () => assert.fail(),
    readAnnotations: () => assert.fail(),
    deliver: (request) => {
      delivered.push(request);
      return answer();
    },
  },
});
afterEach(() => {
  delivered.length = 0;
  answer = DELIVERED;
  world.knobs.result = PASS;
});

/** Runs the tasks that are due, and returns how many there were. */
async function run(): Promise<number> {
  await world.clock.advance(100);
  return (await runDueTasks(app, kind)).length;
}

async function lastTask() {
  return (await world.tasks()).at(-1) ?? assert.fail();
}

test('each mailbox gets the message once, below the fields that were added for it', async () => {
  const { id: ann } = await addMailbox(world.test, { address: 'ann@people.example' });
  const { id: bob } = await addMailbox(world.test, { address: 'bob@people.example' });
  const to = ['Ann+lists@people.example', 'ann@people.example', 'bob@people.example'];
  assert.match(await sendMail(await world.open(), { to }), /^250 /);
  assert.equal(await run(), 2);
  const [message] = await world.messages();
  assert.deepEqual(delivered.map(({ mailboxId }) => mailboxId).sort(), [ann, bob].sort());
  assert.equal(new Set(delivered.map(({ deliveryId }) => deliveryId)).size, 2);
  for (const { content, isJunk, receivedAt, deliveryId } of delivered) {
    assert.equal(content.bytes && Buffer.from(content.bytes).toString(), 'Subject: Hello\r\n\r\nHi\r\n\r\n');
    assert.equal(content.sizeBytes, 24);
    assert.equal(isJunk, false);
    assert.equal(receivedAt, message?.createdAt);
    assert.match(deliveryId, new RegExp(`^${message?.id}/`));
  }
  const prefix = delivered.find(({ mailboxId }) => mailboxId === bob)?.prefix ?? '';
  const fields = prefix.match(/^[\w-]+(?=:)/gm);
  assert.deepEqual(fields, ['Return-Path', 'Delivered-To', 'Authentication-Results', 'Received']);
  assert.match(prefix, /^Delivered-To: bob@people\.example\r$/m);
  assert.doesNotMatch(prefix, /ann@people/);
  assert.equal(await run(), 0);
  assert.notEqual((await world.messages()).at(-1)?.endedAt, null);
});

test('a large message is delivered as a file', async () => {
  await addMailbox(world.test, { address: 'large@people.example' });
  const message = `Subject: Hello\r\n\r\n${'0123456789\r\n'.repeat(30_000)}`;
  assert.match(await sendMail(await world.open(), { to: 'large@people.example', message }), /^250 /);
  assert.equal(await run(), 1);
  const { content } = delivered[0] ?? assert.fail();
  assert.ok(content.file?.path.endsWith(content.file.sha256));
  assert.equal(content.sizeBytes, message.length + 2);
});

test('flagged mail goes to the folder for spam', async () => {
  await addMailbox(world.test, { address: 'spam@people.example' });
  world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, result: 'fail', policy: 'quarantine' } };
  assert.match(await sendMail(await world.open(), { to: 'spam@people.example' }), /^250 /);
  assert.equal(await run(), 1);
  assert.equal(delivered[0]?.isJunk, true);
});

test('mail waits for a mailbox that cannot take it, for as long as that lasts, and is then delivered', async () => {
  await addMailbox(world.test, { address: 'wait@people.example' });
  await sendMail(await world.open(), { to: 'wait@people.example' });
  let runs = 0;
  answer = async () => {
    runs += 1;
    if (runs % 3 === 0) throw new AppError('unavailable', 'busy');
    // Errors that nobody has thought of use up no attempts either.
    if (runs % 3 === 1) throw new Error('EACCES: permission denied');
    return { kind: 'waiting', reason: 'damaged' };
  };
  const from = app.clock.now();
  const lines = world.lines.length;
  for (let day = 0; day < 3 * 96; day++) {
    await run();
    await world.clock.advance(15 * 60_000);
  }
  assert.ok(runs >= 2 * 96 && runs <= 3 * 96, `${runs} runs in three days`);
  const { state, attempts, createdAt } = await lastTask();
  assert.deepEqual([state, attempts], ['pending', 0]);
  assert.ok(createdAt <= from);
  const warned = world.lines.slice(lines).filter(({ msg }) => String(msg).includes('cannot take mail'));
  assert.ok(warned.length >= 10 && warned.length <= 73, `${warned.length} lines in three days`);
  answer = DELIVERED;
  assert.equal(await run(), 1);
  assert.equal((await lastTask()).state, 'done');
  assert.equal(new Set(delivered.map(({ deliveryId }) => deliveryId)).size, 1);
});

test('bytes that cannot be read now make mail wait, and bytes that have changed are given up at last', async () => {
  await addMailbox(world.test, { address: 'bytes@people.example' });
  await sendMail(await world.open(), { to: 'bytes@people.example' });
  const { blobs } = app;
  const unmounted = { ...blobs, open: () => Promise.reject(new AppError('unavailable', 'not mounted')) };
  const waiting = createMailboxKind({
    ...app,
    blobs: unmounted,
    scriptRunner: { run: () => assert.fail() },
    mailboxDelivery: {
      deliver: DELIVERED,
      listTargets: () => assert.fail(),
      readAnnotations: () => assert.fail(),
    },
  });
  await world.clock.advance(100);
  await runDueTasks(app, waiting);
  assert.deepEqual([(await lastTask()).state, (await lastTask()).attempts], ['pending', 0]);
  answer = async () => {
    throw new DamagedBlobError('/blobs/aa', 'the file holds other bytes');
  };
  for (let attempt = 0; attempt < 10; attempt++) {
    await world.clock.advance(12 * 3_600_000);
    await run();
  }
  assert.equal((await lastTask()).state, 'failed');
});

test('a damaged mailbox delays no other one of its tenant', async () => {
  const { id: damaged } = await addMailbox(world.test, { address: 'damaged@people.example' });
  const { id: well } = await addMailbox(world.test, { address: 'well@people.example' });
  const client = await world.open();
  for (let index = 0; index < 40; index++) await sendMail(client, { to: 'damaged@people.example' });
  await world.clock.advance(1);
  await sendMail(client, { to: 'well@people.example' });
  const repair = Promise.withResolvers<DeliveryResult>();
  answer = () => (delivered.at(-1)?.mailboxId === damaged ? repair.promise : DELIVERED());
  const running = startTasks(app, [kind]);
  await waitUntil(async () => {
    await world.clock.advance(0);
    return delivered.some(({ mailboxId }) => mailboxId === well);
  }, 'the other mailbox has its mail');
  repair.resolve({ kind: 'waiting', reason: 'damaged' });
  await running.stop(1_000);
});

test('mail for a mailbox that was deleted after it was accepted is given up', async () => {
  const { tenantId } = world.test;
  const { id } = await addMailbox(world.test, { address: 'deleted@people.example' });
  assert.match(await sendMail(await world.open(), { to: 'deleted@people.example' }), /^250 /);
  await app.db.commit(endMailbox, { tenantId, id, now: app.clock.now() });
  await run();
  const { state, error } = (await world.tasks()).find(({ targetId }) => targetId === id) ?? assert.fail();
  assert.deepEqual([state, error], ['failed', 'The mailbox was deleted']);
});

test('mail that this installation sends reaches a mailbox without a connection, and a suspended one defers it', async () => {
  const { tenantId } = world.test;
  const { id } = await addMailbox(world.test, { address: 'local@people.example' });
  const message = 'From: news@people.example\r\nSubject: Local\r\n\r\n';
  const hand = async () => {
    const answers = await createLocalReceiver(app)({
      origin: { kind: 'tenant' },
      sender: 'b+x@bounce.mx.postrider.example',
      recipients: ['local+news@people.example'],
      requireTls: false,
      dsn: { message: null, recipients: [] },
      utf8: false,
      sizeBytes: message.length,
      isEightBit: false,
      async *bytes() {
        yield Buffer.from(message);
      },
    });
    return answers.map(({ phase, code, status }) => `${phase} ${code} ${status}`);
  };
  assert.deepEqual(await hand(), ['dot 250 2.0.0']);
  await run();
  const own = delivered.find(({ mailboxId }) => mailboxId === id);
  assert.match(own?.prefix ?? '', /^Delivered-To: local@people\.example\r$/m);
  await app.db.commit(updateMailbox, { tenantId, id, change: { status: 'suspended' }, now: app.clock.now() });
  assert.deepEqual(await hand(), ['rcpt 450 4.2.1']);
});
