/** A message that could not be sent on waits until its mailbox takes it back, however long that lasts. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { createNotificationKind } from '../../../src/mailbox-delivery/forward/notify.ts';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import { receivedSteps } from '../../../src/receiving/expire.ts';
import { PASS } from '../../inbound/mail-world.ts';
import { runDueTasks } from '../../support/tasks.ts';
import { makeNotificationsDue, openScriptWorld } from '../scripts/world.ts';

const DAY_MS = 86_400_000;
const world = await openScriptWorld();
const { app, clock, knobs, test: installation } = world;

let delivered: string[] = [];
let deliver: () => Promise<{ kind: 'delivered' } | { kind: 'waiting'; reason: string }>;
const kind = createNotificationKind({
  ...app,
  mailboxDelivery: {
    async deliver({ mailboxId, deliveryId }) {
      const result = await deliver();
      if (result.kind === 'delivered') delivered.push(`${mailboxId} ${deliveryId}`);
      return result;
    },
  },
});

beforeEach(() => {
  delivered = [];
  deliver = async () => ({ kind: 'waiting', reason: 'The mailbox is damaged' });
});

/** Receives a message, whose redirect then fails, and returns the mailbox and the id of the redirect. */
async function failRedirect() {
  const dmarc = { ...PASS.dmarc, result: 'none' } as typeof PASS.dmarc;
  knobs.result = { ...PASS, spf: { ...PASS.spf, result: 'none' }, dmarc };
  const mailbox = await world.add('redirect "bob@other.example";');
  await world.receive(mailbox.address);
  assert.equal(await world.run(), 1);
  const { messageId = assert.fail() } = (await world.queued()).at(-1) ?? {};
  const side = openWriting(join(installation.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare("UPDATE recipients SET state = 'bounced', dueAt = NULL WHERE messageId = ?").run(messageId);
  side.prepare("UPDATE messages SET status = 'bounced' WHERE id = ?").run(messageId);
  await makeNotificationsDue(side);
  side.close();
  return { mailbox, messageId };
}

const run = async () => (await runDueTasks(app, kind)).length;

async function expire(): Promise<void> {
  for (const step of receivedSteps(app)) await step.expire(clock.now(), { after: '', rows: 50 });
}

test('a mailbox that cannot take its message back gets it once it can, after more runs and days than anything else is tried', async () => {
  const { mailbox, messageId } = await failRedirect();
  for (let count = 0; count < 4; count++) {
    assert.equal(await run(), 1);
    assert.equal(await run(), 0, 'it waits');
    await clock.advance(300_000);
  }
  deliver = () => Promise.reject(new Error('The thread of the account has ended'));
  for (let count = 0; count < 4; count++) {
    assert.equal(await run(), 1);
    await clock.advance(300_000);
  }
  await clock.advance(60 * DAY_MS);
  await expire();
  deliver = async () => ({ kind: 'delivered' });
  assert.equal(await run(), 1);
  assert.deepEqual(delivered, [`${mailbox.id} ${messageId}/back`]);
  await expire();
  assert.deepEqual([await run(), (await world.queued()).length], [0, 0], 'then it expires');
});

test('the mailbox is known by its id, so that nobody else who has its address now gets the message', async () => {
  const { mailbox } = await failRedirect();
  await app.db.commit(endMailbox, { tenantId: mailbox.tenantId, id: mailbox.id, now: clock.now() });
  await world.add('keep;', { address: mailbox.address });
  deliver = async () => ({ kind: 'delivered' });
  assert.deepEqual([await run(), delivered], [1, []]);
});
