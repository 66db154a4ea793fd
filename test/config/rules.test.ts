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

test('a provider of OpenID Connect needs a client with a secret, and HTTPS unless it is on this machine', () => {
  const client = { clientId: 'postrider', clientSecretFile: '/etc/postrider/openid-secret', name: '' };
  const faultsOf = (openid: Partial<ConfigFields['openid']>) =>
    [...findFaults({ ...defaults, openid: { ...defaults.openid, ...openid } })].map(({ says }) => says);
  for (const issuer of [
    'https://login.example.com',
    'https://login.example.com/realms/a',
    'http://127.0.0.1:5556',
  ])
    assert.deepEqual(faultsOf({ ...client, issuer }), [], issuer);
  assert.match(faultsOf({ ...client, issuer: 'http://login.example.com' })[0] ?? '', /must begin with https/);
  assert.match(faultsOf({ ...client, issuer: 'https://:1' })[0] ?? '', /is not a URL/);
  for (const missing of ['clientId', 'clientSecretFile'])
    assert.match(faultsOf({ ...client, issuer: 'https://a.example', [missing]: '' })[0] ?? '', /needs/);
});
