import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { MailboxRow } from '../../src/db/mailbox-tables.ts';
import { endDomain } from '../../src/domains/store.ts';
import { createDirectory } from '../../src/mailbox-delivery/directory.ts';
import type { WantedAliases } from '../../src/mailboxes/addresses/requirements.ts';
import { endMailbox, recordDamage, recordUsage, updateMailbox } from '../../src/mailboxes/store.ts';
import { decideRecipient } from '../../src/receiving/recipient.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { openMailWorld, sendMail } from '../inbound/mail-world.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';

const world = await openMailWorld();
const { app, test: world1 } = world;
const { tenantId } = world1;

/** Returns the kinds and targets of a recipient, or the code and status of its refusal. */
async function decide(address: string, sizeBytes?: number): Promise<string> {
  const decision = await decideRecipient(app, address, { sender: 'ann@sender.example', sizeBytes });
  if (decision.kind === 'refused') return `${decision.reply.code} ${decision.reply.status}`;
  return decision.recipient.targets.map(({ kind, targetId }) => `${kind} ${targetId}`).join(' and ');
}

type Change = Partial<Pick<MailboxRow, 'quotaBytes'>> & { status?: 'suspended'; aliases?: WantedAliases };
const change = (id: MailboxRow['id'], fields: Change) =>
  app.db.commit(updateMailbox, { tenantId, id, change: fields, now: app.clock.now() });

const UNKNOWN = '550 5.1.1';

test('a mailbox and an exact route both get the mail, then come the catch-all mailbox and the route *@', async () => {
  assert.equal(await decide('ann+lists@order.example'), UNKNOWN);
  const ann = `mailbox ${(await addMailbox(world1, { address: 'ann@order.example', aliases: ['role@order.example'] })).id}`;
  for (const address of [
    'Ann@order.example',
    'ANN+Lists@Order.example',
    'ROLE@order.example',
    'role+x@order.example',
  ])
    assert.equal(await decide(address), ann, address);
  for (const address of ['+lists@order.example', 'bob@order.example'])
    assert.equal(await decide(address), UNKNOWN, address);

  const all = `post ${await world.addRoute('*@order.example')}`;
  assert.equal(await decide('ann+work@order.example'), ann);
  assert.equal(await decide('bob@order.example'), all);
  const { id } = await addMailbox(world1, { address: 'rest@else.example', aliases: ['*@order.example'] });
  assert.equal(await decide('bob@order.example'), `mailbox ${id}`);
  assert.equal(await decide('postmaster@order.example'), `mailbox ${id}`);
  assert.equal(await decide('bob@else.example'), UNKNOWN);

  const route = `post ${await world.addRoute('ann@order.example')}`;
  assert.equal(await decide('ann@order.example'), `${ann} and ${route}`);
  assert.equal(await decide('ann+lists@order.example'), `${ann} and ${route}`);
  const lists = `post ${await world.addRoute('ann+lists@order.example')}`;
  assert.equal(await decide('ann+lists@order.example'), `${ann} and ${lists}`);
  assert.equal(await decide('role@order.example'), ann);
  const bob = `post ${await world.addRoute('bob@order.example')}`;
  assert.equal(await decide('bob+x@order.example'), bob);
});

test('the whole local part comes before the one without its tag', async () => {
  const { id: short } = await addMailbox(world1, { address: 'eve@tag.example' });
  // The API makes no such addresses.
  const { id: long } = await addMailbox(world1, { address: 'eve+own@tag.example' });
  assert.equal(await decide('eve+own@tag.example'), `mailbox ${long}`);
  assert.equal(await decide('eve+own+x@tag.example'), `mailbox ${short}`);
  assert.equal(await decide('"eve+own"@tag.example'), UNKNOWN);
});

test('an alias that is taken away, or given to another mailbox, is noticed at the next recipient', async () => {
  const one = await addMailbox(world1, { address: 'one@moved.example', aliases: ['role@moved.example'] });
  const two = await addMailbox(world1, { address: 'two@moved.example' });
  assert.equal(await decide('role@moved.example'), `mailbox ${one.id}`);
  const give = (id: MailboxRow['id'], ...names: string[]) =>
    change(id, {
      aliases: { aliases: names.map((address) => ({ address, domain: 'moved.example' })), sandbox: SANDBOX },
    });
  await give(one.id);
  assert.equal(await decide('role@moved.example'), UNKNOWN);
  await give(two.id, 'role@moved.example');
  assert.equal(await decide('role@moved.example'), `mailbox ${two.id}`);
  await app.db.commit(endMailbox, { tenantId, id: two.id, now: app.clock.now() });
  assert.equal(await decide('role@moved.example'), UNKNOWN);
});

test('mail to a mailbox and a route waits for both when the mailbox is full or suspended', async () => {
  const address = 'ann@both.example';
  const { id } = await addMailbox(world1, { address, quotaBytes: 1_000 });
  const both = `mailbox ${id} and post ${await world.addRoute(address)}`;
  assert.equal(await decide(address, 1_000), both);
  assert.equal(await decide(address, 1_001), '452 4.2.2');
  await change(id, { status: 'suspended' });
  assert.equal(await decide(address), '450 4.2.1');
});

test('one message makes one task for each mailbox and route, whatever addresses it has of them', async () => {
  const address = 'ann@once.example';
  const { id } = await addMailbox(world1, { address, aliases: ['role@once.example', '*@once.example'] });
  const route = await world.addRoute(address);
  const to = [address, 'role@once.example', 'ann+x@once.example', 'anybody@once.example'];
  assert.match(await sendMail(await world.open(), { to }), /^250 /);
  const message = (await world.messages()).at(-1);
  const ofMessage = ({ messageId }: { messageId: string }) => messageId === message?.id;
  const tasks = (await world.tasks()).filter(ofMessage);
  assert.deepEqual(
    tasks.map(({ kind, targetId, position }) => [kind, targetId, position]),
    [
      ['mailbox', id, 0],
      ['post', route, 1],
    ],
  );
  const rows = (await world.recipients()).filter(ofMessage);
  assert.deepEqual(
    rows.map((row) => `${row.position} ${row.address} ${row.kind}`),
    [
      '0 ann@once.example mailbox',
      '1 ann@once.example post',
      '2 role@once.example mailbox',
      '3 ann+x@once.example mailbox',
      '4 ann+x@once.example post',
      '5 anybody@once.example mailbox',
    ],
  );
  // The API shows the recipients that the route has. The others are people.
  const ofRoute = [address, 'ann+x@once.example'];
  const { body } = await world1.request('GET', '/v1/inbound/messages?limit=1', { key: world1.liveKey });
  assert.deepEqual(body.data[0].to, ofRoute);
  const shown = await world1.request('GET', `/v1/inbound/messages/${message?.id}`, { key: world1.liveKey });
  assert.deepEqual(shown.body.envelope.to, ofRoute);
  const event = await app.db.read
    .selectFrom('events')
    .select('data')
    .where('type', '=', 'email.received')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  assert.deepEqual(JSON.parse(event.data).recipients, ofRoute);
});

test('mail for a mailbox alone is no event and no message of the API, and its recipients are hidden beside those of a route', async () => {
  const { address } = await addMailbox(world1, { address: 'ann@quiet.example' });
  const events = async () => {
    const rows = await app.db.read
      .selectFrom('events')
      .select('id')
      .where('type', '=', 'email.received')
      .execute();
    return rows.length;
  };
  const before = await events();
  assert.match(await sendMail(await world.open(), { to: [address] }), /^250 /);
  const alone = (await world.messages()).at(-1) ?? assert.fail();
  assert.equal(alone.isForRoute, 0);
  assert.equal(await events(), before);
  const get = async (path: string) =>
    (await world1.request('GET', `/v1/inbound/messages${path}`, { key: world1.liveKey })) as {
      status: number;
      body: { data: { id: string; to: string[] }[] };
    };
  assert.equal((await get(`/${alone.id}/raw`)).status, 404);
  assert.ok((await get('?limit=100')).body.data.every(({ id }) => id !== alone.id));
  await world.addRoute('sales@quiet.example');
  assert.match(await sendMail(await world.open(), { to: [address, 'sales@quiet.example'] }), /^250 /);
  assert.equal(await events(), before + 1);
  assert.deepEqual((await get('?limit=1')).body.data[0]?.to, ['sales@quiet.example']);
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
  const second = await world1.addTenant('next receiver');
  await world.addDomain(domain, second.tenantId);
  assert.equal(await decide('bob@gone.example'), `mailbox ${other}`);
  await app.db.commit(endDomain, { id: found.id, tenantId, now: app.clock.now() });
  assert.equal(await decide('bob@gone.example'), UNKNOWN);
  const theirs = await world.addRoute('bob@gone.example', { key: second.liveKey });
  assert.equal(await decide('bob@gone.example'), `post ${theirs}`);
});

test('mailboxes of all tenants are found at the sandbox domain', async () => {
  const second = await world1.addTenant('second');
  const one = await addMailbox(world1, { address: `one@${SANDBOX}` });
  const two = await addMailbox({ ...world1, ...second }, { address: `two@${SANDBOX}` });
  assert.equal(await decide(`one@${SANDBOX}`), `mailbox ${one.id}`);
  assert.equal(await decide(`two+x@${SANDBOX}`), `mailbox ${two.id}`);

  // Earlier versions let another tenant have such a route, which must not get the mail of a mailbox.
  const foreign = await world.addRoute(`three+x@${SANDBOX}`);
  const database = new Sqlite(join(world1.dataDir, 'postrider.db'));
  database.prepare('UPDATE inboundRoutes SET tenantId = ? WHERE id = ?').run(second.tenantId, foreign);
  database.prepare('UPDATE mailboxes SET address = ? WHERE id = ?').run(`three@${SANDBOX}`, one.id);
  database.close();
  const kept = { ...app, directory: createDirectory(app) };
  const decision = await decideRecipient(kept, `three+x@${SANDBOX}`, { sender: '', sizeBytes: undefined });
  assert.deepEqual(decision.kind === 'accepted' && decision.recipient.targets, [
    { kind: 'mailbox', targetId: one.id },
  ]);
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
