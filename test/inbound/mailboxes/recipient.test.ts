import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MailboxRow } from '../../../src/db/mailbox-tables.ts';
import { endDomain } from '../../../src/domains/store.ts';
import { decideRecipient } from '../../../src/inbound/recipient.ts';
import { endMailbox, recordDamage, recordUsage, updateMailbox } from '../../../src/mailboxes/store.ts';
import { SANDBOX } from '../../emails/fixtures.ts';
import { addMailbox } from '../../mailboxes/fixtures.ts';
import { openMailWorld, sendMail } from '../mail-world.ts';

const world = await openMailWorld();
const { app, test: world1 } = world;
const { tenantId } = world1;

/** Returns the kind and target of a recipient, or the code and status of its refusal. */
async function decide(address: string, sizeBytes?: number): Promise<string> {
  const decision = await decideRecipient(app, address, { sender: 'ann@sender.example', sizeBytes });
  if (decision.kind === 'refused') return `${decision.reply.code} ${decision.reply.status}`;
  return `${decision.recipient.kind} ${decision.recipient.targetId}`;
}

const change = (
  id: MailboxRow['id'],
  fields: Partial<Pick<MailboxRow, 'quotaBytes'>> & { status?: 'suspended' },
) => app.db.commit(updateMailbox, { tenantId, id, change: fields, now: app.clock.now() });

const UNKNOWN = '550 5.1.1';

test('a mailbox comes after the route of its address, and before the address without its tag', async () => {
  assert.equal(await decide('ann+lists@order.example'), UNKNOWN);
  const { id: ann } = await addMailbox(world1, { address: 'ann@order.example' });
  assert.equal(await decide('Ann@order.example'), `mailbox ${ann}`);
  assert.equal(await decide('ANN+Lists@Order.example'), `mailbox ${ann}`);
  assert.equal(await decide('+lists@order.example'), UNKNOWN);
  assert.equal(await decide('bob@order.example'), UNKNOWN);
  const { id: lists } = await addMailbox(world1, { address: 'ann+lists@order.example' });
  assert.equal(await decide('ann+lists@order.example'), `mailbox ${lists}`);
  const all = await world.addRoute('*@order.example');
  assert.equal(await decide('ann+work@order.example'), `mailbox ${ann}`);
  assert.equal(await decide('bob@order.example'), `post ${all}`);
  const route = await world.addRoute('ann@order.example');
  assert.equal(await decide('ann@order.example'), `post ${route}`);
  assert.equal(await decide('ann+lists@order.example'), `mailbox ${lists}`);
  const { id: postmaster } = await addMailbox(world1, { address: 'postmaster@order.example' });
  assert.equal(await decide('postmaster@order.example'), `mailbox ${postmaster}`);
});

test('a deleted mailbox takes no mail, and neither does one whose tenant does not receive it any more', async () => {
  const { id, domain } = await addMailbox(world1, { address: 'ann@gone.example' });
  const { id: other } = await addMailbox(world1, { address: 'bob@gone.example' });
  assert.equal(await decide('ann@gone.example'), `mailbox ${id}`);
  await app.db.commit(endMailbox, { tenantId, id, now: app.clock.now() });
  assert.equal(await decide('ann@gone.example'), UNKNOWN);
  assert.equal(await decide('bob@gone.example'), `mailbox ${other}`);
  const found = await app.db.read
    .selectFrom('domains')
    .select('id')
    .where('name', '=', domain)
    .executeTakeFirstOrThrow();
  await app.db.commit(endDomain, { id: found.id, tenantId, now: app.clock.now() });
  assert.equal(await decide('bob@gone.example'), UNKNOWN);
});

test('mailboxes of all tenants are found at the sandbox domain', async () => {
  const second = await world1.addTenant('second');
  const one = await addMailbox(world1, { address: `one@${SANDBOX}` });
  const two = await addMailbox({ ...world1, ...second }, { address: `two@${SANDBOX}` });
  assert.equal(await decide(`one@${SANDBOX}`), `mailbox ${one.id}`);
  assert.equal(await decide(`two+x@${SANDBOX}`), `mailbox ${two.id}`);
});

test('a suspended mailbox defers its mail, and a damaged one takes it', async () => {
  const { id } = await addMailbox(world1, { address: 'ann@status.example' });
  await change(id, { status: 'suspended' });
  assert.equal(await decide('ann@status.example'), '450 4.2.1');
  await app.db.commit(recordDamage, { id, now: app.clock.now() });
  assert.equal(await decide('ann@status.example'), `mailbox ${id}`);
});

test('a mailbox takes what fits into its quota, mail that waits for it included', async () => {
  const { id } = await addMailbox(world1, { address: 'ann@quota.example', quotaBytes: 1_000 });
  await app.db.commit(recordUsage, { id, usedBytes: 500, messageCount: 1, lastModseq: 1 });
  const accepted = `mailbox ${id}`;
  const full = '452 4.2.2';
  assert.equal(await decide('ann@quota.example', 500), accepted);
  assert.equal(await decide('ann@quota.example', 501), full);
  assert.equal(await decide('ann@quota.example'), accepted);
  const message = `Subject: Hello\r\n\r\n${'x'.repeat(380)}\r\n`;
  const client = await world.open();
  assert.match(await sendMail(client, { to: 'ann@quota.example', message }), /^250 /);
  assert.equal(await decide('ann@quota.example', 100), full);
  assert.equal(await decide('ann@quota.example', 90), accepted);
  assert.match(await sendMail(client, { to: 'ann@quota.example', message }), /^250 /);
  assert.equal(await decide('ann@quota.example'), full);
  assert.match(await sendMail(client, { to: 'ann@quota.example' }), /^452 4\.2\.2 .*the mailbox is full/);
  await change(id, { quotaBytes: 10_000 });
  assert.equal(await decide('ann@quota.example', 500), accepted);
});
