import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findReportDestinations } from '../../../src/mail/dmarc/destinations.ts';
import { zoneDns } from '../../support/zone-dns.ts';

/** Returns the addresses for reports about a.example, each with its limit. */
async function find(rua: string, zone = ''): Promise<string | string[]> {
  const dns = zoneDns(`_dmarc.a.example TXT "v=DMARC1; p=reject; rua=${rua}"\n${zone}`);
  const found = await findReportDestinations(dns, 'a.example');
  return found.kind === 'found'
    ? found.destinations.map(({ address, maxBytes = '' }) => `${address} ${maxBytes}`)
    : found.kind;
}

test('reports go to the addresses of the domain and of names below it', async () => {
  assert.deepEqual(await find('mailto:r@a.example!10m, mailto:x%21y@in.A.example!5'), [
    `r@a.example ${10 * 2 ** 20}`,
    'x!y@in.A.example 5',
  ]);
  assert.deepEqual(await find('mailto:r@in.a.example,mailto:s@a.example!2k'), [
    'r@in.a.example ',
    's@a.example 2048',
  ]);
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
  assert.deepEqual(await find(rua, agreeing('v=DMARC1')), ['r@b.example 9']);
  assert.deepEqual(await find(rua, agreeing('v=DMARC1; rua=mailto:s@b.example')), ['s@b.example 9']);
  assert.equal(await find(rua, agreeing('v=DMARC1; rua=mailto:s@victim.example')), 'none');
  // The name of the victim only ends like the domain.
  assert.equal(await find('mailto:r@nota.example'), 'none');
});

test('a domain with no record, or with two, wants no reports, and one whose DNS fails is asked again', async () => {
  const dns = zoneDns(
    '_dmarc.two.example TXT "v=DMARC1; rua=mailto:r@two.example"\n_dmarc.two.example TXT "v=DMARC1; p=none"',
  );
  assert.equal((await findReportDestinations(dns, 'two.example')).kind, 'none');
  assert.equal((await findReportDestinations(dns, 'none.example')).kind, 'none');
  dns.fail('_dmarc.slow.example', 'ESERVFAIL');
  assert.equal((await findReportDestinations(dns, 'slow.example')).kind, 'failed');
});
