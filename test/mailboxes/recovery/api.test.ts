/** The recovery address of a mailbox by the API: administrators see and remove it, and nobody else learns of it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noAccounts } from '../../../src/accounts/running-accounts.ts';
import { createMailboxRecovery } from '../../../src/dashboard/people/mailbox-recovery.ts';
import { buildNotice } from '../../../src/dashboard/people/recovery-mail.ts';
import { textsOf } from '../../../src/dashboard/texts/texts.ts';
import { confirmByLink, findRecovery, findRecoveryByLink } from '../../../src/mailboxes/recovery/store.ts';
import { addDomain } from '../../domains/fixtures.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openTestApp } from '../../support/test-app.ts';
import { addMailbox } from '../fixtures.ts';

const SET_AT = '2026-03-02T07:45:00.000Z';
const clock = createFakeClock(Date.parse(SET_AT));
const testApp = await openTestApp({ system: { clock } });
after(() => testApp.close());
const { app, liveKey, testKey } = testApp;
const recovery = createMailboxRecovery({ ...app, accounts: noAccounts });

const NONE = { address: null, confirmedAt: null, createdAt: null };
const ADDRESS = 'ann@elsewhere.example';

let count = 0;

/** Adds a mailbox whose owner has set an address, and returns the path of it and the hash of the link that was mailed. */
async function addWithAddress() {
  const mailbox = await addMailbox(testApp, { address: `ann${++count}@people.example` });
  await recovery.set(mailbox, ADDRESS, textsOf('en').recovery);
  const linkHash = (await findRecovery(app.db.read, mailbox.id))?.linkHash ?? assert.fail('no link');
  return { mailbox, linkHash, path: `/v1/mailboxes/${mailbox.id}/recovery-address` };
}

const ask = (method: 'GET' | 'DELETE' | 'PUT', path: string, key = liveKey) =>
  testApp.request(method, path, { key });

test('an administrator sees the address, and whether it is confirmed, and removes it with its link', async () => {
  const { mailbox, linkHash, path } = await addWithAddress();
  const set = { address: ADDRESS, confirmedAt: null, createdAt: SET_AT };
  assert.deepEqual((await ask('GET', path)).body, set);
  const now = clock.now();
  const words = textsOf('en').recovery.confirmedMail(mailbox.address);
  await app.db.commit(confirmByLink, {
    linkHash,
    now,
    notice: await buildNotice(app, mailbox.address, words),
  });
  assert.deepEqual((await ask('GET', path)).body, { ...set, confirmedAt: SET_AT });
  assert.equal((await ask('DELETE', path)).status, 204);
  assert.deepEqual((await ask('GET', path)).body, NONE);
  assert.equal((await ask('DELETE', path)).status, 204, 'nothing is there any more');
  const other = await addWithAddress();
  await ask('DELETE', other.path);
  assert.equal(await findRecoveryByLink(app.db.read, { linkHash: other.linkHash, now }), undefined);
});

test('nobody but the owner sets it: the API has no operation for that', async () => {
  const { path } = await addWithAddress();
  assert.equal((await ask('PUT', path)).status, 405);
});

test('keys of other tenants, those that only read or send, and those of a domain do not reach it', async () => {
  const { mailbox, path } = await addWithAddress();
  const foreign = await testApp.addTenant('foreign');
  const missing = path.replace(mailbox.id, `mbx_${'0'.repeat(26)}`);
  for (const method of ['GET', 'DELETE'] as const) {
    const [found, unknown] = [await ask(method, path, foreign.liveKey), await ask(method, missing)];
    assert.deepEqual([found.status, found.body.error.type], [404, 'not_found']);
    assert.equal(found.body.error.message, unknown.body.error.message);
    for (const permission of ['read_only', 'sending_access'] as const) {
      const key = await testApp.newKey({ mode: 'live', permission });
      assert.equal((await ask(method, path, key)).status, 403, `${method} ${permission}`);
    }
  }
  const { id: domainId } = await addDomain(testApp, { name: 'other.example', status: 'verified' });
  const ofDomain = await testApp.newKey({ mode: 'live', domainId });
  assert.equal((await ask('GET', path, ofDomain)).status, 404);
  assert.equal((await ask('DELETE', path, ofDomain)).status, 403);
  assert.equal((await ask('DELETE', path, testKey)).status, 403, 'a test key changes the sandbox alone');
  assert.equal((await ask('GET', path)).body.address, ADDRESS);
});
