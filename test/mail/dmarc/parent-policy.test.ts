import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findParentPolicy, LookupFailure } from '../../../src/mail/dmarc/policy-records.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const find = (zone: string, domain = 'a.news.shop.example') => findParentPolicy(zoneDns(zone), domain);

test('the policy of the Organizational Domain counts, by its sp where it has one', async () => {
  assert.equal(await find(''), undefined);
  assert.deepEqual(await find('_dmarc.shop.example TXT "v=DMARC1; p=quarantine"'), {
    domain: 'shop.example',
    policy: 'quarantine',
  });
  assert.deepEqual(
    await find(
      '_dmarc.shop.example TXT "v=DMARC1; p=reject; sp=None"\n_dmarc.news.shop.example TXT "v=DMARC1; p=reject"',
    ),
    { domain: 'shop.example', policy: 'none' },
    'the record with the fewest labels is that of the organization (RFC 9989 section 4.10.2)',
  );
  assert.deepEqual(
    await find(
      '_dmarc.shop.example TXT "v=DMARC1; p=none"\n_dmarc.news.shop.example TXT "v=DMARC1; p=reject; psd=n"',
    ),
    { domain: 'news.shop.example', policy: 'reject' },
  );
});

test("a domain's own record is not that of a parent", async () => {
  assert.equal(await find('_dmarc.a.news.shop.example TXT "v=DMARC1; p=reject"'), undefined);
});

test('the policy of a public suffix counts where the organization has none; a top-level domain that is none does not count', async () => {
  const suffix = '_dmarc.example TXT "v=DMARC1; p=none; sp=reject; psd=y"';
  assert.deepEqual(await find(suffix), { domain: 'example', policy: 'reject' });
  assert.deepEqual(await find(`${suffix}\n_dmarc.news.shop.example TXT "v=DMARC1; p=none"`), {
    domain: 'example',
    policy: 'reject',
  });
  assert.deepEqual(await find(`${suffix}\n_dmarc.shop.example TXT "v=DMARC1; p=none"`), {
    domain: 'shop.example',
    policy: 'none',
  });
  assert.equal(await find('_dmarc.example TXT "v=DMARC1; p=reject"'), undefined);
});

test('a record with an unknown policy protects nothing', async () => {
  assert.equal((await find('_dmarc.shop.example TXT "v=DMARC1; p=stop"'))?.policy, 'none');
});

test('DNS that does not answer is no evidence', async () => {
  const dns = zoneDns('');
  dns.fail('_dmarc.shop.example', 'ESERVFAIL');
  await assert.rejects(findParentPolicy(dns, 'news.shop.example'), LookupFailure);
});
