import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { accountFolder } from '../../src/accounts/folder.ts';
import { MAX_ALIASES_OF_TENANT } from '../../src/mailboxes/addresses/requirements.ts';
import { withItsAliases } from '../../src/mailboxes/addresses/store.ts';
import { mayUseAddress } from '../../src/mailboxes/sender-addresses.ts';
import {
  endMailbox,
  findMailboxByAddress,
  findMailboxById,
  recordDamage,
  recordLogin,
  recordRestoration,
  recordUsage,
  updateMailbox,
} from '../../src/mailboxes/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const world = await openTestApp();
after(() => world.close());
const { db } = world.app;

test('a mailbox is found by its address and by its id, whatever its tenant', async () => {
  const mailbox = await addMailbox(world, { address: 'find@people.example' });
  assert.deepEqual(await findMailboxByAddress(db.read, 'find@people.example'), mailbox);
  assert.deepEqual(await findMailboxById(db.read, mailbox.id), mailbox);
  assert.equal(await findMailboxByAddress(db.read, 'FIND@people.example'), undefined);
  assert.equal(accountFolder('/data', mailbox.id), join('/data', 'mailboxes', mailbox.id));
});

test('usage, logins and damage are recorded, and only damage is a change of the mailbox', async () => {
  const { id, ...before } = await addMailbox(world, { address: 'used@people.example' });
  await db.commit(recordUsage, { id, usedBytes: 5_000, messageCount: 2, lastModseq: 9 });
  await db.commit(recordLogin, { id, now: 1_000 });
  const used = { id, ...before, usedBytes: 5_000, messageCount: 2, lastModseq: 9, lastLoginAt: 1_000 };
  assert.deepEqual(await findMailboxById(db.read, id), used);
  await db.commit(recordUsage, { id, usedBytes: 5_000, messageCount: 2, lastModseq: 8 });
  assert.equal((await findMailboxById(db.read, id))?.lastModseq, 9);
  await db.commit(recordDamage, { id, now: 2_000 });
  assert.deepEqual(await findMailboxById(db.read, id), { ...used, status: 'damaged', updatedAt: 2_000 });
});

test('after a restoration each mailbox that has a database counts as an older copy', async () => {
  const { id: fresh } = await addMailbox(world, { address: 'fresh@people.example' });
  const { id: used } = await addMailbox(world, { address: 'restored@people.example' });
  const { id: early } = await addMailbox(world, { address: 'early@people.example' });
  await db.commit(recordUsage, { id: used, usedBytes: 0, messageCount: 0, lastModseq: 9 });
  await db.commit(recordUsage, { id: early, usedBytes: 5, messageCount: 1, lastModseq: 0 });
  assert.ok((await db.commit(recordRestoration, null)) >= 2);
  const lastModseqs = [];
  for (const id of [fresh, used, early]) lastModseqs.push((await findMailboxById(db.read, id))?.lastModseq);
  assert.deepEqual(lastModseqs, [0, 1_000_000_009, 1_000_000_000]);
});

test('in the sandbox, no address of a mailbox is one of a route of another tenant, with a tag or without one', async () => {
  const other = await world.addTenant('other');
  const taken = { address: `taken@${SANDBOX}`, aliases: [`role@${SANDBOX}`] };
  await addMailbox(world, taken);
  const destination = 'https://shop.example/';
  const route = (key: string, address: string) =>
    world.request('POST', '/v1/inbound/routes', { key, body: { address, destination } });
  for (const name of ['taken', 'taken+x', 'role', 'role+x+y']) {
    const refused = await route(other.testKey, `${name}@${SANDBOX}`);
    assert.deepEqual([refused.status, refused.body.error.type], [409, 'already_exists'], name);
    assert.equal((await route(world.testKey, `${name}@${SANDBOX}`)).status, 201, name);
  }
  for (const name of ['routed', 'tagged+x', 'taggedlonger'])
    assert.equal((await route(world.testKey, `${name}@${SANDBOX}`)).status, 201);
  for (const name of ['routed', 'tagged']) {
    const address = `${name}@${SANDBOX}`;
    const theirs = { ...world, ...other };
    await assert.rejects(addMailbox(theirs, { address }), /is taken already/, name);
    const withAlias = { address: `free@${SANDBOX}`, aliases: [address] };
    await assert.rejects(addMailbox(theirs, withAlias), { options: { param: 'aliases' } }, name);
    await addMailbox(world, { address });
  }
});

test('an address is that of one mailbox, as its own or as an alias, whatever the tenant', async () => {
  const first = await addMailbox(world, {
    address: 'first@unique.example',
    aliases: ['role@unique.example'],
  });
  const make = (address: string, ...aliases: string[]) => addMailbox(world, { address, aliases });
  const taken = (param: string) => ({
    code: 'already_exists',
    options: { param, details: { id: first.id } },
  });
  await assert.rejects(make('role@unique.example'), taken('address'));
  for (const alias of ['first@unique.example', 'role@unique.example'])
    await assert.rejects(make('second@unique.example', alias), taken('aliases'));
  await assert.rejects(make('self@unique.example', 'self@unique.example'), { code: 'already_exists' });
  assert.equal(await findMailboxByAddress(db.read, 'second@unique.example'), undefined);
  assert.equal(await findMailboxByAddress(db.read, 'role@unique.example'), undefined);
  await db.commit(endMailbox, { tenantId: world.tenantId, id: first.id, now: 1_000 });
  await make('role@unique.example', 'first@unique.example');
});

test('who has lost a domain keeps the mail of its mailboxes, and their addresses until the new owner uses them', async () => {
  await addDomain(world, {
    name: 'sold.example',
    status: 'verified',
    productType: 'mailbox',
    verifiedSince: -1,
  });
  const mine = await addMailbox(world, {
    address: 'ann@sold.example',
    aliases: ['*@sold.example', 'role@sold.example', 'kept@sold.example'],
  });
  const bob = await addMailbox(world, { address: 'bob@sold.example' });
  const theirs = { ...world, ...(await world.addTenant('new owner')) };
  await assert.rejects(addMailbox(theirs, { address: 'ann@sold.example' }), { code: 'domain_in_use' });
  const { body } = await world.request('GET', '/v1/domains?limit=100', { key: world.liveKey });
  const { id } = body.data.find(({ name }: { name: string }) => name === 'sold.example');
  await world.request('DELETE', `/v1/domains/${id}`, { key: world.liveKey });

  const ann = await addMailbox(theirs, { address: 'ann@sold.example', aliases: ['*@sold.example'] });
  const moved = await findMailboxById(db.read, mine.id);
  assert.deepEqual([moved?.address, moved?.domain], [`${mine.id}@${SANDBOX}`, SANDBOX]);
  assert.equal((await findMailboxByAddress(db.read, 'ann@sold.example'))?.id, ann.id);
  await addMailbox(theirs, { address: 'role@sold.example' });
  const aliases = ['*', 'bob'].map((name) => ({ address: `${name}@sold.example`, domain: 'sold.example' }));
  const change = { aliases: { aliases, sandbox: SANDBOX } };
  await db.commit(updateMailbox, { tenantId: theirs.tenantId, id: ann.id, change, now: 2_000 });
  assert.equal((await findMailboxById(db.read, bob.id))?.address, `${bob.id}@${SANDBOX}`);
  assert.deepEqual((await withItsAliases(db.read, mine)).aliases, ['kept@sold.example']);
  assert.deepEqual((await withItsAliases(db.read, ann)).aliases, ['*@sold.example', 'bob@sold.example']);
});

test('no tenant takes an address at the sandbox from another', async () => {
  const address = `own@${SANDBOX}`;
  await addMailbox(world, { address });
  const theirs = { ...world, ...(await world.addTenant('thief')) };
  await assert.rejects(addMailbox(theirs, { address }), { code: 'already_exists' });
  await assert.rejects(addMailbox(theirs, { address: `thief@${SANDBOX}`, aliases: [address] }), {
    code: 'already_exists',
  });
});

test('the mailboxes of a tenant have a maximum number of aliases together', async () => {
  const many = await world.addTenant('many');
  const theirs = { ...world, ...many };
  const { id } = await addMailbox(theirs, { address: `many@${SANDBOX}` });
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)';
  const rows = "SELECT i || '@many.example', 'many.example', ?, ? FROM n";
  database
    .prepare(`INSERT INTO mailboxAliases ${numbers} ${rows}`)
    .run(MAX_ALIASES_OF_TENANT, id, many.tenantId);
  database.close();
  const alias = (name: string) =>
    addMailbox(theirs, { address: `${name}@${SANDBOX}`, aliases: [`a${name}@${SANDBOX}`] });
  await alias('last');
  await assert.rejects(alias('more'), /your mailboxes have 10000 aliases/);
  await addMailbox(world, { address: `others@${SANDBOX}`, aliases: [`aothers@${SANDBOX}`] });
});

test('the owner of a mailbox may write from its address and its aliases, with tags, and from nothing else', async () => {
  const aliases = ['role@write.example', 'ann@other.example', 'änn@write.example', '*@write.example'];
  const ann = await addMailbox(world, { address: 'ann@write.example', aliases });
  const bob = await addMailbox(world, { address: 'bob@write.example' });
  const may = (address: string) => mayUseAddress(world.app.db.read, ann, address);
  for (const address of [
    'Ann@Write.example',
    'ann+news@write.example',
    'role@write.example',
    'ROLE+x@write.example',
    'A\u0308NN+x@write.example',
  ])
    assert.equal(await may(address), true, address);
  assert.equal(await may('ann@other.example'), true);
  for (const address of [
    ...[
      'bob@write.example',
      'bob+x@write.example',
      'anybody@write.example',
      '*@write.example',
      '*+x@write.example',
    ],
    ...['"ann+x"@write.example', '+ann@write.example', 'role@other.example', 'ann', ''],
  ])
    assert.equal(await may(address), false, address);
  assert.equal(await mayUseAddress(world.app.db.read, bob, 'bob+x@write.example'), true);
});
