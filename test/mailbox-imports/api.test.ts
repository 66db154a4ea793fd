import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { NO_COUNTS } from '../../src/mailbox-imports/counts.ts';
import { openPassword } from '../../src/mailbox-imports/create.ts';
import { openFolder } from '../../src/mailbox-imports/folder-store.ts';
import { advanceImport, endImport, findImport } from '../../src/mailbox-imports/store.ts';
import { endMailbox, updateMailbox } from '../../src/mailboxes/store.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';
import { beginRuns } from './begin.ts';

const clock = createFakeClock(1_800_000_000_000);
const world = await openTestApp({ system: { clock } });
after(() => world.close());
const { db } = world.app;
const mailbox = await addMailbox(world);

const PATH = `/v1/mailboxes/${mailbox.id}/imports`;
const WANTED = { host: 'IMAP.Example.com', user: 'ann@example.com', password: 'very secret' };
const ask = (method: TestMethod, path: string, body?: object) =>
  world.request(method, `${PATH}${path}`, { key: world.liveKey, ...(body && { body }) });

test('an import never shows its password, which is sealed and forgotten at the end', async () => {
  const { status, body } = await ask('POST', '', WANTED);
  assert.equal(status, 201, JSON.stringify(body));
  assert.ok(!JSON.stringify(body).includes('secret'));
  const { host, port, security, user } = body;
  assert.deepEqual([host, port, security, user], ['imap.example.com', 993, 'tls', 'ann@example.com']);
  assert.equal(body.status, 'queued');
  assert.deepEqual((await ask('GET', `/${body.id}`)).body, body);
  const row = (await findImport(db.read, body.id)) ?? assert.fail();
  assert.ok(!JSON.stringify(row).includes('very secret'));
  assert.equal(openPassword(world.app, row), 'very secret');
  assert.throws(() => openPassword(world.app, { ...row, id: 'mim_other' }), 'it opens in its own row alone');
  const [{ lease } = assert.fail()] = await beginRuns(world.app);
  const now = clock.now();
  await db.commit(endImport, { lease, now, status: 'failed', reason: 'login_refused', error: 'No' });
  assert.equal((await findImport(db.read, body.id))?.password, null);
  const { body: ended } = await ask('GET', `/${body.id}`);
  assert.deepEqual([ended.status, ended.reason, ended.error], ['failed', 'login_refused', 'No']);
  assert.equal(ended.finishedAt, '2027-01-15T08:00:00.000Z');
  await ask('DELETE', `/${body.id}`);
});

test('the port follows the security, unless it is given', async () => {
  for (const [fields, port] of [
    [{ security: 'starttls' }, 143],
    [{ security: 'starttls', port: 1143 }, 1143],
  ] as const) {
    const { body } = await ask('POST', '', { ...WANTED, ...fields });
    assert.equal(body.port, port);
    await ask('DELETE', `/${body.id}`);
  }
});

test('a port that is not of IMAP is at least 1024', async () => {
  for (const port of [1, 22, 25, 443, 1023]) {
    const { status, body } = await ask('POST', '', { ...WANTED, port });
    assert.deepEqual([status, body.error?.param], [400, 'port'], String(port));
  }
  const { status, body } = await ask('POST', '', { ...WANTED, port: 1024 });
  assert.equal(status, 201);
  await ask('DELETE', `/${body.id}`);
});

test('a host must be a name', async () => {
  for (const host of ['192.0.2.1', '2001:db8::1', 'no host', '[192.0.2.1]', 'a@b.example', 'a'.repeat(254)]) {
    const { status, body } = await ask('POST', '', { ...WANTED, host });
    assert.deepEqual([status, body.error?.param], [400, 'host'], host);
  }
});

test('errors are shown as CSV that no spreadsheet executes, one for each message', async () => {
  const { body } = await ask('POST', '', WANTED);
  const { id } = body;
  await beginRuns(world.app);
  const error = (uid: number, message: string) => ({ folder: '=1+1', uid, message });
  const progress = JSON.stringify(NO_COUNTS);
  const advance = (errors: ReturnType<typeof error>[]) => db.commit(advanceImport, { id, progress, errors });
  assert.equal(await advance([error(2, 'first'), error(0, 'folder')]), true);
  assert.equal(await advance([error(2, 'again, later')]), true);
  const { body: csv } = await ask('GET', `/${id}/errors`);
  assert.equal(csv, `folder,uid,error\r\n'=1+1,,folder\r\n'=1+1,2,"again, later"\r\n`);
  assert.equal((await ask('DELETE', `/${id}`)).status, 204);
  assert.equal(await advance([error(3, 'late')]), false, 'an import that was deleted does not run');
  assert.equal((await ask('GET', `/${id}/errors`)).status, 404);
});

test('an import has at most 1,000 errors', async () => {
  const { body } = await ask('POST', '', WANTED);
  await beginRuns(world.app);
  const errorsFrom = (first: number) =>
    Array.from({ length: 600 }, (_, index) => ({ folder: 'INBOX', uid: first + index, message: 'No' }));
  const advance = { id: body.id, progress: JSON.stringify(NO_COUNTS) };
  await db.commit(advanceImport, { ...advance, errors: errorsFrom(1) });
  await db.commit(advanceImport, { ...advance, errors: errorsFrom(601) });
  const { count } = await db.read
    .selectFrom('mailboxImportErrors')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('importId', '=', body.id)
    .executeTakeFirstOrThrow();
  assert.equal(count, 1_000);
  await ask('DELETE', `/${body.id}`);
});

test('a mailbox remembers 10,000 folders, and messages of others are compared by their content', async () => {
  const { id: mailboxId } = mailbox;
  const open = (folderKey: string) => db.commit(openFolder, { mailboxId, folderKey, uidValidity: '1' });
  assert.deepEqual(await open('1'), { mayRepeat: false });
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  const numbers = 'WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)';
  database.prepare(`INSERT INTO mailboxImportFolders ${numbers} SELECT ?, i, '1', 0 FROM n`).run(mailboxId);
  database.close();
  assert.deepEqual(await open('one more'), { mayRepeat: true });
  assert.deepEqual(await open('1'), { mayRepeat: false });
});

test('while a mailbox is suspended no import begins, and one that runs stores nothing more', async () => {
  const { body } = await ask('POST', '', WANTED);
  await beginRuns(world.app);
  const changeStatus = (status: 'active' | 'suspended') =>
    db.commit(updateMailbox, {
      ...{ tenantId: world.tenantId, id: mailbox.id },
      ...{ change: { status }, now: clock.now() },
    });
  await changeStatus('suspended');
  const isUnavailable = { code: 'unavailable', message: 'The mailbox is suspended' };
  const opened = { mailboxId: mailbox.id, folderKey: '1', uidValidity: '1' };
  await assert.rejects(db.commit(openFolder, opened), isUnavailable);
  const advance = { id: body.id, progress: JSON.stringify(NO_COUNTS), errors: [] };
  await assert.rejects(db.commit(advanceImport, advance), isUnavailable);
  assert.equal((await ask('POST', '', WANTED)).status, 409);
  await changeStatus('active');
  assert.equal(await db.commit(advanceImport, advance), true);
  await ask('DELETE', `/${body.id}`);
});

test('imports of a mailbox go with it', async () => {
  const other = await addMailbox(world, { address: 'bob@people.example' });
  const { body } = await world.request('POST', `/v1/mailboxes/${other.id}/imports`, { body: WANTED });
  await db.commit(endMailbox, { tenantId: world.tenantId, id: other.id, now: clock.now() });
  assert.equal(await findImport(db.read, body.id), undefined);
  assert.equal((await world.request('GET', `/v1/mailboxes/${other.id}/imports`)).status, 404);
});
