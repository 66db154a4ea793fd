import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Check } from '../../../src/doctor/check.ts';
import { address } from '../../../src/doctor/checks/address.ts';
import { blocklists } from '../../../src/doctor/checks/blocklists.ts';
import { dane } from '../../../src/doctor/checks/dane.ts';
import { dnsRecords } from '../../../src/doctor/checks/dns-records.ts';
import { reverseDns } from '../../../src/doctor/checks/reverse-dns.ts';
import { tlsa } from '../../../src/doctor/checks/tlsa.ts';
import { lines, openDoctorWorld } from '../support.ts';

const world = await openDoctorWorld();
after(() => world.close());

/** Runs a check with this zone, and returns its findings as lines. */
async function findings(check: Check, zone: string, change: Partial<typeof world.context> = {}) {
  world.dns.setZone(zone);
  return lines(await check.run({ ...world.context, ...change }));
}

const HOST = 'mx.postrider.example A 192.0.2.1\n';
const REVERSE = '1.2.0.192.in-addr.arpa PTR';

test('a hostname without an address, or without an answer, fails', async () => {
  assert.deepEqual(await findings(address, HOST), ['ok mx.postrider.example: it leads to 192.0.2.1']);
  assert.deepEqual(await findings(address, ''), ['fail mx.postrider.example: it has no address in DNS']);
  const config = { ...world.app.config, domains: { addresses: ['192.0.2.1', '192.0.2.9'] } };
  assert.match(
    (await findings(address, HOST, { config })).join(),
    /^warn .* but not 192\.0\.2\.9 of domains\.addresses$/,
  );
  world.dns.fail('mx.postrider.example', 'ETIMEOUT');
  assert.match((await findings(address, '')).join(), /^fail .*: DNS does not answer \(ETIMEOUT\)/);
  world.dns.heal('mx.postrider.example');
});

test('reverse DNS leads back to the hostname, by a name that has the address', async () => {
  assert.match((await findings(reverseDns, HOST)).join(), /^fail 192\.0\.2\.1: it has no reverse DNS$/);
  const good = await findings(reverseDns, `${HOST}${REVERSE} mx.postrider.example`);
  assert.deepEqual(good, ['ok 192.0.2.1: it leads back to mx.postrider.example']);
  const other = await findings(
    reverseDns,
    `${HOST}${REVERSE} vm7.host.example\nvm7.host.example A 192.0.2.1`,
  );
  assert.match(other.join(), /^warn .* names vm7\.host\.example instead of mx\.postrider\.example$/);
  const unconfirmed = await findings(
    reverseDns,
    `${REVERSE} mx.postrider.example\nmx.postrider.example A 192.0.2.2`,
  );
  assert.match(unconfirmed.join(), /^fail .* which does not lead to it$/);
  world.dns.fail('1.2.0.192.in-addr.arpa', 'ESERVFAIL');
  assert.match((await findings(reverseDns, HOST)).join(), /^warn .* is not known \(ESERVFAIL\)$/);
  world.dns.heal('1.2.0.192.in-addr.arpa');
});

const WORKING = ['zen.spamhaus.org', 'bl.spamcop.net', 'psbl.surriel.com']
  .map((zone) => `2.0.0.127.${zone} A 127.0.0.2\n`)
  .join('');

test('an address that a blocklist has fails', async () => {
  const clear = await findings(blocklists, WORKING);
  assert.equal(clear.filter((line) => line.startsWith('ok ')).length, 3, clear.join('\n'));
  const listed = await findings(blocklists, `${WORKING}1.2.0.192.zen.spamhaus.org A 127.0.0.3`);
  assert.deepEqual(
    listed.filter((line) => !line.startsWith('ok ')),
    ['fail zen.spamhaus.org: it has 192.0.2.1'],
  );
});

test('through a public resolver nothing is known of blocklists, and an error of a list is no listing', async () => {
  const listed = `${WORKING}1.2.0.192.zen.spamhaus.org A 127.0.0.3`;
  for (const resolver of ['8.8.8.8', '1.1.1.1:53', '[2001:4860:4860::8888]:53']) {
    const found = await findings(blocklists, listed, { resolvers: () => [resolver] });
    assert.match(found.join(), /^warn resolver: not known: \S+ is a public resolver/, resolver);
  }
  const refused = `${WORKING}1.2.0.192.zen.spamhaus.org A 127.255.255.254`;
  assert.match((await findings(blocklists, refused)).join('\n'), /^warn zen\.spamhaus\.org: not known/m);
  const silent = WORKING.replace(/^2.*zen.*$/m, '');
  assert.match((await findings(blocklists, silent)).join('\n'), /^warn zen\.spamhaus\.org: not known/m);
});

test('missing and different records of the installation fail, and those of the table are enough', async () => {
  const config = { ...world.app.config, domains: { addresses: ['192.0.2.1'] } };
  const missing = await findings(dnsRecords, 'bounce.mx.postrider.example MX 10 old.example', { config });
  assert.ok(
    missing.includes('fail MX bounce.mx.postrider.example: DNS has 10 old.example instead'),
    missing.join('\n'),
  );
  assert.ok(missing.includes('fail TXT _spf.mx.postrider.example: the record is missing'));
  assert.ok(missing.every((line) => line.startsWith('fail ')));
  const names = ['bounce', 'sandbox'].map((label) => `${label}.mx.postrider.example`);
  for (const name of names) world.dns.fail(name, 'ETIMEOUT');
  const unknown = await findings(dnsRecords, '', { config });
  for (const name of names) world.dns.heal(name);
  assert.match(
    unknown.join('\n'),
    /^warn mx\.postrider\.example: nothing is known of \d+ records \(ETIMEOUT\)$/m,
  );
});

test('resolvers that are believed must prove that they validate, or else DANE is not used', async () => {
  const config = { ...world.app.config, outbound: { ...world.app.config.outbound, dane: false } };
  assert.match((await findings(dane, '', { config })).join(), /^ok resolvers: DANE is turned off/);
  const elsewhere = { resolvers: () => ['127.0.0.1', '192.0.2.53'] };
  assert.match((await findings(dane, '', elsewhere)).join(), /^ok .* not used: 192\.0\.2\.53 is neither/);
  const { dns } = world.app.config;
  const trusting = {
    ...elsewhere,
    config: { ...world.app.config, dns: { ...dns, trusted: ['192.0.2.53'] } },
  };
  assert.match((await findings(dane, 'org TXT "x"', trusting)).join(), /^warn .* do not validate DNSSEC/);
  world.dns.sign('org');
  assert.match((await findings(dane, 'org TXT "x"', trusting)).join(), /^ok .* so DANE is obeyed$/);
  world.dns.sign('org', 'arpa');
  assert.match((await findings(dane, 'org TXT "x"')).join(), /^warn .* do not validate DNSSEC/);
  world.dns.fail('org', 'ESERVFAIL');
  assert.match(
    (await findings(dane, '')).join(),
    /^warn .* \(org: ESERVFAIL\), and mail to signed domains waits$/,
  );
  world.dns.heal('org');
});

test('a TLSA record that names no key in use fails', async () => {
  const name = '_25._tcp.mx.postrider.example';
  const status = {
    kind: 'configured',
    certificate: 'c',
    key: 'k',
    names: ['mx'],
    keyType: 'rsa',
    validFrom: null,
  } as const;
  const list = async () => [{ ...status, expiresAt: null, tlsa: '3 1 1 ab01', problem: null, order: null }];
  const change = { certificates: { list } };
  assert.match((await findings(tlsa, '', change)).join(), /^ok .* no TLSA records are published/);
  assert.match((await findings(tlsa, `${name} TLSA 3 1 1 AB01`, change)).join(), /^ok .* a key in use$/);
  assert.match(
    (await findings(tlsa, `${name} TLSA 3 1 1 ffff`, change)).join(),
    /^fail .* name no key in use/,
  );
  assert.match(
    (await findings(tlsa, `${name} TLSA 2 0 1 ffff`, change)).join(),
    /^warn .* another kind than 3 1 1/,
  );
});
