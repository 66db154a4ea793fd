import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from 'dns-packet';
import { zoneRecords } from '../../src/nameserver/zone/records.ts';
import { buildZone } from '../../src/nameserver/zone/zone.ts';
import { CLIENT, HOST, query, read, type Seen, testConfig, testResponder } from './zone.ts';

const SOA = `${HOST} SOA ns.${HOST} hostmaster.${HOST} 7 3600 600 1209600 60`;
const responder = testResponder();
const ask = (name: string, type: string, queryClass = 'IN'): Seen =>
  read(responder.respondToSegment(query(name, type, undefined, queryClass), CLIENT));

test('the zone answers with authority for its names, whatever their case, and follows its own aliases', () => {
  const found = ask(`MX.PostRider.example`, 'A');
  assert.equal(found.isAuthoritative, true);
  assert.deepEqual(found.answers, ['MX.PostRider.example A 192.0.2.1']);
  assert.deepEqual(ask(`track.${HOST}`, 'AAAA').answers, [
    `track.${HOST} CNAME ${HOST}`,
    `${HOST} AAAA 2001:db8::1`,
  ]);
  assert.deepEqual(ask(`track.${HOST}`, 'CNAME').answers, [`track.${HOST} CNAME ${HOST}`]);
  assert.deepEqual(ask(`bounce.${HOST}`, 'MX').answers, [`bounce.${HOST} MX 10 ${HOST}`]);
  assert.deepEqual(ask(HOST, 'SOA').answers, [SOA]);
});

test('the name servers come with their addresses', () => {
  const found = ask(HOST, 'NS');
  assert.deepEqual(found.answers, [`${HOST} NS ns.${HOST}`]);
  assert.deepEqual(found.additionals, [`ns.${HOST} A 192.0.2.1`, `ns.${HOST} AAAA 2001:db8::1`]);
});

test('a name that is not there is NXDOMAIN, and one without the type has no data, both with SOA', () => {
  for (const [name, type, code] of [
    [`nobody.${HOST}`, 'A', 3],
    [`a.b.c.${HOST}`, 'TXT', 3],
    [`x.track.${HOST}`, 'A', 3],
    [HOST, 'SRV', 0],
    // A name that only has names below it exists (RFC 8020 section 2).
    [`_dmarc.${HOST}`, 'TXT', 0],
    [`_report._dmarc.${HOST}`, 'TXT', 0],
    [`_dmarc.${HOST}`, 'ANY', 0],
    // Only the parent zone has DS.
    [HOST, 'DS', 0],
  ] as const) {
    const found = ask(name, type);
    assert.deepEqual([found.code, found.answers, found.authorities], [code, [], [SOA]], `${name} ${type}`);
    assert.equal(found.isAuthoritative, true);
  }
});

test('a wildcard answers for all names below it that are not there, and for no type that it does not have', () => {
  const name = `example.com._report._dmarc.${HOST}`;
  assert.deepEqual(ask(name, 'TXT').answers, [`${name} TXT v=DMARC1`]);
  assert.deepEqual(ask(`*._report._dmarc.${HOST}`, 'TXT').answers, [`*._report._dmarc.${HOST} TXT v=DMARC1`]);
  const none = ask(name, 'A');
  assert.deepEqual([none.code, none.answers, none.authorities], [0, [], [SOA]]);
});

test('everything outside the zone is refused: names, classes, transfers', () => {
  for (const [name, type, queryClass] of [
    ['postrider.example', 'A', 'IN'],
    ['example', 'A', 'IN'],
    ['.', 'NS', 'IN'],
    [`x${HOST}`, 'A', 'IN'],
    ['other.example.org', 'A', 'IN'],
    [HOST, 'AXFR', 'IN'],
    [HOST, 'IXFR', 'IN'],
    [HOST, 'TXT', 'CH'],
  ] as const) {
    const found = ask(name, type, queryClass);
    assert.deepEqual([found.code, found.answers, found.authorities], [5, [], []], `${name} ${type}`);
    assert.equal(found.isAuthoritative, false);
  }
});

test('a question for any type gets one small record (RFC 8482)', () => {
  assert.deepEqual(ask(HOST, 'ANY').answers, [`${HOST} HINFO RFC8482 `]);
  assert.equal(ask(`nobody.${HOST}`, 'ANY').code, 3);
});

test('a text that is longer than 255 octets comes in several strings, and is cut over UDP without EDNS', () => {
  const value = 'v=DKIM1; p='.padEnd(600, 'A');
  const records = zoneRecords(testConfig(), [
    { type: 'TXT', name: `k._domainkey.${HOST}`, value, purpose: '' },
  ]);
  const zone = buildZone(records, { apex: HOST, primary: `ns.${HOST}`, serial: 1 });
  const { respondToDatagram, respondToSegment } = testResponder(zone);
  const asked = query(`k._domainkey.${HOST}`, 'TXT');
  const cut = respondToDatagram(asked, CLIENT);
  assert.deepEqual([read(cut).isTruncated, read(cut).answers, cut?.length], [true, [], asked.length]);
  const whole = [`k._domainkey.${HOST} TXT ${value}`];
  assert.deepEqual(read(respondToSegment(asked, CLIENT)).answers, whole);
  const large = query(`k._domainkey.${HOST}`, 'TXT', { payloadBytes: 4_096 });
  assert.deepEqual(read(respondToDatagram(large, CLIENT)).answers, whole);
});

test('where a proxy has the ports of HTTPS, and orders certificates with another account, CAA is left out', () => {
  const config = testConfig();
  const caa = { type: 'CAA', name: HOST, value: '0 issue "ca.example"', purpose: '' } as const;
  const typesOf = (enabled: boolean) =>
    zoneRecords({ ...config, https: { ...config.https, enabled } }, [caa]).map(({ type }) => type);
  assert.ok(typesOf(true).includes('CAA'));
  assert.ok(!typesOf(false).includes('CAA'));
});

test('a CAA record is answered as it is printed', () => {
  const value = '0 issue "ca.example; accounturi=https://ca.example/acct/1"';
  const records = zoneRecords(testConfig(), [{ type: 'CAA', name: HOST, value, purpose: '' }]);
  const { respondToSegment } = testResponder(
    buildZone(records, { apex: HOST, primary: `ns.${HOST}`, serial: 1 }),
  );
  const [answer] = decode(respondToSegment(query(HOST, 'CAA'), CLIENT) ?? Buffer.alloc(0)).answers ?? [];
  assert.deepEqual(answer?.data, {
    flags: 0,
    tag: 'issue',
    value: 'ca.example; accounturi=https://ca.example/acct/1',
    issuerCritical: false,
  });
});

test('the hosts of the public URLs are in the zone, and hosts elsewhere are not', () => {
  const config = testConfig({
    POSTRIDER_HTTP_PUBLIC_URL: `https://api.${HOST}`,
    POSTRIDER_LINKS_URL: 'https://links.example.org',
    POSTRIDER_NAMESERVER_NAMES: `NS1.${HOST},ns2.example.net`,
  });
  const records = zoneRecords(config, []).map(({ name, type, value }) => `${name} ${type} ${value}`);
  assert.deepEqual(records, [
    `${HOST} NS ns1.${HOST}`,
    `${HOST} NS ns2.example.net`,
    `ns1.${HOST} A 192.0.2.1`,
    `ns1.${HOST} AAAA 2001:db8::1`,
    `api.${HOST} A 192.0.2.1`,
    `api.${HOST} AAAA 2001:db8::1`,
  ]);
});

test('before the zone is loaded, the server says that it has failed', () => {
  const early = testResponder(null);
  assert.equal(read(early.respondToDatagram(query(HOST, 'A'), CLIENT)).code, 2);
});
