/** Mail that is held does not leave any more once the password with which it was handed in was replaced or revoked. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { deleteAppPassword } from '../../src/mailboxes/app-passwords/store.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { MESSAGE, openSubmissionWorld, PASSWORD, submit } from './submission-world.ts';

const world = await openSubmissionWorld({
  system: { dial: () => Promise.reject(new Error('nobody answers')) },
});
const { app, clock, tenantId } = world;
world.addZone('receiver.example MX 10 mx.receiver.example\nmx.receiver.example A 192.0.2.9');

const HOLD = ' HOLDFOR=600';
const WITHDRAWN = 'The password with which the message was handed in is not valid any more';
let mailboxes = 0;

const add = (fields: Partial<MailboxRow> = {}) =>
  addMailbox(world, { address: `writer${++mailboxes}@people.example`, ...fields });

/** Sends a message, by default with the password of the mailbox, and returns its id. */
async function send({ address }: MailboxRow, { parameters = HOLD, password = PASSWORD } = {}) {
  const client = await world.logIn(address, password);
  const message = MESSAGE.replace('ann@people.example', address);
  const reply = await submit(client, { from: address, message, parameters });
  client.socket.destroy();
  return (await world.queued(reply)).id;
}

function change({ id }: MailboxRow, fields: Parameters<typeof updateMailbox.run>[1]['change']) {
  return app.db.commit(updateMailbox, { tenantId, id, now: clock.now(), change: fields });
}

async function stateOf(id: string): Promise<unknown> {
  const [recipient] = await world.recipients(id);
  return recipient?.attempts === 0 ? [recipient.state, recipient.diagnostic] : [recipient?.state, 'tried'];
}

test('a new password cancels what was held with the one before, and nothing else', async () => {
  const mailbox = await add();
  const { secret } = await addAppPassword(world, mailbox);
  const held = await send(mailbox);
  const byPhone = await send(mailbox, { password: secret });
  const underWay = await send(mailbox, { parameters: '' });
  await change(mailbox, { displayName: 'Ann' });
  assert.deepEqual(await stateOf(held), ['ready', null]);
  await change(mailbox, { passwordHash: 'another' });
  assert.deepEqual(await stateOf(held), ['canceled', WITHDRAWN]);
  assert.deepEqual(await stateOf(byPhone), ['ready', null]);
  const since = await send({ ...mailbox, passwordHash: 'another' });
  await clock.advance(601_000);
  await world.deliverDue();
  for (const id of [byPhone, underWay, since]) assert.deepEqual(await stateOf(id), ['deferred', 'tried']);
});

test('a mailbox that takes only app passwords sends nothing that was held with its password', async () => {
  const mailbox = await add();
  const held = await send(mailbox);
  await change(mailbox, { passwordLogin: 0 });
  assert.deepEqual(await stateOf(held), ['canceled', WITHDRAWN]);
});

test('a revoked app password cancels what was held with it, and nothing else', async () => {
  const mailbox = await add();
  const [phone, tablet] = [await addAppPassword(world, mailbox), await addAppPassword(world, mailbox)];
  const revoked = await send(mailbox, { password: phone.secret });
  const others = [await send(mailbox, { password: tablet.secret }), await send(mailbox)];
  const named = { tenantId, mailboxId: mailbox.id, id: phone.row.id, now: clock.now() };
  await app.db.commit(deleteAppPassword, named);
  assert.deepEqual(await stateOf(revoked), ['canceled', WITHDRAWN]);
  for (const other of others) assert.deepEqual(await stateOf(other), ['ready', null]);
});

test('held mail of a shared mailbox is canceled when its writer is no longer a member, or is suspended', async () => {
  const [first, second] = [await add(), await add()];
  const shared = await add({ kind: 'shared' });
  await change(shared, { members: [first.address, second.address] });
  const ofFirst = await addAppPassword(world, shared, { memberId: first.id });
  const ofSecond = await addAppPassword(world, shared, { memberId: second.id });
  const held = [
    await send(shared, { password: ofFirst.secret }),
    await send(shared, { password: ofSecond.secret }),
  ] as const;
  await change(shared, { members: [second.address] });
  assert.deepEqual(await stateOf(held[0]), ['canceled', WITHDRAWN]);
  await change(second, { status: 'suspended' });
  await clock.advance(601_000);
  await world.deliverDue();
  assert.deepEqual(await stateOf(held[1]), ['canceled', WITHDRAWN]);
});

test('held mail that the change of the password has not canceled is canceled at its time', async () => {
  const mailbox = await add();
  const id = await send(mailbox);
  const side = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare("UPDATE mailboxes SET passwordHash = 'another' WHERE id = ?").run(mailbox.id);
  side.close();
  await clock.advance(601_000);
  await world.deliverDue();
  assert.deepEqual(await stateOf(id), ['canceled', WITHDRAWN]);
});
