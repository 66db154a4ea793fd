import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findReportDestinations } from '../../../src/mail/dmarc/destinations.ts';
import { type ZoneDns, zoneDns } from '../../support/zone-dns.ts';

const OWN_HOST = 'mx.postrider.example';
const ask = (dns: ZoneDns, domain: string) => findReportDestinations(dns, { domain, ownHost: OWN_HOST });

/** Returns the addresses for reports about this domain, which a.example is unless it is given. */
async function find(rua: string, zone = '', domain = 'a.example'): Promise<string | readonly string[]> {
  const dns = zoneDns(`_dmarc.${domain} TXT "v=DMARC1; p=reject; rua=${rua}"\n${zone}`);
  const found = await ask(dns, domain);
  return found.kind === 'found' ? found.addresses : found.kind;
}

test('reports go to the addresses of the domain and of names below it, whatever size they name', async () => {
  assert.deepEqual(await find('mailto:r@a.example!10m, mailto:x%21y@in.A.example!5,MAILTO:r@a.example'), [
    'r@a.example',
    'x!y@in.A.example',
  ]);
});

test('reports go to the addresses of the same organization, which the records of DMARC tell', async () => {
  const above = '_dmarc.a.example TXT "v=DMARC1; p=none"';
  const rua = 'mailto:r@a.example,mailto:s@b.a.example';
  assert.deepEqual(await find(rua, above, 'news.a.example'), ['r@a.example', 's@b.a.example']);
  // Without a record above it, each name is an organization of its own.
  assert.equal(await find(rua, '', 'news.a.example'), 'none');
  const own = '_dmarc.b.a.example TXT "v=DMARC1; p=none; psd=n"';
  assert.deepEqual(await find(rua, `${above}\n${own}`, 'news.a.example'), ['r@a.example']);
  const suffix = '_dmarc.a.example TXT "v=DMARC1; p=none; psd=Y"';
  assert.equal(await find('mailto:s@b.a.example', suffix, 'news.a.example'), 'none');
  assert.deepEqual(await find('mailto:s@x.news.a.example', suffix, 'news.a.example'), ['s@x.news.a.example']);
  assert.equal(await find('mailto:r@a.example', suffix, 'news.a.example'), 'none');
  const two = `${above}\n_dmarc.a.example TXT "v=DMARC1; p=reject"`;
  assert.equal(await find('mailto:r@a.example', two, 'news.a.example'), 'none');
  // The record of a top-level domain says nothing about who owns the names below it.
  assert.equal(await find('mailto:r@victim.example', '_dmarc.example TXT "v=DMARC1; p=none"'), 'none');
});

test('a name with many labels is not asked about at each of them', async () => {
  const deep = `${'x.'.repeat(20)}a.example`;
  const dns = zoneDns(
    `_dmarc.${deep} TXT "v=DMARC1; rua=mailto:r@a.example"\n_dmarc.a.example TXT "v=DMARC1; p=none"`,
  );
  let lookups = 0;
  const counting = {
    txt(name: string) {
      lookups += 1;
      return dns.txt(name);
    },
  };
  const found = await findReportDestinations(counting, { domain: deep, ownHost: OWN_HOST });
  assert.equal(found.kind, 'found');
  assert.equal(lookups, 1 + 8 + 2);
});

test('this installation takes reports about any domain, without a lookup', async () => {
  assert.deepEqual(await find(`mailto:reports+x@${OWN_HOST.toUpperCase()}`), [
    `reports+x@${OWN_HOST.toUpperCase()}`,
  ]);
  assert.equal(await find(`mailto:reports+x@other.${OWN_HOST}`), 'none');
});

test('what is no address is left out, and no more than four are used', async () => {
  for (const rua of [
    '',
    'https://a.example/',
    'mailto:',
    'mailto:r@a_',
    'mailto:r@a.example?subject=x',
    'mailto:%zz@a.example',
  ])
    assert.equal(await find(rua), 'none', rua);
  const many = Array.from({ length: 9 }, (_, index) => `mailto:r${index}@a.example`).join(',');
  assert.equal((await find(many)).length, 4);
  const crlf = 'mailto:r%0d%0aBcc:v@a.example';
  assert.equal(await find(crlf), 'none');
});

test('another domain gets reports only when it agrees, and may name other addresses of its own alone', async () => {
  const rua = 'mailto:r@b.example!9';
  const agreeing = (value: string) => `a.example._report._dmarc.b.example TXT "${value}"`;
  assert.equal(await find(rua), 'none');
  assert.equal(await find(rua, agreeing('anything')), 'none');
  assert.deepEqual(await find(rua, agreeing('v=DMARC1')), ['r@b.example']);
  assert.deepEqual(await find(rua, agreeing('v=DMARC1; rua=mailto:s@b.example')), ['s@b.example']);
  assert.equal(await find(rua, agreeing('v=DMARC1; rua=mailto:s@victim.example')), 'none');
  // The name of the victim only ends like the domain.
  assert.equal(await find('mailto:r@nota.example'), 'none');
});

test('a domain with no record, or with two, wants no reports, and one whose DNS fails is asked again', async () => {
  const dns = zoneDns(
    '_dmarc.two.example TXT "v=DMARC1; rua=mailto:r@two.example"\n_dmarc.two.example TXT "v=DMARC1; p=none"',
  );
  assert.equal((await ask(dns, 'two.example')).kind, 'none');
  assert.equal((await ask(dns, 'none.example')).kind, 'none');
  dns.setZone('_dmarc.a.slow.example TXT "v=DMARC1; rua=mailto:r@slow.example"');
  dns.fail('_dmarc.slow.example', 'ESERVFAIL');
  assert.equal((await ask(dns, 'a.slow.example')).kind, 'failed');
  assert.equal((await ask(dns, 'slow.example')).kind, 'failed');
});
