/** The facts about a sender are answered from memory, and a change of them takes effect once its write was answered. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { findReceiver } from '../../src/domains/receiving/store.ts';
import { endDomain } from '../../src/domains/store.ts';
import { type Credential, markOf, OWN_PASSWORD } from '../../src/mailboxes/credential.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import { createKnownSenders } from '../../src/submission/submission-app.ts';
import { addDomain } from '../domains/fixtures.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { addAppPassword, addMailbox } from '../mailboxes/fixtures.ts';
import { openCountedReads } from '../support/counted-reads.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
const { app, tenantId } = world;
const counted = openCountedReads(world);
after(async () => {
  counted.close();
  await world.close();
});

const senders = createKnownSenders({ ...app, db: { ...app.db, read: counted.read } });

/** Asks twice, the second time from memory, and returns the answer. */
async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  const answer = await question();
  const before = counted.queries;
  assert.deepEqual(await question(), answer);
  assert.equal(counted.queries, before, 'the answer was read again');
  return answer;
}

let mailboxes = 0;
const add = (fields: Parameters<typeof addMailbox>[1] = {}) =>
  addMailbox(world, { address: `s${++mailboxes}@known.example`, ...fields });

function change({ id }: MailboxRow, fields: Parameters<typeof updateMailbox.run>[1]['change']) {
  return app.db.commit(updateMailbox, { tenantId, id, now: clock.now(), change: fields });
}

/** Returns the question whether a login stands. */
function login(mailbox: MailboxRow, credential: Credential = OWN_PASSWORD) {
  const mark = markOf({ mailbox, credential });
  return () => senders.findLoginEnd(mailbox, mark);
}

test('a login ends with its password, and while its mailbox is suspended', async () => {
  const mailbox = await add();
  const standing = login(mailbox);
  assert.equal(await ask(standing), undefined);
  await change(mailbox, { displayName: 'Ann' });
  assert.equal(await ask(standing), undefined);
  await change(mailbox, { status: 'suspended' });
  assert.equal(await ask(standing), 'suspended');
  await change(mailbox, { status: 'active', passwordLogin: 0 });
  assert.equal(await ask(standing), 'credentials');
  await change(mailbox, { passwordLogin: 1 });
  assert.equal(await ask(standing), undefined);
  await change(mailbox, { passwordHash: 'another' });
  assert.equal(await ask(standing), 'credentials');
});

test('a login to a shared mailbox ends with the membership', async () => {
  const member = await add({ address: 'member@elsewhere.example' });
  const shared = await add({ kind: 'shared', passwordLogin: 0 });
  await change(shared, { members: [member.address] });
  const { row } = await addAppPassword(world, shared, { memberId: member.id });
  const standing = login(shared, { kind: 'app-password', row });
  assert.equal(await standing(), undefined);
  await change(member, { status: 'suspended' });
  assert.equal(await standing(), 'credentials');
  await change(member, { status: 'active' });
  assert.equal(await standing(), undefined);
  assert.equal(await senders.mayUseAddress(member, shared.address), true);
  await change(shared, { members: [] });
  assert.equal(await standing(), 'credentials');
  assert.equal(await senders.mayUseAddress(member, shared.address), false);
});

test('a login ends also after its mailbox has moved to another domain', async () => {
  const address = 'moved@moving.example';
  const mailbox = await add({ address });
  const standing = login(mailbox);
  assert.equal(await ask(standing), undefined);
  const { id } = (await findReceiver(app.db.read, mailbox.domain, clock.now())) ?? assert.fail();
  await app.db.commit(endDomain, { tenantId, id, now: clock.now() });
  const receiver = await world.addTenant('receiver');
  await addMailbox({ app, tenantId: receiver.tenantId }, { address });
  assert.equal(await standing(), undefined);
  await change(mailbox, { passwordHash: 'another' });
  assert.equal(await standing(), 'credentials');
});

test('an address is used by its owner alone, and as long as it has it', async () => {
  const alias = 'role@elsewhere.example';
  const mailbox = await add({ aliases: [alias] });
  const other = await add();
  const may = (one: MailboxRow) => ask(() => senders.mayUseAddress(one, `${alias.replace('@', '+x@')}`));
  assert.deepEqual([await may(mailbox), await senders.mayUseAddress(other, alias)], [true, false]);
  await change(mailbox, { aliases: { aliases: [], sandbox: SANDBOX } });
  assert.equal(await may(mailbox), false);
  await change(other, {
    aliases: { aliases: [{ address: alias, domain: 'elsewhere.example' }], sandbox: SANDBOX },
  });
  assert.equal(await may(other), true);
});

test('a domain sends until it is deleted or has failed', async () => {
  const { id } = await addDomain(world, { name: 'sends.example', status: 'verified' });
  const get = () => ask(() => senders.getDomainId(tenantId, 'sends.example'));
  assert.equal(await get(), id);
  const other = await world.addTenant('other');
  await assert.rejects(senders.getDomainId(other.tenantId, 'sends.example'), /is not one of yours/);
  await app.db.commit(endDomain, { tenantId, id, now: clock.now() });
  await assert.rejects(get(), /is not one of yours/);
});
