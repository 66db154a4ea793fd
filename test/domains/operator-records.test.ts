import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import {
  keyRecord,
  listKeyRecords,
  listOperatorRecords,
  operatorRecords,
} from '../../src/domains/operator-records.ts';
import { listUnneeded } from '../../src/domains/spool-store.ts';
import { endDomain, purgeDomains } from '../../src/domains/store.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain, domainRow, PUBLIC_KEY } from './fixtures.ts';
import { scheduleMail } from './mail.ts';

const HOST = 'mx.postrider.example';
const ID = 'dom_00000000000123456789abcdef';

const dns = zoneDns('');
const t = await openTestApp({ system: { dns } });
const admin = await createControlServer(t.app);
after(async () => {
  await admin.close();
  await t.close();
});

const ask = async () => {
  const response = await admin.inject({ method: 'GET', url: '/dns-records' });
  assert.equal(response.statusCode, 200);
  return response.json() as {
    records: { type: string; name: string; value: string; purpose: string }[];
    warnings: string[];
  };
};

test('the zone of the hostname holds its addresses, SPF, the way back for bounces, tracking, and every key', () => {
  const addresses = ['192.0.2.1', '2001:db8::1'];
  const records = operatorRecords({ hostname: 'MX.Postrider.example' }, addresses);
  assert.deepEqual(
    records.map(({ type, name, value }) => [type, name, value]),
    [
      ['A', HOST, '192.0.2.1'],
      ['AAAA', HOST, '2001:db8::1'],
      ['TXT', `_spf.${HOST}`, 'v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all'],
      ['TXT', `bounce.${HOST}`, `v=spf1 include:_spf.${HOST} -all`],
      ['TXT', HOST, `v=spf1 include:_spf.${HOST} -all`],
      ['MX', `bounce.${HOST}`, `10 ${HOST}`],
      ['MX', `sandbox.${HOST}`, `10 ${HOST}`],
      ['CNAME', `track.${HOST}`, HOST],
      ['TXT', `*._report._dmarc.${HOST}`, 'v=DMARC1'],
      ['TXT', `_smtp._tls.${HOST}`, `v=TLSRPTv1; rua=mailto:reports@${HOST}`],
      ['TXT', `_smtp._tls.bounce.${HOST}`, `v=TLSRPTv1; rua=mailto:reports@${HOST}`],
    ],
  );
});

test('each key is published below the hostname, and its purpose says whose it is and in what state', () => {
  const main = {
    ...domainRow('ten_a', { id: ID }),
    algorithm: 'rsa',
    state: 'signing',
    deletedAt: null,
  } as const;
  const keys = [
    main,
    { ...main, state: 'waiting' },
    { ...main, state: 'retired', algorithm: 'ed25519', publicKey: 'AAAA' },
    { ...main, name: 'gone.example', deletedAt: 1 },
  ] as const;
  const name = 'prabcdefgh.00000000000123456789abcdef._domainkey.mx.postrider.example';
  const value = `v=DKIM1; k=rsa; p=${PUBLIC_KEY}`;
  const records = keys.map((key) => keyRecord({ hostname: 'MX.Postrider.example' }, key));
  assert.deepEqual(records, [
    { type: 'TXT', name, value, purpose: 'DKIM key of example.com' },
    {
      type: 'TXT',
      name,
      value,
      purpose: 'DKIM key of example.com (the next one; signs once it is found in DNS)',
    },
    {
      ...{ type: 'TXT', name, value: 'v=DKIM1; k=ed25519; p=AAAA' },
      purpose: 'DKIM key of example.com (the one before; needed until the mail signed with it has ended)',
    },
    {
      type: 'TXT',
      name,
      value,
      purpose: 'DKIM key of gone.example (deleted; needed until its mail has ended)',
    },
  ]);
});

test('without addresses there is no SPF record that would allow nobody', () => {
  const types = operatorRecords({ hostname: HOST }, []).map(({ type }) => type);
  assert.deepEqual(types, ['MX', 'MX', 'CNAME', 'TXT', 'TXT', 'TXT']);
});

test('the addresses are those that DNS has for the hostname, and a warning says when it has none', async () => {
  dns.setZone('');
  const none = await ask();
  assert.ok(none.records.every(({ type }) => !['A', 'AAAA'].includes(type)));
  assert.match(none.warnings.join(), /no addresses for mx\.postrider\.example.*POSTRIDER_DOMAINS_ADDRESSES/);
  dns.setZone(`${HOST} A 192.0.2.7\n${HOST} AAAA 2001:db8::7`);
  const some = await ask();
  assert.deepEqual(some.warnings, []);
  assert.equal(some.records[2]?.value, 'v=spf1 ip4:192.0.2.7 ip6:2001:db8::7 -all');
});

test('the addresses of the configuration come before those of DNS', async () => {
  const configured = await openTestApp({
    system: { dns: zoneDns(`${HOST} A 192.0.2.7`) },
    env: { POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.8' },
  });
  const server = await createControlServer(configured.app);
  const { records } = (await server.inject({ method: 'GET', url: '/dns-records' })).json();
  assert.deepEqual([records[0].value, records[1].value], ['192.0.2.8', 'v=spf1 ip4:192.0.2.8 -all']);
  await server.close();
  await configured.close();
});

test('the keys are those of all tenants, and of deleted domains until they are removed, which mail delays', async () => {
  const other = await t.addTenant('other');
  await addDomain(t, { name: 'one.example' });
  await addDomain(t, { name: 'two.example', tenantId: other.tenantId });
  const gone = await addDomain(t, { name: 'three.example' });
  const done = await addDomain(t, { name: 'four.example' });
  for (const { id } of [gone, done]) await t.app.db.commit(endDomain, { id, tenantId: t.tenantId, now: 1 });
  scheduleMail(t.dataDir, { tenantId: t.tenantId, domainId: gone.id, now: 1, datedAt: 1, attempts: 1 });
  const ids = await t.app.db.query(listUnneeded, { deletedBefore: 2 });
  await t.app.db.commit(purgeDomains, { ids });
  const purposes = (await ask()).records
    .map(({ purpose }) => purpose)
    .filter((text) => text.includes('DKIM'));
  assert.deepEqual(purposes, [
    'DKIM key of one.example',
    'DKIM key of three.example (deleted; needed until its mail has ended)',
    'DKIM key of two.example',
    'DKIM key of the installation, for forwarded mail (ARC) and reports',
  ]);
});

test('the records of the operator are not served where the API is', async () => {
  for (const path of ['/dns-records', '/v1/dns-records']) {
    assert.equal((await t.request('GET', path)).status, 404, path);
  }
});

test('the keys of many domains come in parts, which together are all of them', async () => {
  await using many = await openTestApp();
  const count = 501;
  const names = Array.from({ length: count }, (_, index) => `domain${index}.example`);
  for (const name of names) await addDomain(many, { name });
  const first = await listKeyRecords(many.app, '');
  assert.ok(first.next !== undefined && first.records.length < count);
  const second = await listKeyRecords(many.app, first.next);
  assert.equal(second.next, undefined);
  const purposes = [...first.records, ...second.records].map(({ purpose }) => purpose);
  assert.deepEqual(purposes.toSorted(), names.map((name) => `DKIM key of ${name}`).toSorted());
  const { records } = await listOperatorRecords(many.app, []);
  assert.equal(records.filter(({ purpose }) => purpose.startsWith('DKIM key of domain')).length, count);
});
