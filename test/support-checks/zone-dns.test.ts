import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zoneDns } from '../support/zone-dns.ts';

const ZONE = `
; a comment
example.com.          300 IN MX  10 mx1.example.com.
example.com           MX  5 mx2.example.com
mx1.example.com       A     192.0.2.1   ; trailing comment
mx1.example.com       A     192.0.2.2
mx1.example.com       AAAA  2001:db8::1
www.example.com       CNAME mx1.example.com
deep._domainkey.example.com TXT "v=DKIM1; k=rsa; " "p=abc"
alias._domainkey.example.com IN CNAME deep._domainkey.example.com
dangling.example.com  CNAME nowhere.example.com
one.example.com       CNAME two.example.com
two.example.com       CNAME one.example.com
null.example.com      MX 0 .
quoted.example.com    TXT "say \\"hi\\" \\065"
`;

test('records of a name are found in the order they were written, whatever the case and final dot', async () => {
  const dns = zoneDns(ZONE);
  assert.deepEqual(await dns.mx('Example.COM.'), {
    kind: 'found',
    records: [
      { exchange: 'mx1.example.com', preference: 10 },
      { exchange: 'mx2.example.com', preference: 5 },
    ],
    ttlMs: 60_000,
  });
  assert.deepEqual(await dns.a('mx1.example.com'), {
    kind: 'found',
    records: ['192.0.2.1', '192.0.2.2'],
    ttlMs: 60_000,
  });
  assert.deepEqual(await dns.aaaa('mx1.example.com'), {
    kind: 'found',
    records: ['2001:db8::1'],
    ttlMs: 60_000,
  });
});

test('a name without the asked type is no-data, a name that is not there is no-name', async () => {
  const dns = zoneDns(ZONE);
  assert.deepEqual(await dns.txt('mx1.example.com'), { kind: 'no-data', ttlMs: 60_000 });
  assert.deepEqual(await dns.a('missing.example.com'), { kind: 'no-name' });
});

test('a name that has only names below it exists', async () => {
  assert.deepEqual(await zoneDns(ZONE).txt('_domainkey.example.com'), { kind: 'no-data', ttlMs: 60_000 });
});

test('an answer holds as long as the least of its records and aliases', async () => {
  const dns = zoneDns(`
    a.example      300 A     192.0.2.1
    a.example      200 A     192.0.2.2
    alias.example   90 CNAME a.example
    short.example   10 CNAME a.example
    b.example          TXT   "x"
  `);
  const ttls = [];
  for (const answer of [
    await dns.a('a.example'),
    await dns.a('alias.example'),
    await dns.mx('short.example'),
  ]) {
    ttls.push('ttlMs' in answer && answer.ttlMs);
  }
  assert.deepEqual(ttls, [200_000, 90_000, 10_000]);
});

test('aliases are followed for every type but CNAME itself', async () => {
  const dns = zoneDns(ZONE);
  assert.deepEqual(await dns.a('www.example.com'), {
    kind: 'found',
    records: ['192.0.2.1', '192.0.2.2'],
    ttlMs: 60_000,
  });
  assert.deepEqual(await dns.txt('alias._domainkey.example.com'), {
    kind: 'found',
    records: ['v=DKIM1; k=rsa; p=abc'],
    ttlMs: 60_000,
  });
  assert.deepEqual(await dns.cname('www.example.com'), {
    kind: 'found',
    records: ['mx1.example.com'],
    ttlMs: 60_000,
  });
  assert.deepEqual(await dns.txt('www.example.com'), { kind: 'no-data', ttlMs: 60_000 });
  assert.deepEqual(await dns.a('dangling.example.com'), { kind: 'no-name' });
});

test('aliases that go round in a circle fail as a resolver would', async () => {
  assert.deepEqual(await zoneDns(ZONE).a('one.example.com'), { kind: 'failed', reason: 'ESERVFAIL' });
});

test('a null MX has an empty exchange', async () => {
  const records = [{ exchange: '', preference: 0 }];
  assert.deepEqual(await zoneDns(ZONE).mx('null.example.com'), { kind: 'found', records, ttlMs: 60_000 });
});

test('text keeps its quotes and decimal escapes, and joins again when it is longer than a character-string', async () => {
  assert.deepEqual(await zoneDns(ZONE).txt('quoted.example.com'), {
    kind: 'found',
    records: ['say "hi" A'],
    ttlMs: 60_000,
  });
  const long = 'x'.repeat(600);
  assert.deepEqual(await zoneDns(`long.example TXT "${long}"`).txt('long.example'), {
    kind: 'found',
    records: [long],
    ttlMs: 60_000,
  });
});

test('a named failure answers for the name and for what leads to it, until it is healed', async () => {
  const dns = zoneDns(ZONE);
  dns.fail('mx1.example.com', 'ETIMEOUT');
  assert.deepEqual(await dns.a('mx1.example.com'), { kind: 'failed', reason: 'ETIMEOUT' });
  assert.deepEqual(await dns.a('www.example.com'), { kind: 'failed', reason: 'ETIMEOUT' });
  dns.heal('mx1.example.com');
  assert.equal((await dns.a('www.example.com')).kind, 'found');
});

test('a new zone replaces the old one', async () => {
  const dns = zoneDns('a.example A 192.0.2.1');
  dns.setZone('b.example A 192.0.2.2');
  assert.deepEqual(await dns.a('a.example'), { kind: 'no-name' });
  assert.deepEqual(await dns.a('b.example'), { kind: 'found', records: ['192.0.2.2'], ttlMs: 60_000 });
});

test('a text that is not a host name never reaches the resolver', async () => {
  assert.deepEqual(await zoneDns(ZONE).a('mx1.example.com\0.evil'), {
    kind: 'failed',
    reason: 'not a host name',
  });
});

test('a line that cannot be read is an error that shows it', () => {
  assert.throws(() => zoneDns('example.com CAA 0 issue ca.example'), /cannot read: example\.com CAA/);
  assert.throws(() => zoneDns('example.com MX mx.example.com'), /cannot read/);
  assert.throws(() => zoneDns('example.com TXT "open'), /open quote/);
  assert.throws(() => zoneDns('a.example CNAME b.example\na.example TXT "x"'), /CNAME and other records/);
});
