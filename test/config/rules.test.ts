import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { findFaults } from '../../src/config/rules.ts';
import { type ConfigFields, configSchema } from '../../src/config/schema.ts';

const defaults = Value.Default(configSchema, {}) as ConfigFields;

test('the defaults break no rule', () => {
  assert.deepEqual([...findFaults(defaults)], []);
});

test('every broken rule is found, under the setting that is to be changed', () => {
  const { webhooks, https, lmtp, domains, nameserver, retention } = defaults;
  const config: ConfigFields = {
    ...defaults,
    hostname: 'not a host',
    webhooks: { ...webhooks, signatureHeader: 'Host' },
    https: { ...https, port: 443, redirectPort: 443 },
    lmtp: { ...lmtp, address: '192.0.2.1' },
    domains: { ...domains, addresses: [] },
    nameserver: { ...nameserver, enabled: true, names: ['ns 1'] },
    retention: { ...retention, contentDays: 10, emailDays: 9, eventDays: 9, webhookDays: 9 },
  };
  const faults = [...findFaults(config)];
  assert.deepEqual(
    faults.map(({ setting }) => setting),
    [
      ...['hostname', 'webhooks.signatureHeader', 'https.redirectPort', 'lmtp.address'],
      ...['retention.contentDays', 'nameserver.names', 'nameserver.enabled'],
    ],
  );
  for (const { setting, says } of faults) assert.ok(says.startsWith(`"${setting}"`), says);
});
