/** Tests the permission of a limited key with every operation of the document: it is checked before anything else. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createApiKey } from '../../src/tenants/keys.ts';
import { operationsOf } from '../support/populated/operations.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
after(() => world.close());
const operations = operationsOf(world.server.openApi());

/** Operations that are open to a key that may only send. */
const EMAILS = ['sendEmail', 'sendBatch', 'listEmails', 'getEmail', 'rescheduleEmail', 'cancelEmail'];
/** A count is asked with POST and changes nothing. */
const READING_POSTS = ['countSegment'];
/** Operations that only a full key may use, although they only read. */
const FULL_READS = ['listApiKeys', 'getApiKey'];

const isReading = ({ name, method }: { name: string; method: string }) =>
  READING_POSTS.includes(name) || (method === 'GET' && !FULL_READS.includes(name));

for (const [permission, permitted] of [
  ['sending_access', EMAILS],
  ['read_only', operations.filter(isReading).map(({ name }) => name)],
] as const) {
  test(`a key with ${permission} is refused by exactly the operations that its permission leaves out`, async () => {
    const key = { name: permission, mode: 'test', permission, expiresAt: null } as const;
    const { token } = await createApiKey(world.app, { tenantId: world.tenantId, ...key });
    const unrefused: string[] = [];
    for (const { name, method, path } of operations) {
      const { status, body } = await world.request(method, path, { key: token, body: {} });
      if (status === 403) assert.equal(body.error.type, 'restricted_api_key', name);
      else unrefused.push(name);
    }
    assert.deepEqual(unrefused.toSorted(), permitted.toSorted());
  });
}
