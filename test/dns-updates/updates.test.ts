import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDnsUpdates } from '../../src/dns-updates/updates.ts';
import { openTestApp } from '../support/test-app.ts';

test('a restored installation that is not released asks and changes nothing, and says why', async () => {
  await using t = await openTestApp({
    env: {
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
      POSTRIDER_DNS_UPDATE_SERVER: '127.0.0.1:1',
      POSTRIDER_DNS_UPDATE_KEY: '/nonexistent/key',
      POSTRIDER_DNS_UPDATE_ZONES: 'postrider.example',
    },
  });
  const { run } = createDnsUpdates(t.app, []);
  assert.match((await run()).problem ?? '', /the key cannot be used/);
  t.app.egress.hold();
  const { problem, records } = await run();
  assert.match(problem ?? '', /restore release/);
  assert.deepEqual(records, []);
});
