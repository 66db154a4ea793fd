/** The mailboxes of a tenant have a limit together, and no mailbox gets a new one by being made anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endMailbox } from '../../../src/mailboxes/store.ts';
import type { TestClient } from '../../mail/smtp/server/fixture.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { openSubmissionWorld, type SubmissionWorld, submit } from '../submission-world.ts';

const HOUR_MS = 3_600_000;
const LIMITS = {
  POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY: '3',
  POSTRIDER_SUBMISSION_RECIPIENTS_PER_DAY_OF_TENANT: '5',
};

let recipients = 0;

/** Sends a message to so many new recipients, and returns the last reply. */
async function send(world: SubmissionWorld, from: string, count: number): Promise<string> {
  const client = await world.logIn(from);
  const to = Array.from({ length: count }, () => `r${++recipients}@receiver.example`);
  const reply = await submit(client, { from, to, message: `From: ${from}\r\n\r\nHi\r\n` });
  client.socket.destroy();
  return reply;
}

test('the mailboxes of a tenant have a limit together, for 24 hours', async () => {
  const world = await openSubmissionWorld({ env: LIMITS });
  const { address: first } = world.ann;
  const { address: second } = await addMailbox(world, { address: 'bea@people.example' });
  assert.match(await send(world, first, 3), /^250 /);
  assert.match(await send(world, second, 3), /^451 4\.7\.0 .*your tenant may write to 5 recipients/);
  assert.match(await send(world, second, 2), /^250 /);
  assert.match(await send(world, second, 1), /^451 4\.7\.0 .*your tenant/);
  // Other tenants have limits of their own.
  const other = await world.addTenant('other');
  const { address: third } = await addMailbox(
    { app: world.app, tenantId: other.tenantId },
    { address: 'cid@others.example' },
  );
  assert.match(await send(world, third, 1), /^250 /);
  await world.clock.advance(25 * HOUR_MS);
  assert.match(await send(world, second, 3), /^250 /);
});

test('a mailbox that is made anew has used up what its address has', async () => {
  const world = await openSubmissionWorld({ env: LIMITS });
  const { app, tenantId, ann, clock } = world;
  assert.match(await send(world, ann.address, 3), /^250 /);
  await app.db.commit(endMailbox, { tenantId, id: ann.id, now: clock.now() });
  await addMailbox(world, { address: ann.address });
  assert.match(
    await send(world, ann.address, 1),
    /^451 4\.7\.0 .*The mailbox may write to 3 recipients a day/,
  );
});

test('the write that accepts a message compares the limit of the tenant again', async () => {
  const world = await openSubmissionWorld({ env: LIMITS });
  const addresses = ['one', 'two', 'three'].map((name) => `${name}@people.example`);
  for (const address of addresses) await addMailbox(world, { address });
  const clients: TestClient[] = [];
  for (const address of addresses) clients.push(await world.logIn(address));
  // All recipients are accepted before the first message is.
  for (const [index, client] of clients.entries()) {
    await client.ask(`MAIL FROM:<${addresses[index]}>\r\n`);
    for (const name of ['a', 'b'])
      assert.match(await client.ask(`RCPT TO:<${name}@receiver.example>\r\n`), /^250 /);
  }
  const replies: string[] = [];
  for (const [index, client] of clients.entries()) {
    await client.ask('DATA\r\n');
    replies.push(await client.ask(`From: ${addresses[index]}\r\n\r\nHi\r\n.\r\n`));
  }
  assert.deepEqual(
    replies.map((reply) => reply.slice(0, 3)),
    ['250', '250', '451'],
  );
});
