/** API keys by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const clientWith = await clientsOf(testApp);
const resend = clientWith();

test('a key is created, listed, renamed and removed', async () => {
  const { id, token } = await dataOf(resend.apiKeys.create({ name: 'Production' }));
  assert.equal((await testApp.request('GET', `/v1/api-keys/${id}`)).body.permission, 'full_access');
  const other = await dataOf(resend.apiKeys.create({ name: 'Sender', permission: 'sending_access' }));
  assert.match(await refusalOf(clientWith(other.token).apiKeys.list()), /^401 restricted_api_key: /);

  assert.deepEqual(await dataOf(resend.apiKeys.update(id, { name: 'Renamed' })), { object: 'api_key', id });
  const page = await dataOf(clientWith(token).apiKeys.list({ limit: 2 }));
  assert.deepEqual([page.object, page.has_more], ['list', true]);
  assert.deepEqual(
    page.data.map(({ name }) => name),
    ['Sender', 'Renamed'],
  );
  assert.deepEqual(Object.keys(page.data[0] ?? {}), ['id', 'name', 'created_at', 'last_used_at']);
  const older = await dataOf(resend.apiKeys.list({ after: id }));
  assert.deepEqual(
    older.data.map(({ name }) => name),
    ['test key'],
  );
  assert.match(await refusalOf(resend.apiKeys.list({ limit: 101 })), /^422 validation_error: `limit` /);

  assert.deepEqual(await dataOf(resend.apiKeys.remove(id)), { object: 'api_key', id, deleted: true });
  assert.match(await refusalOf(clientWith(token).apiKeys.list()), /^403 invalid_api_key: /);
  assert.match(await refusalOf(resend.apiKeys.remove(id)), /^404 not_found: /);
});
