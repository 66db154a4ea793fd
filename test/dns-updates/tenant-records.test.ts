import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { listTenantRecords } from '../../src/dns-updates/tenant-records.ts';
import { newFinding, newState } from '../../src/domains/states.ts';
import type { Domain } from '../../src/domains/store.ts';
import { addDomain } from '../domains/fixtures.ts';
import { openTestApp } from '../support/test-app.ts';

const ZONE = 'example.com';
const VERIFIED = { ...newFinding(), status: 'verified' } as const;
const { findings: NEW } = newState(0, 0);
const REQUIRED = { ...NEW, SPF: VERIFIED, DKIM: VERIFIED, DMARC: VERIFIED };

const t = await openTestApp();
const other = await t.addTenant('other');
after(() => t.close());

beforeEach(() => change('DELETE FROM domains'));

/** Changes the database as another process would. */
function change(statement: string, ...values: string[]): void {
  const database = new Sqlite(join(t.dataDir, 'postrider.db'));
  database.prepare(statement).run(values);
  database.close();
}

type Options = { taken?: readonly string[]; written?: readonly string[]; chosen?: readonly Domain['id'][] };

async function list({ taken = [], written = [], chosen = [] }: Options = {}): Promise<string[]> {
  const records = await listTenantRecords(t.app, {
    zones: [ZONE],
    taken: new Set(taken),
    written: new Set(written),
    chosen: new Set(chosen),
  });
  return records.map(({ name, type, value }) => `${name} ${type} ${value}`).toSorted();
}

const addVerified = (name: string, fields: Partial<Domain> = {}) =>
  addDomain(t, { name, status: 'verified', findings: REQUIRED, ...fields });

test('a verified domain inside a zone has its missing records published, and others are left alone', async () => {
  await addVerified('shop.example.com', { trackingSubdomain: 'links.shop.example.com' });
  await addVerified('example.org');
  await addVerified('notexample.com');
  await addDomain(t, { name: 'pending.example.com', findings: REQUIRED });
  assert.deepEqual(await list(), [
    'bounce.shop.example.com CNAME bounce.mx.postrider.example',
    'links.shop.example.com CNAME track.mx.postrider.example',
  ]);
});

test('a record that serves already is left to its owner, unless it was written here', async () => {
  const written = ['TXT shop.example.com'];
  const { id } = await addVerified('shop.example.com', { findings: { ...REQUIRED, RETURN_PATH: VERIFIED } });
  assert.deepEqual(await list(), []);
  assert.deepEqual(await list({ written }), [
    'shop.example.com TXT v=spf1 include:_spf.mx.postrider.example ~all',
  ]);
  const lost = {
    ...REQUIRED,
    RETURN_PATH: VERIFIED,
    SPF: { ...VERIFIED, status: 'temporary_failure' as const },
  };
  change('UPDATE domains SET records = ? WHERE id = ?', JSON.stringify(lost), id);
  assert.equal((await list()).length, 1, 'a record that was lost is published again');
});

test('the more specific of two verified domains has a name, and names of the installation are nobody else’s', async () => {
  await addVerified('example.com', { trackingSubdomain: 'links.news.example.com' });
  await addVerified('news.example.com', { tenantId: other.tenantId });
  await addVerified('bounce.example.com', { tenantId: other.tenantId, findings: NEW });
  const names = (await list()).map((line) => line.split(' ', 2).join(' '));
  assert.deepEqual(names, [
    '_dmarc.bounce.example.com TXT',
    'bounce.bounce.example.com CNAME',
    'bounce.example.com TXT',
    'bounce.news.example.com CNAME',
    'prabcdefgh._domainkey.bounce.example.com CNAME',
  ]);
  assert.ok(
    !(await list({ taken: ['bounce.example.com'] })).some((line) => line.startsWith('bounce.example.com ')),
  );
});

test('of two tenants with one name, the one whose verification has stood longest has its records published', async () => {
  await addVerified('example.com', { findings: NEW, verifiedSince: 2, selector: 'prsecond22' });
  await addVerified('example.com', {
    findings: NEW,
    verifiedSince: 1,
    selector: 'prfirst222',
    tenantId: other.tenantId,
  });
  const keys = (await list()).filter((line) => line.includes('_domainkey'));
  assert.deepEqual(
    keys.map((line) => line.split('.', 1)[0]),
    ['prfirst222'],
  );
});

test('mail is led here only for a domain with mailboxes, and a policy is published only where all mail arrives here', async () => {
  const types = async () => (await list()).map((line) => line.split(' ', 2).join(' '));
  await addVerified('send.example.com', { findings: { ...REQUIRED, RETURN_PATH: VERIFIED } });
  assert.deepEqual(await types(), []);
  await addVerified('people.example.com', {
    productType: 'mailbox',
    findings: { ...REQUIRED, RETURN_PATH: VERIFIED },
  });
  const people = await types();
  assert.ok(people.includes('people.example.com MX'));
  assert.ok(people.includes('_autodiscover._tcp.people.example.com SRV'));
  assert.ok(!people.some((line) => line.includes('mta-sts')));
  const ours = { ...VERIFIED, found: ['10 mx.postrider.example'] };
  const both = { ...VERIFIED, found: ['10 mx.postrider.example', '20 old.example'] };
  const base = { ...REQUIRED, RETURN_PATH: VERIFIED };
  await addVerified('all.example.com', { findings: { ...base, MX: ours } });
  await addVerified('some.example.com', { findings: { ...base, MX: both } });
  const later = await types();
  assert.ok(
    later.includes('mta-sts.all.example.com CNAME') && later.includes('_mta-sts.all.example.com CNAME'),
  );
  assert.ok(
    later.includes('_smtp._tls.some.example.com TXT') && !later.includes('mta-sts.some.example.com CNAME'),
  );
});

test('the keys of a deleted domain stay published until it is removed, unless another tenant has its name', async () => {
  const key = 'prabcdefgh._domainkey.shop.example.com CNAME';
  const names = async (written: readonly string[]) =>
    (await list({ written })).map((line) => line.split(' ', 2).join(' ')).filter((name) => name === key);
  const { id } = await addVerified('shop.example.com', { findings: NEW });
  const written = ['CNAME prabcdefgh._domainkey.shop.example.com', 'TXT shop.example.com'];
  assert.deepEqual(await names(written), [key]);
  change('UPDATE domains SET "deletedAt" = 1, "verifiedSince" = NULL WHERE id = ?', id);
  assert.deepEqual(
    (await list({ written })).map((line) => line.split(' ', 2).join(' ')),
    [key],
  );
  assert.deepEqual(await names([]), [], 'a record of somebody else is not taken over');
  await addVerified('shop.example.com', { tenantId: other.tenantId, selector: 'prother222' });
  assert.deepEqual(await names(written), []);
  change('DELETE FROM domains WHERE id = ?', id);
  assert.deepEqual(await names(written), []);
});

test('a domain that the operator has published stays so without a verification, and nobody gets that by its name', async () => {
  const names = async (options: Options) => (await list(options)).map((line) => line.split(' ', 2).join(' '));
  const key = 'prabcdefgh._domainkey.new.example.com';
  const { id } = await addDomain(t, { name: 'new.example.com', findings: NEW, productType: 'both' });
  await addDomain(t, {
    ...{ name: 'new.example.com', findings: NEW, tenantId: other.tenantId, selector: 'prother222' },
  });
  assert.deepEqual(await names({}), []);
  const all = await names({ chosen: [id] });
  for (const one of ['TXT', 'MX'].map((type) => `new.example.com ${type}`)) assert.ok(all.includes(one), one);
  assert.ok(all.includes(`${key} CNAME`));
  assert.ok(!all.some((line) => line.startsWith('prother222.')));
  // After a start, the key that was written says so.
  assert.deepEqual(await names({ written: [`CNAME ${key}`] }), all);
  assert.deepEqual(await names({ written: ['TXT new.example.com', 'MX new.example.com'] }), []);

  change(
    "UPDATE domains SET status = 'verified', verifiedSince = 0, verifiedAt = 0 WHERE selector = 'prother222'",
  );
  const keys = (await names({ chosen: [id] })).filter((line) => line.includes('_domainkey'));
  assert.deepEqual(keys, ['prother222._domainkey.new.example.com CNAME']);
});

test('a domain that was verified once is not published without a verification', async () => {
  const fields = { status: 'failed', findings: NEW, verifiedAt: 1, failingSince: 1 } as const;
  const { id } = await addDomain(t, { name: 'lapsed.example.com', ...fields });
  const written = ['CNAME prabcdefgh._domainkey.lapsed.example.com'];
  assert.deepEqual(await list({ written, chosen: [id] }), []);
});

test('a domain outside the zones is not published', async () => {
  const { id } = await addDomain(t, { name: 'shop.example.net', findings: NEW });
  assert.deepEqual(await list({ chosen: [id] }), []);
});
