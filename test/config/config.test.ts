import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/config-error.ts';
import { environmentName, isListOfObjects, leaves } from '../../src/config/environment.ts';
import { configSchema } from '../../src/config/schema.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory('config');
let files = 0;

function writeFile(text: string): string {
  files += 1;
  const file = join(directory, `${files}.yaml`);
  writeFileSync(file, text);
  return file;
}

function refused(load: () => unknown, ...parts: string[]): void {
  assert.throws(load, (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    for (const part of parts) assert.ok(error.message.includes(part), `"${error.message}" names ${part}`);
    assert.ok(!error.message.includes('\n'));
    return true;
  });
}

test('without a file it is a development configuration on 127.0.0.1', () => {
  const config = loadConfig({ env: {} });
  assert.equal(config.development, true);
  const defaults = { trustedProxies: [], publicUrl: '', metrics: false };
  assert.deepEqual(config.http, { address: '127.0.0.1', port: 8025, ...defaults });
  // Port 25 is privileged, and mail of others is not meant for a machine of development.
  assert.deepEqual([config.smtp.address, config.smtp.port], ['127.0.0.1', 2525]);
  assert.ok(isAbsolute(config.dataDir));
  assert.deepEqual(config.faults, { crashAt: undefined, synchronous: 'FULL' });
});

test('a file is read over the defaults and the environment over the file', () => {
  const file = writeFile('hostname: mail.example.com\nhttp:\n  port: 80\n  address: 0.0.0.0\n');
  const config = loadConfig({ file, env: { POSTRIDER_HTTP_PORT: '81' } });
  assert.equal(config.development, false);
  assert.equal(config.hostname, 'mail.example.com');
  const defaults = { trustedProxies: [], publicUrl: '', metrics: false };
  assert.deepEqual(config.http, { address: '0.0.0.0', port: 81, ...defaults });
  assert.equal(config.delivery.connectionsPerSite, 20);
  assert.deepEqual([config.smtp.address, config.smtp.port], ['::', 25]);
});

test('POSTRIDER_CONFIG names the file, and the given file wins', () => {
  const one = writeFile('hostname: one.example.com');
  const two = writeFile('hostname: two.example.com');
  assert.equal(loadConfig({ env: { POSTRIDER_CONFIG: one } }).hostname, 'one.example.com');
  assert.equal(loadConfig({ file: two, env: { POSTRIDER_CONFIG: one } }).hostname, 'two.example.com');
});

for (const name of ['', 'X Signature', 'X-Signature:', 'X-Sig\r\nBcc', 'X-Signatür', '"X"', 'x'.repeat(65)]) {
  test(`no name of a signature header: ${JSON.stringify(name)}`, () => {
    const env = { POSTRIDER_WEBHOOKS_SIGNATURE_HEADER: name };
    refused(() => loadConfig({ env }), 'POSTRIDER_WEBHOOKS_SIGNATURE_HEADER', 'webhooks.signatureHeader');
  });
}

for (const name of ['Content-Type', 'HOST', 'webhook-id', 'Transfer-Encoding', 'X-Service-Event']) {
  test(`the signature cannot take the place of the header ${name}`, () => {
    const env = { POSTRIDER_WEBHOOKS_SIGNATURE_HEADER: name };
    refused(() => loadConfig({ env }), 'POSTRIDER_WEBHOOKS_SIGNATURE_HEADER', 'has this header already');
  });
}

test('relays that are trusted, and proxies, are addresses', () => {
  for (const [name, key] of [
    ['POSTRIDER_INBOUND_TRUSTED_RELAYS', 'inbound.trustedRelays'],
    ['POSTRIDER_SMTP_TRUSTED_PROXIES', 'smtp.trustedProxies'],
  ] as const)
    refused(() => loadConfig({ env: { [name]: 'mx.example.com' } }), name, key);
});

test('LMTP listens on an address of this machine alone', () => {
  for (const address of ['127.0.0.1', '127.8.0.1', '::1', ''])
    assert.equal(loadConfig({ env: { POSTRIDER_LMTP_ADDRESS: address } }).lmtp.address, address);
  for (const address of ['::', '0.0.0.0', '192.0.2.1', '10.0.0.1', '127.0.0.1.example', 'localhost'])
    refused(
      () => loadConfig({ env: { POSTRIDER_LMTP_ADDRESS: address } }),
      ...['POSTRIDER_LMTP_ADDRESS', 'lmtp.address'],
    );
});

test('a blocklist has a zone, and by default every answer of it refuses', () => {
  const file = writeFile('hostname: mail.example.com\ninbound:\n  dnsbl: [{ zone: bl.example.org }]\n');
  const [list, ...more] = loadConfig({ file, env: {} }).inbound.dnsbl;
  assert.deepEqual(
    [list, more],
    [{ zone: 'bl.example.org', action: 'refuse', answers: ['127.0.0.0/8'] }, []],
  );
  for (const wrong of [
    '{ zone: bl..example.org }',
    '{ zone: BL.example.org }',
    '{ zone: bl.example.org, action: accept }',
    '{ zone: bl.example.org, answers: [127.0.0.2] }',
    '{ zone: bl.example.org, answers: [] }',
    '{ action: score }',
  ]) {
    const bad = writeFile(`hostname: mail.example.com\ninbound:\n  dnsbl: [${wrong}]\n`);
    refused(() => loadConfig({ file: bad, env: {} }), bad, 'inbound.dnsbl');
  }
});

test('the signature header may carry the operator’s name', () => {
  const config = loadConfig({ env: { POSTRIDER_WEBHOOKS_SIGNATURE_HEADER: 'X-Shop_Signature.1' } });
  assert.equal(config.webhooks.signatureHeader, 'X-Shop_Signature.1');
});

test('lists, numbers and truth values are read from variables', () => {
  const config = loadConfig({
    env: {
      POSTRIDER_DNS_SERVERS: '127.0.0.1:5353, 192.0.2.1',
      POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8,::1/128',
      POSTRIDER_OUTBOUND_SMTP_PORT: '2525',
      POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true',
      POSTRIDER_CRASH_AT: 'inbound-task-run/bounce',
    },
  });
  assert.deepEqual(config.dns.servers, ['127.0.0.1:5353', '192.0.2.1']);
  assert.deepEqual(config.outbound.allowTargets, ['127.0.0.0/8', '::1/128']);
  assert.equal(config.outbound.smtpPort, 2525);
  assert.equal(config.webhooks.allowHttp, true);
  assert.equal(config.faults.crashAt, 'inbound-task-run/bounce');
  assert.deepEqual(loadConfig({ env: { POSTRIDER_DNS_SERVERS: '' } }).dns.servers, []);
});

test('variables of other programs are none of its business', () => {
  assert.doesNotThrow(() => loadConfig({ env: { PATH: '/bin', POSTRIDERX: '1' } }));
});

test('the result cannot be changed', () => {
  const config = loadConfig({ env: {} });
  assert.throws(() => Object.assign(config.http, { port: 1 }), TypeError);
  assert.throws(() => Object.assign(config, { hostname: 'x' }), TypeError);
});

test('limits of sites name a provider or a host, once, and set something', () => {
  const withLimits = (text: string) => () =>
    loadConfig({ file: writeFile(`hostname: mx.example\ndelivery: { limits: [${text}] }`), env: {} });
  assert.doesNotThrow(
    withLimits('{ provider: google, connections: 2 }, { host: mx.example.net, recipientsPerMinute: 60 }'),
  );
  for (const [text, says] of [
    ['{ connections: 2 }', 'limit 1 ("") needs either "provider" or "host"'],
    [
      '{ provider: google, host: mx.example, connections: 2 }',
      'limit 1 ("google") needs either "provider" or "host"',
    ],
    ['{ host: "a b", connections: 2 }', 'limit 1 ("a b") is not for a host name'],
    [
      '{ provider: gogle, connections: 2 }',
      'limit 1 ("gogle") is for no provider of config/providers.yaml, which has google, outlook, ',
    ],
    ['{ provider: google }', 'limit 1 ("google") sets no limit'],
    [
      '{ provider: google, connections: 1 }, { provider: google, connections: 2 }',
      'limit 2 ("google") is listed twice',
    ],
  ] as const)
    assert.throws(
      withLimits(text),
      (error: Error) => error.message.includes(`"delivery.limits": ${says}`),
      text,
    );
});

test('every key but a list of objects has a variable of its own', () => {
  const settings = leaves(configSchema);
  const lists = settings.filter(({ schema }) => isListOfObjects(schema)).map(({ path }) => path.join('.'));
  assert.deepEqual(lists, [
    'tls.certificates',
    'inbound.dnsbl',
    'outbound.routes',
    'outbound.sources',
    'outbound.pools',
    'delivery.limits',
  ]);
  refused(
    () => loadConfig({ env: { POSTRIDER_TLS_CERTIFICATES: 'a.pem' } }),
    'POSTRIDER_TLS_CERTIFICATES: "tls.certificates" can be set in a configuration file only',
  );
  const names = settings.map(({ path }) => environmentName(path));
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.includes('POSTRIDER_DELIVERY_TRANSACTIONAL_MAX_AGE_HOURS'));
});

test('an unknown key is refused with its file', () => {
  const top = writeFile('hostname: mail.example.com\nhostnam: x\n');
  refused(() => loadConfig({ file: top, env: {} }), top, '"hostnam" is not a setting');
  const inner = writeFile('hostname: mail.example.com\nhttp:\n  prot: 80\n');
  refused(() => loadConfig({ file: inner, env: {} }), inner, '"http.prot" is not a setting');
});

test('a text that is not the address of a resolver is refused with the name of the setting', () => {
  const file = writeFile('hostname: mail.example.com\ndns:\n  servers: [127.0.0.1, nope]\n');
  refused(
    () => loadConfig({ file, env: {} }),
    file,
    '"dns.servers": "nope" is not the address of a resolver',
  );
});

test('a relative data directory starts at the folder of the file that names it', () => {
  const file = writeFile('hostname: mail.example.com\ndataDir: mail\n');
  assert.equal(loadConfig({ file, env: {} }).dataDir, join(directory, 'mail'));
  const env = { POSTRIDER_DATA_DIR: 'here' };
  assert.equal(loadConfig({ file, env }).dataDir, join(process.cwd(), 'here'));
});

test('files of certificates start at the folder of the configuration file', () => {
  const text = 'hostname: mail.example.com\ntls:\n  certificates:\n';
  const file = writeFile(`${text}    - certificate: tls/chain.pem\n      key: /etc/tls/key.pem\n`);
  assert.deepEqual(loadConfig({ file, env: {} }).tls.certificates, [
    { certificate: join(directory, 'tls/chain.pem'), key: '/etc/tls/key.pem' },
  ]);
  assert.deepEqual(loadConfig({ env: {} }).tls.certificates, []);
  const withoutKey = writeFile(`${text}    - certificate: a.pem\n`);
  refused(() => loadConfig({ file: withoutKey, env: {} }), withoutKey, '"tls.certificates[0]"', 'key');
  const misspelt = writeFile(`${text}    - { certificate: a.pem, key: a.pem, name: a }\n`);
  refused(() => loadConfig({ file: misspelt, env: {} }), '"tls.certificates[0].name" is not a setting');
  const noList = writeFile('hostname: mail.example.com\ntls:\n  certificates: a.pem\n');
  refused(() => loadConfig({ file: noList, env: {} }), noList, '"tls.certificates"');
});

test('a value that does not fit is refused with its key and where it came from', () => {
  const wrongType = writeFile('hostname: mail.example.com\nhttp:\n  port: eighty\n');
  refused(() => loadConfig({ file: wrongType, env: {} }), wrongType, '"http.port"');
  const tooMuch = writeFile('hostname: mail.example.com\nhttp:\n  port: 65536\n');
  refused(() => loadConfig({ file: tooMuch, env: {} }), tooMuch, '"http.port"');
  const notASection = writeFile('hostname: mail.example.com\nhttp: 80\n');
  refused(() => loadConfig({ file: notASection, env: {} }), notASection, '"http"');
  refused(() => loadConfig({ env: { POSTRIDER_HTTP_PORT: '80x' } }), 'POSTRIDER_HTTP_PORT', '"http.port"');
  refused(
    () => loadConfig({ env: { POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'yes' } }),
    'POSTRIDER_WEBHOOKS_ALLOW_HTTP',
    '"webhooks.allowHttp"',
  );
  refused(() => loadConfig({ env: { POSTRIDER_LOG_LEVEL: 'loud' } }), 'POSTRIDER_LOG_LEVEL', '"log.level"');
});

test('rules that a schema cannot express are checked too', () => {
  refused(() => loadConfig({ env: { POSTRIDER_HOSTNAME: 'a b' } }), 'POSTRIDER_HOSTNAME', '"hostname"');
  refused(
    () => loadConfig({ env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.1' } }),
    'POSTRIDER_OUTBOUND_ALLOW_TARGETS',
    '"outbound.allowTargets"',
    '127.0.0.1',
  );
  for (const address of ['192.0.2.0/24', 'mail.example.com', 'fe80::1%eth0', '']) {
    refused(
      () => loadConfig({ env: { POSTRIDER_DOMAINS_ADDRESSES: `192.0.2.1,${address},::1` } }),
      'POSTRIDER_DOMAINS_ADDRESSES',
      '"domains.addresses"',
      `${address} is not an IP address`,
    );
    refused(
      () => loadConfig({ env: { POSTRIDER_HTTP_TRUSTED_PROXIES: `192.0.2.1,${address}` } }),
      'POSTRIDER_HTTP_TRUSTED_PROXIES',
      '"http.trustedProxies"',
      `${address} is not an IP address`,
    );
  }
});

test('the name server needs the addresses of the machine, addresses to listen on, and names', () => {
  const enabled = { POSTRIDER_NAMESERVER_ENABLED: 'true' };
  const addresses = { POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1' };
  refused(() => loadConfig({ env: enabled }), 'POSTRIDER_NAMESERVER_ENABLED', '"domains.addresses"');
  assert.equal(loadConfig({ env: { ...enabled, ...addresses } }).nameserver.port, 53);
  refused(
    () => loadConfig({ env: { ...addresses, POSTRIDER_NAMESERVER_ADDRESSES: 'localhost' } }),
    'POSTRIDER_NAMESERVER_ADDRESSES',
    'localhost is not an IP address',
  );
  refused(
    () => loadConfig({ env: { ...addresses, POSTRIDER_NAMESERVER_NAMES: 'ns1.example.com,a b' } }),
    'POSTRIDER_NAMESERVER_NAMES',
    '"a b" is not a host name',
  );
});

test('dynamic updates need a server, a key, zones, and addresses that do not depend on DNS', () => {
  const update = {
    POSTRIDER_HOSTNAME: 'mx.example.com',
    POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
    POSTRIDER_DNS_UPDATE_SERVER: '192.0.2.53',
    POSTRIDER_DNS_UPDATE_KEY: '/etc/postrider/tsig.key',
    POSTRIDER_DNS_UPDATE_ZONES: 'example.com',
  };
  assert.deepEqual(loadConfig({ env: update }).dns.update, {
    server: '192.0.2.53',
    key: '/etc/postrider/tsig.key',
    zones: ['example.com'],
  });
  for (const [name, value, text] of [
    ['SERVER', 'ns1.example.com', 'is not an address'],
    ['KEY', '', '"dns.update.key"'],
    ['ZONES', '', '"dns.update.zones"'],
    ['ZONES', 'a b', '"a b" is not a zone'],
    ['ZONES', 'x.example.com', 'must have the zone of the hostname'],
  ] as const)
    refused(
      () => loadConfig({ env: { ...update, [`POSTRIDER_DNS_UPDATE_${name}`]: value } }),
      'POSTRIDER_DNS',
      text,
    );
  refused(
    () => loadConfig({ env: { ...update, POSTRIDER_DOMAINS_ADDRESSES: '' } }),
    'POSTRIDER_DNS_UPDATE_SERVER',
    '"domains.addresses"',
  );
});

test('retention is in days, and nothing outlives what it depends on', () => {
  const days = {
    contentDays: 30,
    eventDays: 90,
    emailDays: 400,
    webhookDays: 30,
    requestDays: 7,
    inboundDays: 7,
    engagementDays: 30,
  };
  assert.deepEqual(loadConfig({ env: {} }).retention, days);
  const env = {
    POSTRIDER_RETENTION_CONTENT_DAYS: '7',
    POSTRIDER_RETENTION_EVENT_DAYS: '7',
    POSTRIDER_RETENTION_EMAIL_DAYS: '7',
    POSTRIDER_RETENTION_WEBHOOK_DAYS: '7',
    POSTRIDER_RETENTION_ENGAGEMENT_DAYS: '7',
  };
  const week = {
    contentDays: 7,
    eventDays: 7,
    emailDays: 7,
    webhookDays: 7,
    requestDays: 7,
    inboundDays: 7,
    engagementDays: 7,
  };
  assert.deepEqual(loadConfig({ env }).retention, week);
  for (const [name, shorter, longer] of [
    ['POSTRIDER_RETENTION_CONTENT_DAYS', 'contentDays', 'emailDays'],
    ['POSTRIDER_RETENTION_EVENT_DAYS', 'eventDays', 'emailDays'],
    ['POSTRIDER_RETENTION_WEBHOOK_DAYS', 'webhookDays', 'eventDays'],
  ] as const) {
    const message = `"retention.${shorter}" must be at most "retention.${longer}", which is 7`;
    refused(() => loadConfig({ env: { ...env, [name]: '8' } }), `${name}: ${message}`);
  }
  refused(() => loadConfig({ env: { POSTRIDER_RETENTION_CONTENT_DAYS: '0' } }), 'retention.contentDays');
  for (const value of ['0', '31', '400'])
    refused(
      () => loadConfig({ env: { POSTRIDER_RETENTION_ENGAGEMENT_DAYS: value } }),
      'retention.engagementDays',
    );
});

test('a variable that sets nothing is refused by name', () => {
  refused(() => loadConfig({ env: { POSTRIDER_HTP_PORT: '80' } }), 'POSTRIDER_HTP_PORT');
  for (const wrong of ['nowhere', 'nowhere/bounce'])
    refused(() => loadConfig({ env: { POSTRIDER_CRASH_AT: wrong } }), 'POSTRIDER_CRASH_AT', wrong);
  refused(() => loadConfig({ env: { POSTRIDER_UNSAFE_SYNCHRONOUS: 'OFF' } }), 'POSTRIDER_UNSAFE_SYNCHRONOUS');
});

test('a file without a host name is refused, unless the environment has one', () => {
  const file = writeFile('http:\n  port: 80\n');
  refused(() => loadConfig({ file, env: {} }), file, '"hostname"');
  assert.equal(loadConfig({ file, env: { POSTRIDER_HOSTNAME: 'a.example' } }).hostname, 'a.example');
});

test('a file that is missing, unreadable or not a mapping is refused by name', () => {
  const missing = join(directory, 'missing.yaml');
  refused(() => loadConfig({ file: missing, env: {} }), missing);
  const list = writeFile('- a\n- b\n');
  refused(() => loadConfig({ file: list, env: {} }), list);
  const broken = writeFile('hostname: "open');
  assert.throws(() => loadConfig({ file: broken, env: {} }), ConfigError);
});
