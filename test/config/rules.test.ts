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

test('sources have addresses of their own, and pools name them', () => {
  const faultsOf = (outbound: Partial<ConfigFields['outbound']>) =>
    [...findFaults({ ...defaults, outbound: { ...defaults.outbound, ...outbound } })].map(({ says }) => says);
  const source = { name: 'a', addresses: ['192.0.2.1'] };
  const sourceFaults: [Partial<typeof source> & Record<string, unknown>, string][] = [
    [{ addresses: ['mx.example.com'] }, '"mx.example.com" is not an IP address'],
    [{ addresses: ['fe80::1%eth0'] }, '"fe80::1%eth0" is not an IP address'],
    [
      { addresses: ['192.0.2.1', '192.0.2.2'] },
      'it has two addresses of the same family; each of them needs a source of its own',
    ],
    [{ ehlo: 'not a host' }, '"not a host" is not a host name'],
    [
      { socks5: '192.0.2.9:1080', proxyProtocol: '192.0.2.9:25' },
      'it has "socks5" or "proxyProtocol", not both',
    ],
    [
      { socks5: 'proxy.example.com:1080' },
      '"proxy.example.com:1080" is not an address with a port, such as 192.0.2.1:1080 or [2001:db8::1]:1080',
    ],
    [{ user: 'me', passwordFile: '/p' }, 'a user and a password need "socks5"'],
    [{ socks5: '[2001:db8::9]:1080', user: 'me' }, 'a user needs a password, and a password a user'],
    [{ socks5: '192.0.2.9:1080', user: 'ü'.repeat(200), passwordFile: '/p' }, 'the user is too long'],
  ];
  for (const [fields, says] of sourceFaults)
    assert.deepEqual(faultsOf({ sources: [{ ...source, ...fields }] }), [`"outbound.sources": "a": ${says}`]);
  const other = { ...source, name: 'b' };
  assert.deepEqual(faultsOf({ sources: [source, source] }), [
    '"outbound.sources": "a": another source has its name',
  ]);
  assert.deepEqual(faultsOf({ sources: [source, other] }), [
    '"outbound.sources": "b": the source "a" has the same address',
  ]);
  // Two proxies may have the same address behind them.
  assert.deepEqual(faultsOf({ sources: [source, { ...other, socks5: '192.0.2.9:1080' }] }), []);
  const pools = (...given: ConfigFields['outbound']['pools']) =>
    faultsOf({ sources: [source], pools: given });
  const pool = { name: 'p', sources: ['a'] };
  assert.deepEqual(pools(pool, { ...pool, name: 'q', kind: 'broadcast' }), []);
  assert.deepEqual(pools({ ...pool, sources: ['b'] }), ['"outbound.pools": "p": there is no source "b"']);
  assert.deepEqual(pools({ ...pool, domain: 'not a domain' }), [
    '"outbound.pools": "p": "not a domain" is not a domain',
  ]);
  assert.deepEqual(pools({ ...pool, domain: 'EXAMPLE.com' }, { ...pool, name: 'q', domain: 'example.com' }), [
    '"outbound.pools": "q": the pool "p" has its name or is for the same mail',
  ]);
});
