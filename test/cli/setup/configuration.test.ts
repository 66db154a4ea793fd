import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readAnswers, type SetupOptions } from '../../../src/cli/setup/answers.ts';
import { findPlaces, writeConfiguration } from '../../../src/cli/setup/configuration.ts';
import { adapt, writeProxyFile } from '../../../src/cli/setup/proxy.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

function answersTo(options: SetupOptions, address = 'you@example.com') {
  return readAnswers(address, { yes: true, ...options }, fakeTerminal());
}

function places() {
  const folder = temporaryDirectory('setup');
  return { file: join(folder, 'postrider.yaml'), dataDir: join(folder, 'data') };
}

test('without a file of its own, the configuration is where the packages expect it, or in the current folder', () => {
  assert.deepEqual(findPlaces({}, undefined, true), {
    file: '/etc/postrider/config.yaml',
    dataDir: '/var/lib/postrider',
  });
  const own = findPlaces({}, undefined, false);
  assert.deepEqual(own, {
    file: join(process.cwd(), 'postrider.yaml'),
    dataDir: join(process.cwd(), 'postrider-data'),
  });
  const named = findPlaces(
    { POSTRIDER_DATA_DIR: '/srv/mail', POSTRIDER_CONFIG: '/srv/a.yaml' },
    undefined,
    true,
  );
  assert.deepEqual(named, { file: '/srv/a.yaml', dataDir: '/srv/mail' });
});

test('the data directory is that of the configuration, where that names one', () => {
  const { file } = places();
  writeFileSync(file, 'hostname: mx.example.com\ndataDir: mine\n');
  assert.equal(findPlaces({}, file, false).dataDir, join(dirname(file), 'mine'));
  assert.equal(findPlaces({ POSTRIDER_DATA_DIR: '/srv/mail' }, file, false).dataDir, '/srv/mail');
});

test('a new configuration has the name, the operator, the addresses and the authority', () => {
  const at = places();
  const { config, hasChanged } = writeConfiguration(
    at,
    answersTo({ address: ['192.0.2.1', '2001:db8::1'] }),
    {},
  );
  assert.equal(hasChanged, true);
  assert.equal(config.hostname, 'mail.example.com');
  assert.equal(config.dataDir, at.dataDir);
  assert.equal(config.backup.time, '02:30');
  assert.deepEqual(config.operator, { email: 'you@example.com' });
  assert.deepEqual(config.domains.addresses, ['192.0.2.1', '2001:db8::1']);
  assert.equal(config.acme.directory, 'https://acme-v02.api.letsencrypt.org/directory');
  const again = writeConfiguration(at, answersTo({ address: ['192.0.2.1', '2001:db8::1'] }), {});
  assert.equal(again.hasChanged, false);
});

test('what the operator wrote stays, and an option changes what it asks for', () => {
  const at = places();
  const text = '# mine\nhostname: mx.example.com\ntls: { certificates: [] }\nhttp: { port: 8026 }\n';
  writeFileSync(at.file, text);
  const first = writeConfiguration(at, answersTo({ address: ['192.0.2.1', '2001:db8::1'], acme: false }), {});
  assert.equal(first.config.hostname, 'mx.example.com');
  assert.equal(first.config.acme.directory, '');
  assert.equal(first.config.outbound.ipv6, true);
  const changed = answersTo({
    address: ['192.0.2.1', '2001:db8::1'],
    ipv4Only: true,
    acme: false,
    behindProxy: 'nginx',
  });
  const { config } = writeConfiguration(at, changed, {});
  assert.deepEqual(config.domains.addresses, ['192.0.2.1']);
  assert.equal(config.outbound.ipv6, false);
  assert.deepEqual([config.https.enabled, config.http.port], [false, 8026]);
  assert.deepEqual(config.http.trustedProxies, ['127.0.0.1']);
  assert.equal(config.http.publicUrl, 'https://mx.example.com');
  assert.match(readFileSync(at.file, 'utf8'), /^# mine\n/);

  const [finding] = writeProxyFile(at.file, config, changed);
  assert.equal(finding?.level, 'warn');
  const written = readFileSync(join(at.file, '../nginx.conf'), 'utf8');
  assert.match(written, /server_name mx\.example\.com track\.mx\.example\.com mta-sts\.example\.com /);
  assert.match(written, /proxy_pass http:\/\/127\.0\.0\.1:8026;/);
});

test('a machine has one installation', () => {
  const at = places();
  writeConfiguration(at, answersTo({}), {});
  const others = [answersTo({}, 'you@example.org'), answersTo({ hostname: 'mx.example.com' })];
  for (const other of others)
    assert.throws(
      () => writeConfiguration(at, other, {}),
      /a machine has one installation: add domains with/,
    );
  writeFileSync(at.file, 'hostname: [');
  assert.throws(() => writeConfiguration(at, answersTo({}), {}), { name: 'CommandError' });
});

test('the example of a proxy gets the names and the port of the machine', () => {
  const example = 'mx.example.com, track.mx.example.com, mta-sts.example.com { 127.0.0.1:8025 }';
  const names = { hostname: 'mail.shop.example', domain: 'shop.example', port: 9000 };
  assert.equal(
    adapt(example, names),
    'mail.shop.example, track.mail.shop.example, mta-sts.shop.example { 127.0.0.1:9000 }',
  );
});

test('wrong options are named before anything is written', () => {
  const wrong: [string, SetupOptions, RegExp][] = [
    ['you', {}, /is not an address/],
    ['you@example.com', { hostname: 'a b' }, /is not a host name/],
    ['you@example.com', { address: ['example.com'] }, /--address: .* is not an IP address/],
    ['you@example.com', { testTo: 'me' }, /--test-to/],
    ['you@example.com', { relay: 'relay.example' }, /is not a URL such as smtp/],
    ['you@example.com', { relay: 'smtp://me:secret@relay.example' }, /read from standard input/],
  ];
  for (const [address, options, expected] of wrong)
    assert.throws(() => answersTo(options, address), { name: 'UsageError', message: expected });
  assert.throws(
    () => readAnswers('you@example.com', {}, fakeTerminal()),
    /nobody can be asked here: add --yes/,
  );
  assert.deepEqual(answersTo({ relay: 'smtps://me%40shop.example@relay.example' }).relay, {
    ...{ host: 'relay.example', port: 465, tls: 'implicit', user: 'me@shop.example' },
  });
});
