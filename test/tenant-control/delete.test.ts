/** A tenant is deleted with everything that it owns, in slices, whatever happens meanwhile. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { accountFolder } from '../../src/accounts/folder.ts';
import { findReceiver } from '../../src/domains/receiving/store.ts';
import { markOf, OWN_PASSWORD, renewMarked } from '../../src/mailboxes/credential.ts';
import { createRemovalKind } from '../../src/mailboxes/worker.ts';
import { NO_REPORT } from '../../src/queue/outcome/outcome.ts';
import { notSent } from '../../src/queue/transport.ts';
import { createInboundApp } from '../../src/receiving/inbound-app.ts';
import { decideRecipient } from '../../src/receiving/recipient.ts';
import { createDeletionKind } from '../../src/tenant-control/delete.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { blobFiles } from '../emails/fixtures.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { deliverBy } from '../support/spool.ts';
import { runDueTasks } from '../support/tasks.ts';
import { openWorldForEachTest } from './world.ts';

const SECOND_MS = 1_000;
/** Maximum number of slices of a deletion. Only a test that fails reaches it. */
const MAX_SLICES = 300;

let { spool, other, control } = await openWorldForEachTest((next) => {
  ({ spool, other, control } = next);
  ({ app, clock, tenantId, liveKey } = spool);
});
let { app, clock, tenantId, liveKey } = spool;

async function ask(method: 'GET' | 'POST', url: string, payload?: object) {
  const response = await control.inject({ method, url, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.json() };
}
const begin = (tenant: string = tenantId) => ask('POST', `/tenants/${tenant}/deletion`);
const holdings = (tenant: string = tenantId) => ask('GET', `/tenants/${tenant}/holdings`);
const isDeleted = async () => (await holdings()).body.isDeleted;

/** Runs slices until the tenant is gone, or as many as are given. Each is one of a new start when `crashes` is true. */
async function runSlices({ max = MAX_SLICES, crashes = false } = {}): Promise<number> {
  let kind = createDeletionKind(app);
  for (let slices = 0; slices < max; slices++) {
    if ((await runDueTasks(app, kind)).length === 0) return slices;
    if (crashes) kind = createDeletionKind(app);
    await clock.advance(5 * SECOND_MS);
  }
  return max;
}

function change(...statements: string[]): void {
  const database = new Sqlite(join(spool.dataDir, 'postrider.db'));
  for (const statement of statements) database.exec(statement);
  database.close();
}

test('keys, passwords and mail of a tenant are refused from the moment its deletion begins', async () => {
  const mailbox = await addMailbox(spool);
  const inbound = createInboundApp(app);
  const decide = async () =>
    (await decideRecipient(inbound, mailbox.address, { sender: 'bob@far.example', sizeBytes: 1 })).kind;
  const login = async () =>
    'mailbox' in (await renewMarked(app, markOf({ mailbox, credential: OWN_PASSWORD })));
  assert.deepEqual([await decide(), await login()], ['accepted', true]);
  const { status } = await spool.request('GET', '/v1/emails', { key: liveKey });
  const begun = await begin();
  assert.deepEqual([status, begun.status, begun.body.status], [200, 200, 'deleting']);
  const { status: refused, body } = await spool.request('GET', '/v1/emails', { key: liveKey });
  assert.deepEqual([refused, body.error.type], [401, 'invalid_api_key']);
  assert.deepEqual([await decide(), await login()], ['refused', false]);
  assert.equal((await spool.request('GET', '/v1/emails', { key: other.liveKey })).status, 200);
  for (const action of ['suspend', 'resume'])
    assert.equal((await ask('POST', `/tenants/${tenantId}/${action}`)).body.error.type, 'invalid_state');
});

test('what a tenant owns is counted, goes in slices, and the names are free again', async () => {
  await spool.acceptMany(40, 'one.example');
  const { address, domain, id } = await addMailbox(spool);
  const folder = accountFolder(app.config.dataDir, id);
  mkdirSync(folder, { recursive: true });
  const { body } = await holdings();
  assert.deepEqual(
    [body.isDeleted, body.holdings.messages, body.holdings.mailboxes, body.holdings.domains],
    [false, 40, 1, 2],
  );
  const bounded = await ask('GET', `/tenants/${tenantId}/holdings?maximum=10`);
  assert.deepEqual([bounded.body.holdings.messages, bounded.body.holdings.mailboxes], [11, 1]);
  await begin('default');
  assert.ok((await runSlices()) > 3);
  assert.deepEqual((await holdings()).body, { isDeleted: true, holdings: null });
  await runDueTasks(
    app,
    createRemovalKind(app, async () => {}),
  );
  assert.equal(existsSync(folder), false);
  const created = await ask('POST', '/tenants', { name: 'default' });
  assert.equal(created.status, 200);
  await addMailbox({ app, tenantId: other.tenantId }, { address });
  assert.equal((await findReceiver(app.db.read, domain, clock.now()))?.tenantId, other.tenantId);
  assert.deepEqual(
    app.db.read && (await ask('GET', '/tenants')).body.map(({ name }: { name: string }) => name).sort(),
    ['default', 'other'],
  );
});

test('the bytes of messages go with them, and those that another tenant shares stay', async () => {
  const attachments = [
    { filename: 'a.txt', content: Buffer.from('Words. '.repeat(40_000)).toString('base64') },
  ];
  await spool.accept('ann@one.example', { attachments });
  await spool.accept('ann@one.example', {
    key: other.liveKey,
    from: 'a@other.example',
    attachments,
    text: 'Another text',
  });
  assert.equal(blobFiles(spool).length, 2);
  await begin();
  await runSlices();
  assert.equal(blobFiles(spool).length, 1);
  const { blobs } = await app.db.read
    .selectFrom('blobs')
    .select(({ fn }) => fn.countAll<number>().as('blobs'))
    .executeTakeFirstOrThrow();
  assert.equal(blobs, 1);
});

test('mail that is being sent ends first, and nothing else of the tenant is sent', async () => {
  const sending = await spool.accept('ann@one.example');
  const [claim = assert.fail()] = await spool.claim();
  await spool.accept('bob@two.example');
  await begin();
  assert.deepEqual(await spool.claim(), []);
  await runSlices({ max: 20 });
  assert.equal(await isDeleted(), false, 'it waits');
  const rows = await app.db.read.selectFrom('messages').select('id').execute();
  assert.deepEqual(rows, [{ id: sending }]);
  await deliverBy(app, claim, async () =>
    notSent(claim, { kind: 'delivered', report: { ...NO_REPORT, phase: 'dot', text: 'ok' } }),
  );
  await runSlices();
  assert.equal(await isDeleted(), true);
});

test('what the mailboxes of the tenant have forwarded is canceled', async () => {
  const forwarded = await spool.accept('ann@one.example');
  change(
    `UPDATE messages SET tenantId = '${INSTALLATION_TENANT}' WHERE id = '${forwarded}'`,
    `UPDATE recipients SET tenantId = '${INSTALLATION_TENANT}' WHERE messageId = '${forwarded}'`,
    `DELETE FROM emails WHERE id = '${forwarded}'`,
  );
  await begin();
  await runSlices();
  assert.equal(await isDeleted(), true);
  const rows = await app.db.read.selectFrom('recipients').select('state').execute();
  assert.deepEqual(rows, [{ state: 'canceled' }]);
});

test('starts in between, and rows that come meanwhile, only delay a deletion', async () => {
  await spool.acceptMany(30, 'one.example');
  await begin();
  assert.equal(await runSlices({ max: 4, crashes: true }), 4);
  change(
    `INSERT INTO suppressions (id, tenantId, email, reason, createdAt) VALUES ('sup_late', '${tenantId}', 'a@b.example', 'manual', 1)`,
  );
  await runSlices({ crashes: true });
  assert.equal(await isDeleted(), true);
  const left = await app.db.read.selectFrom('suppressions').select('id').execute();
  assert.deepEqual(left, []);
});

test('a row that comes after its step is found before the tenant goes', async () => {
  await begin();
  const kind = createDeletionKind(app);
  await runDueTasks(app, kind);
  await clock.advance(SECOND_MS);
  change(
    `INSERT INTO inboundRoutes (id, tenantId, address, domain, destination, enabled, secretSealed, createdAt, updatedAt)
     VALUES ('rt_late', '${tenantId}', 'a@b.example', 'b.example', '', 1, '', 1, 1)`,
  );
  await runSlices();
  assert.equal(await isDeleted(), true);
  assert.deepEqual(await app.db.read.selectFrom('inboundRoutes').select('id').execute(), []);
});

test('the tenant of the installation and unknown ones cannot be deleted', async () => {
  for (const name of [INSTALLATION_TENANT, 'installation', 'nobody'])
    assert.equal((await begin(name)).status, 404, name);
});
