/** Suppressions by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const resend = (await clientsOf(testApp))();

test('an address is suppressed, found by id and address, and removed', async () => {
  const { id } = await dataOf(resend.suppressions.add({ email: 'Gone+1@reader.example' }));
  assert.equal((await dataOf(resend.suppressions.add({ email: 'gone+1@reader.example' }))).id, id);
  for (const key of [id, 'GONE+1@reader.example']) {
    const { created_at, ...shown } = await dataOf(resend.suppressions.get(key));
    assert.ok(created_at);
    const origin = { email: 'gone+1@reader.example', origin: 'manual', source_id: null };
    assert.deepEqual(shown, { object: 'suppression', id, ...origin });
  }
  const left = { email: 'left@reader.example', reason: 'unsubscribe' };
  await testApp.request('POST', '/v1/suppressions', { body: left });
  const byOrigin = await dataOf(resend.suppressions.list({ origin: 'manual', limit: 1 }));
  assert.deepEqual(
    byOrigin.data.map(({ email }) => email),
    ['gone+1@reader.example'],
  );
  const all = await dataOf(resend.suppressions.list());
  assert.deepEqual(
    all.data.map(({ origin }) => origin),
    ['manual', 'manual'],
  );
  assert.match(
    await refusalOf(resend.suppressions.list({ origin: 'other' as never })),
    /^422 .*`origin` must be/,
  );
  assert.equal((await dataOf(resend.suppressions.remove('gone+1@reader.example'))).deleted, true);
  assert.match(await refusalOf(resend.suppressions.get(id)), /^404 not_found: Suppression not found/);
});

test('many addresses are suppressed and removed at once', async () => {
  const emails = ['a@reader.example', 'nobody', 'b@reader.example'];
  const added: { data: unknown[]; errors?: object[] } = await dataOf(
    resend.suppressions.batch.add({ emails }),
  );
  assert.equal(added.data.length, 2);
  assert.deepEqual(
    added.errors?.map((error) => Object.values(error)[0]),
    [1],
  );
  const removed = await dataOf(
    resend.suppressions.batch.remove({ emails: ['a@reader.example', 'c@reader.example'] }),
  );
  assert.deepEqual(
    removed.data.map(({ id, deleted }) => [id, deleted]),
    [
      ['a@reader.example', true],
      ['c@reader.example', false],
    ],
  );
  const byId = resend.suppressions.batch.remove({ ids: ['sup_1'] });
  assert.match(await refusalOf(byId), /^422 validation_error: `ids` is not supported here/);
  assert.match(await refusalOf(resend.suppressions.batch.add({} as never)), /^422 /);
});
