/** Mail of people that waits does not leave any more when its mailbox is suspended or deleted, and keeps no domain from being deleted. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { endMailbox, updateMailbox } from '../../src/mailboxes/store.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { MESSAGE, openSubmissionWorld, submit } from './submission-world.ts';

let dials = 0;
let onDial = async () => {};
const world = await openSubmissionWorld({
  system: {
    dial: async () => {
      dials++;
      await onDial();
      throw new Error('nobody answers');
    },
  },
});
const { app, clock, tenantId } = world;
world.addZone('receiver.example MX 10 mx.receiver.example\nmx.receiver.example A 192.0.2.9');

beforeEach(() => {
  dials = 0;
  onDial = async () => {};
});

const HOLD = ' HOLDFOR=600';
let mailboxes = 0;

/** Sends a message from a new mailbox. */
async function send(parameters: string, domain = 'people.example') {
  const mailbox = await addMailbox(world, { address: `writer${++mailboxes}@${domain}` });
  const client = await world.logIn(mailbox.address);
  const message = MESSAGE.replace('ann@people.example', mailbox.address);
  const reply = await submit(client, { from: mailbox.address, message, parameters });
  client.socket.destroy();
  const { id } = await world.queued(reply);
  return { id, mailbox };
}

const end = ({ id }: Pick<MailboxRow, 'id'>) => app.db.commit(endMailbox, { tenantId, id, now: clock.now() });

async function stateOf(id: string): Promise<unknown> {
  const [recipient] = await world.recipients(id);
  return [recipient?.state, recipient?.diagnostic];
}

test('mail that becomes due while its mailbox is suspended is canceled', async () => {
  const { id, mailbox } = await send(HOLD);
  await app.db.commit(updateMailbox, {
    ...{ tenantId, id: mailbox.id, now: clock.now() },
    change: { status: 'suspended' },
  });
  await clock.advance(601_000);
  await world.deliverDue();
  assert.deepEqual(await stateOf(id), ['canceled', 'The mailbox of the sender is suspended']);
  assert.equal(dials, 0);
});

test('the waiting mail of a mailbox is canceled with it', async () => {
  const { id, mailbox } = await send(HOLD);
  await end(mailbox);
  assert.deepEqual(await stateOf(id), ['canceled', 'The mailbox of the sender was deleted']);
});

test('mail that was on its way when its mailbox was deleted is not tried again', async () => {
  const { id, mailbox } = await send('');
  onDial = () => end(mailbox);
  await world.deliverDue();
  assert.deepEqual([dials, (await world.recipients(id))[0]?.state], [1, 'deferred']);
  await clock.advance(3_600_000);
  await world.deliverDue();
  assert.deepEqual(await stateOf(id), ['canceled', 'The mailbox of the sender was deleted']);
  assert.equal(dials, 1);
});

test('held mail does not keep a domain from being deleted, and fails at its time', async () => {
  const { id } = await send(HOLD, 'closing.example');
  const { body } = await world.request('GET', '/v1/domains?name=closing.example', { key: world.liveKey });
  const ended = await world.request('DELETE', `/v1/domains/${body.data[0].id}`, { key: world.liveKey });
  assert.equal(ended.status, 204);
  await clock.advance(601_000);
  await world.deliverDue();
  const [recipient] = await world.recipients(id);
  assert.deepEqual([recipient?.state, recipient?.enhancedCode, dials], ['bounced', '5.7.1', 0]);
});

test('held mail of a mailbox leaves at its time', async () => {
  await send(HOLD);
  await clock.advance(601_000);
  await world.deliverDue();
  assert.equal(dials, 1);
});

test('mail is held for 30 days at most', async () => {
  const client = await world.logIn();
  assert.match(await submit(client, { parameters: ` HOLDFOR=${30 * 86_400 + 1}` }), /^501 5\.5\.4/);
});
