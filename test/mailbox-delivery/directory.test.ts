import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerCache } from '../../src/db/answer-cache.ts';
import { endDomain } from '../../src/domains/store.ts';
import { activateScript, putScript, renameScript } from '../../src/mailboxes/scripts/store.ts';
import { updateMailbox } from '../../src/mailboxes/store.ts';
import { decideRecipient } from '../../src/receiving/recipient.ts';
import { mapRoutes } from '../../src/routes/store.ts';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { openMailWorld, sendMail } from '../inbound/mail-world.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { storePlan } from '../support/store-plan.ts';

const world = await openMailWorld();
const { app, clock } = world;
const HOUR_MS = 3_600_000;
const UNKNOWN = '5.1.1';
const FULL = '4.2.2';

/** Returns the kind of a recipient, or the status of its refusal. */
async function decide(address: string, sizeBytes = 1_000): Promise<string> {
  const decision = await decideRecipient(app, address, { sender: 'ann@sender.example', sizeBytes });
  return decision.kind === 'refused' ? decision.reply.status : (decision.recipient.targets[0]?.kind ?? '');
}

test('a change of a route, a domain or a plan is noticed at the next recipient', async () => {
  const { tenantId, liveKey: key } = world.test;
  const address = 'info@kept.example';
  await world.addDomain('kept.example');
  assert.equal(await decide(address), UNKNOWN);
  const id = await world.addRoute(address);
  assert.equal(await decide(address), 'post');
  const patch = (body: object) => world.test.request('PATCH', `/v1/inbound/routes/${id}`, { key, body });
  const setLimit = (storedMegabytes: number | null) => storePlan(app.db, plan, { storedMegabytes });
  const { plan } = await app.db.read
    .selectFrom('tenants')
    .select('plan')
    .where('id', '=', tenantId)
    .executeTakeFirstOrThrow();
  for (const [change, expected] of [
    [() => patch({ enabled: false }), UNKNOWN],
    [() => patch({ enabled: true }), 'post'],
    [() => patch({ address: 'other@kept.example' }), UNKNOWN],
    [() => patch({ address }), 'post'],
    [() => setLimit(0), FULL],
    [() => setLimit(null), 'post'],
    [() => world.test.request('DELETE', `/v1/inbound/routes/${id}`, { key }), UNKNOWN],
    [() => world.addRoute('*@kept.example'), 'post'],
  ] as const) {
    await change();
    assert.equal(await decide(address), expected, String(change));
    assert.equal(await decide(address), expected, String(change));
  }
  const domain = await app.db.read
    .selectFrom('domains')
    .select('id')
    .where('name', '=', 'kept.example')
    .executeTakeFirstOrThrow();
  await app.db.commit(endDomain, { id: domain.id, tenantId, now: clock.now() });
  assert.equal(await decide(address), UNKNOWN);
});

test('the end of a grace period is noticed although no row changes', async () => {
  const failing = { status: 'temporary_failure', verifiedSince: 0, failingSince: clock.now() } as const;
  await addDomain(world.test, { id: `dom_${'f'.repeat(26)}`, name: 'lapsing.example', ...failing });
  assert.equal(await decide('postmaster@lapsing.example'), 'postmaster');
  await clock.advance(71 * HOUR_MS);
  assert.equal(await decide('postmaster@lapsing.example'), 'postmaster');
  await clock.advance(2 * HOUR_MS);
  assert.equal(await decide('postmaster@lapsing.example'), UNKNOWN);
});

test('other writes, and mail that arrives, leave the kept answers as they are', async () => {
  const { changes } = app.db;
  const { plan } = await app.db.read.selectFrom('tenants').select('plan').executeTakeFirstOrThrow();
  const { tenantId } = world.test;
  const counts = () => [
    changes.count('domains', 'calm.example'),
    changes.count('inboundRoutes', tenantId),
    changes.count('tenants', tenantId),
    changes.count('plans', plan),
  ];
  await world.addDomain('calm.example');
  await world.addRoute('*@calm.example');
  const before = counts();
  const client = await world.open();
  for (const line of ['MAIL FROM:<a@sender.example>', 'RCPT TO:<b@calm.example>', 'DATA'])
    await client.ask(`${line}\r\n`);
  assert.match(await client.ask('From: a@sender.example\r\n\r\nHello\r\n.\r\n'), /^250/);
  assert.deepEqual(counts(), before);
});

test('a route that is created during a lookup is noticed at the next one', async () => {
  const { tenantId } = world.test;
  const address = 'info@late.example';
  await world.addDomain('late.example');
  const { changes, read } = app.db;
  const kept = new AnswerCache<typeof tenantId, ReadonlyMap<string, string>>({
    changes,
    tables: ['inboundRoutes'],
    maxSize: 1,
    sizeOf: () => 1,
  });
  const early = await kept.get(tenantId, async () => {
    const routes = await mapRoutes(read, tenantId);
    await world.addRoute(address);
    return routes;
  });
  assert.equal(early.get(address), undefined);
  const late = await kept.get(tenantId, () => mapRoutes(read, tenantId));
  assert.ok(late.get(address));
});

test('a message counts against the limit of the plan as soon as it is accepted', async () => {
  await storePlan(app.db, 'one', { storedMegabytes: 1 });
  const { tenantId, liveKey: key } = await world.test.addTenant('limited');
  await app.db.commit(setTenantPlan, { tenant: tenantId, plan: 'one' });
  await world.addDomain('limited.example', tenantId);
  await world.addRoute('*@limited.example', { key });
  const to = 'info@limited.example';
  assert.equal(await decide(to, 600_000), 'post');
  const message = `From: a@sender.example\r\n\r\n${`${'x'.repeat(70)}\r\n`.repeat(8_000)}`;
  assert.match(await sendMail(await world.open(), { to, message }), /^250/);
  assert.equal(await decide(to, 600_000), FULL);
  assert.equal(await decide(to, 400_000), 'post');
});

test('a change of the scripts or the filters of a mailbox is noticed at once', async () => {
  const { id: mailboxId, tenantId } = await addMailbox(world.test, { address: 'ann@scripts.example' });
  const scripts = async () => {
    const { scripts: found, mayRefuse } = await app.directory.scriptsOf(mailboxId);
    return [...found.map(({ name, content }) => `${name}: ${content}`), mayRefuse];
  };
  const change = (fields: object) =>
    app.db.commit(updateMailbox, { tenantId, id: mailboxId, change: fields, now: clock.now() });
  const put = (content: string) =>
    app.db.commit(putScript, { mailboxId, name: 'rules', content, now: clock.now() });
  const activate = (name: string) => app.db.commit(activateScript, { mailboxId, name });
  assert.deepEqual(await scripts(), [false]);
  await put('keep;');
  assert.deepEqual(await scripts(), [false]);
  await activate('rules');
  assert.deepEqual(await scripts(), ['rules: keep;', false]);
  await put('require "reject"; reject "No.";');
  assert.deepEqual(await scripts(), ['rules: require "reject"; reject "No.";', true]);
  await app.db.commit(renameScript, { mailboxId, name: 'rules', to: 'others' });
  assert.match(String((await scripts())[0]), /^others: /);
  await activate('');
  assert.deepEqual(await scripts(), [false]);
  await change({ filters: { forwardTo: ['bob@other.example'] } });
  assert.match(String((await scripts())[0]), /^filters of the mailbox: .*redirect/s);
  await change({ filters: { forwardTo: [] } });
  assert.deepEqual(await scripts(), [false]);
});
