import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, test } from 'node:test';
import { deleteDomain } from '../../src/domains/api.ts';
import { createDomain } from '../../src/domains/create.ts';
import { endDomain, getDomain } from '../../src/domains/store.ts';
import { verifyDomain } from '../../src/domains/verify.ts';
import { newId } from '../../src/system/ids.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain, type Published, zoneOf } from './fixtures.ts';
import { scheduleMail } from './mail.ts';

const START = Date.parse('2026-05-01T10:00:00.000Z');
const HOUR_MS = 3_600_000;

const dns = zoneDns('');
const clock = createFakeClock(START);

const t = await openTestApp({ system: { dns, clock }, env: { POSTRIDER_REGIONS: 'sg,eu' } });
after(() => t.close());

const create = (body: unknown, key = t.testKey) => t.request('POST', '/v1/domains', { body, key });
const recordStatuses = (domain: { records: { status: string }[] }) =>
  domain.records.map((record) => record.status);

/** Returns the selectors of a domain, that of the key that signs first. */
async function keysOf(id: string): Promise<string[]> {
  const { selector, keys } = await getDomain(t.app.db.read, t.tenantId, id);
  return [selector, ...keys.map((key) => key.selector)];
}

test('a domain is created with its three records, all pending', async () => {
  const { status, body } = await create({ name: 'Create.Example' });
  assert.equal(status, 201);
  const { id, records, optionalRecords, dkimKeys, ...rest } = body;
  const [main, spare] = await keysOf(id);
  assert.deepEqual(dkimKeys, [{ selector: main, algorithm: 'rsa', state: 'signing', since: null }]);
  assert.match(spare ?? '', /^pr[a-z2-7]{8}$/);
  const optional = {
    ...{ ttl: 'Auto', required: false, status: 'pending', lastCheckedAt: null, found: [], error: null },
  };
  assert.match(id, /^dom_[0-9a-z]{26}$/);
  assert.deepEqual(rest, {
    name: 'create.example',
    status: 'pending',
    productType: 'api',
    region: 'sg',
    trackingSubdomain: null,
    openTracking: false,
    clickTracking: false,
    ed25519: false,
    createdAt: '2026-05-01T10:00:00.000Z',
    updatedAt: '2026-05-01T10:00:00.000Z',
    verifiedAt: null,
  });
  assert.deepEqual(
    optionalRecords.map(({ note, ...record }: { note: string }) => ({ ...record, isExplained: note !== '' })),
    [
      ['RETURN_PATH', 'return_path', 'CNAME', 'bounce.create.example', 'bounce.mx.postrider.example'],
      ['MX', 'inbound', 'MX', 'create.example', 'mx.postrider.example'],
      [
        ...['DKIM_NEXT', 'dkim_next', 'CNAME', `${spare}._domainkey.create.example`],
        `${spare}.${id.slice(4)}._domainkey.mx.postrider.example`,
      ],
      ['MTA_STS', 'mta_sts', 'CNAME', 'mta-sts.create.example', 'mx.postrider.example'],
      ['MTA_STS_ID', 'mta_sts', 'CNAME', '_mta-sts.create.example', '_mta-sts.mx.postrider.example'],
      [
        ...['TLS_RPT', 'tls_reports', 'TXT', '_smtp._tls.create.example'],
        `v=TLSRPTv1; rua=mailto:reports+${id.slice(4)}@mx.postrider.example`,
      ],
    ].map(([record, purpose, type, name, value]) => ({
      ...{ record, purpose, type, name, value, ...optional, isExplained: true },
      ...(record === 'MX' && { priority: 10 }),
    })),
  );
  const unchecked = {
    ttl: 'Auto',
    required: true,
    status: 'pending',
    lastCheckedAt: null,
    found: [],
    error: null,
  };
  const { alternative, name: keyName } = records[1];
  const [selector] = keyName.split('.');
  assert.match(selector, /^pr[a-z2-7]{8}$/);
  assert.deepEqual(records, [
    {
      record: 'SPF',
      type: 'TXT',
      name: 'create.example',
      value: 'v=spf1 include:_spf.mx.postrider.example ~all',
      ...unchecked,
    },
    {
      record: 'DKIM',
      type: 'CNAME',
      name: `${selector}._domainkey.create.example`,
      value: `${selector}.${id.slice(4)}._domainkey.mx.postrider.example`,
      ...unchecked,
      alternative,
    },
    {
      record: 'DMARC',
      type: 'TXT',
      name: '_dmarc.create.example',
      value: `v=DMARC1; p=none; np=reject; rua=mailto:reports+${id.slice(4)}@mx.postrider.example`,
      ...unchecked,
    },
  ]);
  assert.equal(alternative.type, 'TXT');
  assert.equal(alternative.name, keyName);
  const key = Buffer.from(alternative.value.replace('v=DKIM1; k=rsa; p=', ''), 'base64');
  const { asymmetricKeyDetails } = createPublicKey({ key, format: 'der', type: 'spki' });
  assert.equal(asymmetricKeyDetails?.modulusLength, 2048);
  assert.deepEqual((await t.request('GET', `/v1/domains/${id}`)).body, body);
});

test('a subdomain is never told to publish a weaker DMARC policy than its parent sets, which counts for it', async () => {
  const dmarcOf = (body: { records: { record: string }[] }) =>
    body.records.find(({ record }) => record === 'DMARC') as Published & { status: string; note?: string };
  dns.setZone('_dmarc.strict.example TXT "v=DMARC1; p=none; sp=reject"');
  const created = (await create({ name: 'news.strict.example' })).body;
  assert.match(dmarcOf(created).value, /^v=DMARC1; p=reject; np=reject; rua=/);
  const verified = await t.request('POST', `/v1/domains/${created.id}/verify`);
  assert.equal(dmarcOf(verified.body).status, 'verified');
  assert.match(dmarcOf(verified.body).note ?? '', /policy of strict\.example \(p=reject/);
  dns.setZone('');
  const alone = (await t.request('POST', `/v1/domains/${created.id}/verify`)).body;
  assert.match(dmarcOf(alone).value, /^v=DMARC1; p=none; np=reject; rua=/);
});

test('DNS that does not answer delays the creation of a domain for two seconds at most', async () => {
  const silent = { ...dns, fresh: { ...dns.fresh, txt: () => new Promise<never>(() => {}) } };
  const generate = async () => ({ publicKeyBase64: 'A', privateKeyPem: 'B' });
  const creating = createDomain({ ...t.app, dns: silent, keyPairs: { generate } }, t.tenantId, {
    name: 'silent.example',
  });
  await clock.advance(2_000);
  assert.equal((await creating).findings.DMARC.parentPolicy, undefined);
});

test('product type and region are taken as given, and nothing of the private key is shown', async () => {
  const { status, body } = await create({
    name: 'given.example',
    productType: 'both',
    region: 'eu',
    other: 1,
  });
  assert.deepEqual([status, body.productType, body.region], [201, 'both', 'eu']);
  assert.doesNotMatch(JSON.stringify(body), /PRIVATE|privateKey|v1\.[0-9a-f]{8}\./);
});

test('the private key opens in its own place alone', async () => {
  const { body } = await create({ name: 'sealed.example' });
  const { privateKeySealed } = await getDomain(t.app.db.read, t.tenantId, body.id);
  assert.doesNotMatch(privateKeySealed, /PRIVATE/);
  assert.match(t.app.sealer.open(privateKeySealed, [t.tenantId, body.id]), /^-----BEGIN PRIVATE KEY-----/);
  const other = await addDomain(t, { name: 'other-place.example' });
  for (const place of [[t.tenantId, other.id], ['ten_x', body.id], [body.id, t.tenantId], []]) {
    assert.throws(() => t.app.sealer.open(privateKeySealed, place));
  }
});

test('the same name twice is a conflict that says where it is; in another tenant it is not', async () => {
  const domain = await addDomain(t, { name: 'twice.example' });
  const { status, body } = await create({ name: 'TWICE.example' });
  assert.equal(status, 409);
  assert.equal(body.error.type, 'already_exists');
  assert.deepEqual(body.error.details, { id: domain.id });
  const other = await t.addTenant('twice');
  const second = await create({ name: 'twice.example' }, other.testKey);
  assert.equal(second.status, 201);
  assert.notEqual(second.body.records[1].name.split('.')[0], domain.selector);
});

test('two creations at once make one domain', async () => {
  const answers = await Promise.all([create({ name: 'race.example' }), create({ name: 'race.example' })]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  const [made, refused] = answers.toSorted((a, b) => a.status - b.status);
  assert.equal(refused?.body.error.details.id, made?.body.id);
});

test('no key is made for a domain that is refused anyway', async () => {
  const { name } = await addDomain(t, { name: 'no-key.example' });
  const generate = () => assert.fail('a key was made');
  const app = { ...t.app, keyPairs: { generate } };
  await assert.rejects(createDomain(app, t.tenantId, { name }), /exists already/);
});

for (const [what, body, param] of [
  ['no name', {}, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['one label', { name: 'localhost' }, 'name'],
  ['a number', { name: 12 }, 'name'],
  ['the sandbox', { name: 'sandbox.mx.postrider.example' }, 'name'],
  ['the simulator', { name: 'simulator.mx.postrider.example' }, 'name'],
  ['the hostname', { name: 'mx.postrider.example' }, 'name'],
  ['an unknown product', { name: 'bad.example', productType: 'sms' }, 'productType'],
  ['an unknown region', { name: 'bad.example', region: 'us' }, 'region'],
  ['a region by inheritance', { name: 'bad.example', region: 'toString' }, 'region'],
] as const) {
  test(`creation with ${what} is refused`, async () => {
    const answer = await create(body);
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    assert.equal(answer.body.error.type, 'validation_error');
    assert.equal(answer.body.error.param, param);
  });
}

test('published records verify, with a CNAME or with a TXT key', async () => {
  for (const [name, isText] of [
    ['alias.example', false],
    ['text.example', true],
  ] as const) {
    const { body } = await create({ name });
    const { type, value, name: keyName } = body.records[1].alternative;
    dns.setZone(zoneOf(body.records, isText ? { DKIM: `${keyName} ${type} "${value}"` } : {}));
    const { status, body: verified } = await t.request('POST', `/v1/domains/${body.id}/verify`);
    assert.equal(status, 200);
    assert.equal(verified.status, 'verified');
    assert.equal(verified.verifiedAt, new Date(clock.now()).toISOString());
    assert.deepEqual(recordStatuses(verified), ['verified', 'verified', 'verified']);
    assert.deepEqual(
      verified.records.map((record: { found: string[] }) => record.found),
      [[body.records[0].value], [isText ? value : body.records[1].value], [body.records[2].value]],
    );
    assert.deepEqual((await t.request('GET', `/v1/domains/${body.id}`)).body, verified);
  }
});

test('a return path that is published is verified beside the records, and its absence changes nothing', async () => {
  const domain = await addDomain(t, { name: 'returns.example' });
  const url = `/v1/domains/${domain.id}`;
  const verify = async () => (await t.request('POST', `${url}/verify`)).body;
  const host = async () => {
    const rows = t.app.db.read.selectFrom('domains').select('returnPathHost').where('id', '=', domain.id);
    return (await rows.executeTakeFirst())?.returnPathHost;
  };
  const { records, optionalRecords } = (await t.request('GET', url)).body;
  const [{ name, type, value }] = optionalRecords;
  const operator = `${value} TXT "v=spf1 include:_spf.mx.postrider.example -all"`;
  dns.setZone(zoneOf(records));
  const without = await verify();
  assert.deepEqual([without.status, without.optionalRecords[0].status], ['verified', 'pending']);
  assert.match(without.optionalRecords[0].error, /No CNAME/);
  assert.equal(await host(), null);

  dns.setZone(`${zoneOf(records)}\n${name} ${type} ${value}\n${operator}`);
  await clock.advance(1_000);
  const full = await verify();
  assert.deepEqual([full.status, full.records.length, full.optionalRecords.length], ['verified', 3, 5]);
  assert.deepEqual(
    { ...full.optionalRecords[0], note: '' },
    {
      ...optionalRecords[0],
      ...{ status: 'verified', lastCheckedAt: new Date(clock.now()).toISOString(), found: [value], note: '' },
    },
  );
  assert.equal(full.updatedAt, new Date(clock.now()).toISOString());
  assert.equal(await host(), 'bounce.returns.example');
  const other = await t.addTenant('returns');
  const theirs = await addDomain(t, { name: 'returns.example', tenantId: other.tenantId });
  const shown = (await t.request('GET', `/v1/domains/${theirs.id}`, { key: other.testKey })).body;
  assert.equal(shown.optionalRecords[0].status, 'pending', 'each tenant is checked for itself');
  assert.deepEqual((await t.request('GET', url)).body, full);

  dns.setZone(`${zoneOf(records)}\n${name} CNAME bounce.elsewhere.example`);
  const wrong = await verify();
  assert.deepEqual([wrong.status, wrong.optionalRecords[0].status], ['verified', 'failed']);
  assert.match(wrong.optionalRecords[0].error, /must be a CNAME to bounce\.mx\.postrider\.example/);
  assert.equal(await host(), null);

  dns.setZone(`${zoneOf(records)}\n${name} ${type} ${value}\n${operator}`);
  await verify();
  assert.equal((await t.request('DELETE', url)).status, 204);
  assert.equal(await host(), null, 'nobody checks the records of a deleted domain');
});

test('the MX record is shown with what DNS has, for each tenant, and is never required', async () => {
  const domain = await addDomain(t, { name: 'receives.example' });
  const url = `/v1/domains/${domain.id}`;
  const verify = async () => (await t.request('POST', `${url}/verify`)).body;
  const { records, optionalRecords } = (await t.request('GET', url)).body;
  const [, { name, type, value, priority }] = optionalRecords;
  dns.setZone(`${zoneOf(records)}\n${name} ${type} 5 mx.elsewhere.example`);
  const elsewhere = await verify();
  assert.deepEqual([elsewhere.status, elsewhere.optionalRecords[1].status], ['verified', 'pending']);
  assert.deepEqual(elsewhere.optionalRecords[1].found, ['5 mx.elsewhere.example']);
  dns.setZone(`${zoneOf(records)}\n${name} ${type} ${priority} ${value}`);
  await clock.advance(1_000);
  const here = await verify();
  assert.deepEqual(
    [here.optionalRecords[1].status, here.optionalRecords[1].found, here.updatedAt],
    ['verified', [`${priority} ${value}`], new Date(clock.now()).toISOString()],
  );
  const other = await t.addTenant('receives');
  const theirs = await addDomain(t, { name: 'receives.example', tenantId: other.tenantId });
  const shown = (await t.request('GET', `/v1/domains/${theirs.id}`, { key: other.testKey })).body;
  assert.equal(shown.optionalRecords[1].status, 'pending', 'each tenant is checked for itself');
});

test('a domain with scheduled mail is not deleted, and the refusal says how many wait', async () => {
  const domain = await addDomain(t, { name: 'scheduled.example' });
  const other = await addDomain(t, { name: 'other-scheduled.example' });
  const now = clock.now();
  const mail = { tenantId: t.tenantId, domainId: domain.id, now };
  const remove = () => t.request('DELETE', `/v1/domains/${domain.id}`);
  scheduleMail(t.dataDir, { ...mail, domainId: other.id, datedAt: now + HOUR_MS });
  scheduleMail(t.dataDir, { ...mail, datedAt: now + HOUR_MS, status: 'canceled' });
  scheduleMail(t.dataDir, { ...mail, datedAt: now + HOUR_MS });

  const one = await remove();
  assert.equal(one.status, 409);
  assert.deepEqual(one.body.error, {
    type: 'domain_in_use',
    message: 'Domain has 1 scheduled email; cancel it or wait until it is sent',
    details: { scheduledEmails: 1, scheduledBroadcasts: 0 },
    requestId: one.headers['x-request-id'],
  });
  scheduleMail(t.dataDir, { ...mail, datedAt: now + 1 });
  const { error } = (await remove()).body;
  assert.equal(error.message, 'Domain has 2 scheduled emails; cancel them or wait until they are sent');
  assert.deepEqual(error.details, { scheduledEmails: 2, scheduledBroadcasts: 0 });
  assert.equal((await t.request('GET', `/v1/domains/${domain.id}`)).status, 200);

  await clock.advance(HOUR_MS);
  assert.equal((await remove()).status, 204);
});

test('scheduled mail that left while it was counted still counted', async () => {
  const domain = await addDomain(t, { name: 'counted.example' });
  const now = clock.now();
  scheduleMail(t.dataDir, { tenantId: t.tenantId, domainId: domain.id, now, datedAt: now + HOUR_MS });
  const db = { ...t.app.db, query: async () => 0 as never };
  await assert.rejects(deleteDomain({ clock, db }, t.tenantId, domain.id), /Domain has 1 scheduled email;/);
});

test('mail that was to leave at once, and is being retried, does not hold its domain', async () => {
  const domain = await addDomain(t, { name: 'retrying.example' });
  const now = clock.now();
  const mail = { tenantId: t.tenantId, domainId: domain.id, now, datedAt: now };
  scheduleMail(t.dataDir, { ...mail, status: 'sent', state: 'deferred', dueAt: now + HOUR_MS, attempts: 1 });
  scheduleMail(t.dataDir, mail);
  assert.equal((await t.request('DELETE', `/v1/domains/${domain.id}`)).status, 204);
});

test('the name of a deleted domain is free again, for a domain with another key', async () => {
  const { body: domain } = await create({ name: 'deleted.example' });
  assert.equal((await t.request('DELETE', `/v1/domains/${domain.id}`)).status, 204);
  const again = await create({ name: 'deleted.example' });
  assert.equal(again.status, 201);
  assert.notEqual(again.body.id, domain.id);
  assert.notEqual(again.body.records[1].alternative.value, domain.records[1].alternative.value);
  assert.notEqual(again.body.records[1].name, domain.records[1].name);
});

test('records are asked for past the cache, which may still hold what they were before', async () => {
  const domain = await addDomain(t, { name: 'fresh.example' });
  dns.setZone(zoneOf((await t.request('GET', `/v1/domains/${domain.id}`)).body.records));
  const stale = async () => ({ kind: 'no-name' }) as const;
  const app = { ...t.app, dns: { ...dns, txt: stale, cname: stale } };
  assert.equal((await verifyDomain(app, t.tenantId, domain.id)).status, 'verified');
});

test('a domain deleted while DNS is asked is not found', async () => {
  const domain = await addDomain(t, { name: 'meanwhile.example' });
  const txt = async (name: string) => {
    if (name.startsWith('_dmarc.')) {
      const { id } = domain;
      await t.app.db.commit(endDomain, { id, tenantId: t.tenantId, now: clock.now() });
    }
    return dns.fresh.txt(name);
  };
  const slow = { ...dns, fresh: { ...dns.fresh, txt } };
  await assert.rejects(verifyDomain({ ...t.app, dns: slow }, t.tenantId, domain.id), /Domain not found/);
});

test('the list by name holds the domain of that name, however it is written, and by status those that stand so', async () => {
  const { tenantId, liveKey: key } = await t.addTenant('filters');
  const statuses = ['verified', 'pending', 'verified', 'failed', 'temporary_failure'] as const;
  for (const [index, status] of statuses.entries()) {
    const name = index === 0 ? 'xn--mnchen-3ya.example' : `filter${index}.example`;
    await addDomain(t, { tenantId, name, status, id: newId('dom', START + index) });
  }
  const list = async (query: string) => {
    const { status, body } = await t.request('GET', `/v1/domains?${query}`, { key });
    assert.equal(status, 200, JSON.stringify(body));
    return [body.data.map((item: { name: string }) => item.name), body.hasMore];
  };
  assert.deepEqual(await list('name=filter1.example'), [['filter1.example'], false]);
  assert.deepEqual(await list('name=FILTER1.Example&status=pending'), [['filter1.example'], false]);
  assert.deepEqual(await list('name=filter1.example&status=verified'), [[], false]);
  for (const name of ['m%C3%BCnchen.example', 'M%C3%9CNCHEN.example', 'XN--mnchen-3ya.example']) {
    assert.deepEqual(await list(`name=${name}`), [['xn--mnchen-3ya.example'], false], name);
  }
  for (const name of ['', '%00', 'filter', 'filter1.example%20', "'--", 'x'.repeat(400)]) {
    assert.deepEqual(await list(`name=${name}`), [[], false], name);
  }
  assert.deepEqual(await list('status=verified'), [['filter2.example', 'xn--mnchen-3ya.example'], false]);
  assert.deepEqual(await list('status=verified&limit=1'), [['filter2.example'], true]);
  assert.deepEqual(await list('status=temporary_failure'), [['filter4.example'], false]);
  const { status, body } = await t.request('GET', '/v1/domains?status=sent', { key });
  assert.deepEqual([status, body.error.param], [400, 'status']);
});

test('an apex domain and its subdomain are two domains, each with records at its own name', async () => {
  const ids = new Set<string>();
  for (const name of ['example.org', 'news.example.org']) {
    const { status, body } = await t.request('POST', '/v1/domains', { body: { name } });
    assert.deepEqual([status, body.name], [201, name]);
    const [spf, dkim, dmarc] = body.records;
    assert.deepEqual([spf.name, dmarc.name], [name, `_dmarc.${name}`]);
    assert.ok(dkim.name.endsWith(`._domainkey.${name}`));
    ids.add(body.id);
  }
  assert.equal(ids.size, 2);
});

test('a domain is for the API, for mailboxes or for both, and for the API unless it is said', async () => {
  for (const [given, shown] of [
    [undefined, 'api'],
    ['api', 'api'],
    ['mailbox', 'mailbox'],
    ['both', 'both'],
  ]) {
    const body = { name: `${given ?? 'none'}.example.net`, productType: given };
    const created = await t.request('POST', '/v1/domains', { body });
    assert.deepEqual([created.status, created.body.productType], [201, shown]);
    const got = await t.request('GET', `/v1/domains/${created.body.id}`);
    assert.equal(got.body.productType, shown);
  }
});
