/** Mail that this installation sends to itself: out of the queue, and in again without leaving the machine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createInboundApp, type InboundApp } from '../../src/receiving/inbound-app.ts';
import { createLocalReceiver } from '../../src/receiving/local.ts';
import { setTenantPlan } from '../../src/tenants/store.ts';
import { closeAfterEach } from '../support/close-after.ts';
import { openSpool, SENDER_DOMAIN, type Spool } from '../support/spool.ts';
import { storePlan } from '../support/store-plan.ts';
import { storeBytesOf } from '../tenants/stored-mail/fixtures.ts';

const closing = closeAfterEach();
const HOST = 'mx.postrider.example';
const HOUR_MS = 3_600_000;

/** Opens a spool whose local mail is received, and a domain of the tenant whose MX is this machine. */
async function openWorld(): Promise<Spool> {
  let inbound: InboundApp | undefined;
  const spool = await openSpool({
    receiveLocally: (message) => {
      if (!inbound) throw new Error('nothing is open yet');
      return createLocalReceiver(inbound)(message);
    },
  });
  inbound = createInboundApp(spool.app);
  spool.addZone(`${SENDER_DOMAIN} MX 10 ${HOST}`);
  return closing(spool);
}

async function addRoute({ request, liveKey }: Spool, address: string, key = liveKey): Promise<string> {
  const body = { address, destination: 'https://shop.example/inbound' };
  const created = await request('POST', '/v1/inbound/routes', { key, body });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  return created.body.id;
}

const received = ({ app }: Spool) =>
  app.db.read.selectFrom('receivedMessages').selectAll().orderBy('id').execute();
const recipientsOf = async ({ email }: Spool, id: string) =>
  (await email(id)).recipients.map(({ status, enhancedCode }: Record<string, unknown>) => [
    status,
    enhancedCode,
  ]);

test('mail to a route of a domain that is received here arrives, and says that it was not authenticated', async () => {
  const world = await openWorld();
  const routeId = await addRoute(world, `*@${SENDER_DOMAIN}`);
  const id = await world.accept(`Sales@${SENDER_DOMAIN}`, { subject: 'Order 7' });
  await world.deliverDue();
  assert.deepEqual(await recipientsOf(world, id), [['delivered', '2.0.0']]);
  const [message, ...more] = await received(world);
  assert.ok(message && more.length === 0);
  const { tenantId, subject, auth, tls, remoteAddress, trace } = message;
  assert.deepEqual(
    [tenantId, subject, auth, tls, remoteAddress],
    [world.tenantId, 'Order 7', null, null, ''],
  );
  assert.match(trace, /^Return-Path: <b\+[0-9a-z]+@bounce\.mx\.postrider\.example>\r\n/);
  assert.match(trace, /\r\nReceived: by mx\.postrider\.example\r\n/);
  const tasks = await world.app.db.read.selectFrom('receivedTasks').selectAll().execute();
  assert.deepEqual(
    tasks.map(({ kind, targetId, tenantId: owner }) => [kind, targetId, owner]),
    [['post', routeId, world.tenantId]],
  );
  const stored: Buffer[] = [];
  const blob = message.blobId && (await world.app.blobs.open(message.blobId));
  assert.ok(blob);
  if (blob.inline) stored.push(Buffer.from(blob.inline));
  assert.match(Buffer.concat(stored).toString(), /^DKIM-Signature: /);
});

test('an unknown address bounces and is suppressed, and the same message reaches the tenant of the other', async () => {
  const world = await openWorld();
  const other = await world.addTenant('other');
  await addRoute(world, `known@sandbox.${HOST}`, other.liveKey);
  const id = await world.accept([`known@sandbox.${HOST}`, `unknown@${SENDER_DOMAIN}`]);
  await world.deliverDue();
  assert.deepEqual(await recipientsOf(world, id), [
    ['delivered', '2.0.0'],
    ['bounced', '5.1.1'],
  ]);
  const [message, ...more] = await received(world);
  assert.deepEqual([message?.tenantId, more.length], [other.tenantId, 0]);
  const { body } = await world.request('GET', '/v1/suppressions', { key: world.liveKey });
  assert.equal(body.data[0].email, `unknown@${SENDER_DOMAIN}`);
  const theirs = await world.request('GET', '/v1/suppressions', { key: other.liveKey });
  assert.deepEqual(theirs.body.data, []);
});

test('mail to a tenant whose stored mail is at its limit is tried again, and arrives once there is room', async () => {
  const world = await openWorld();
  await addRoute(world, `a@${SENDER_DOMAIN}`);
  await storePlan(world.app.db, 'limited', { storedMegabytes: 1 });
  await world.app.db.commit(setTenantPlan, { tenant: world.tenantId, plan: 'limited' });
  const setStored = storeBytesOf(world);
  setStored(world.tenantId, 1024 * 1024);
  const id = await world.accept(`a@${SENDER_DOMAIN}`);
  await world.deliverDue();
  assert.deepEqual(await recipientsOf(world, id), [['deferred', '4.2.2']]);
  setStored(world.tenantId, 0);
  await world.clock.advance(HOUR_MS);
  await world.deliverDue();
  assert.deepEqual(await recipientsOf(world, id), [['delivered', '2.0.0']]);
});
