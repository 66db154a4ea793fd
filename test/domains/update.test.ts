import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientRecordsToPublish, evaluateSrv } from '../../src/domains/client-records.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain, zoneOf } from './fixtures.ts';

const START = Date.parse('2026-05-01T10:00:00.000Z');

const dns = zoneDns('');
const clock = createFakeClock(START);
const t = await openTestApp({ system: { dns, clock }, env: { POSTRIDER_REGIONS: 'sg,eu' } });
after(() => t.close());
/** Refused updates are all of one domain. */
let refusing: string | undefined;

const patch = (id: string, body: unknown) => t.request('PATCH', `/v1/domains/${id}`, { body });
const get = async (id: string) => (await t.request('GET', `/v1/domains/${id}`)).body;

test('every setting can be changed at once, and the domain is answered', async () => {
  const { id } = await addDomain(t, { name: 'all.example' });
  const before = await get(id);
  await clock.advance(1_000);
  const change = { openTracking: true, clickTracking: true, productType: 'both', region: 'eu' };
  const { status, body } = await patch(id, { ...change, trackingSubdomain: 'Links.ALL.example' });
  assert.equal(status, 200);
  const { records, optionalRecords, ...rest } = body;
  const { records: recordsBefore, optionalRecords: optionalBefore, ...restBefore } = before;
  const isForOthers = ({ purpose }: { purpose: string }) => purpose !== 'clients';
  assert.deepEqual(optionalRecords.filter(isForOthers), optionalBefore);
  assert.deepEqual(rest, {
    ...{ ...restBefore, ...change, trackingSubdomain: 'links.all.example' },
    updatedAt: new Date(clock.now()).toISOString(),
  });
  assert.deepEqual(records.slice(0, 3), recordsBefore);
  assert.deepEqual(records.slice(3), [
    {
      record: 'TRACKING',
      type: 'CNAME',
      name: 'links.all.example',
      value: 'track.mx.postrider.example',
      ttl: 'Auto',
      required: false,
      status: 'pending',
      lastCheckedAt: null,
      found: [],
      error: null,
      note: 'Tracked links lead to the host of this installation until this record is verified and the host has a TLS certificate.',
    },
  ]);
  assert.deepEqual(await get(id), body);
  assert.deepEqual((await patch(id, { trackingSubdomain: 'LINKS.all.example' })).body, body, 'the same host');
  const back = { openTracking: false, clickTracking: false, productType: 'api', region: 'sg' };
  const undone = (await patch(id, { ...back, trackingSubdomain: null })).body;
  assert.deepEqual(undone, { ...before, updatedAt: undone.updatedAt });
});

test('the tracking record is checked with the others, and never needed', async () => {
  const { id } = await addDomain(t, { name: 'track.example' });
  await patch(id, { trackingSubdomain: 'links.track.example' });
  const { records } = await get(id);
  const verify = async () => (await t.request('POST', `/v1/domains/${id}/verify`)).body;
  dns.setZone(zoneOf(records, { TRACKING: '' }));
  const without = await verify();
  assert.deepEqual([without.status, without.records[3].status], ['verified', 'pending']);
  dns.setZone(zoneOf(records, { TRACKING: 'links.track.example CNAME elsewhere.example' }));
  const astray = await verify();
  assert.deepEqual([astray.status, astray.records[3].status], ['verified', 'failed']);
  assert.match(astray.records[3].error, /must be a CNAME to track\.mx\.postrider\.example/);
  dns.setZone(zoneOf(records));
  const whole = await verify();
  assert.deepEqual([whole.status, whole.records[3].status], ['verified', 'verified']);

  const moved = (await patch(id, { trackingSubdomain: 'go.track.example' })).body;
  assert.deepEqual(
    [moved.status, moved.records[3].name, moved.records[3].status, moved.records[3].lastCheckedAt],
    ['verified', 'go.track.example', 'pending', null],
  );
  const none = (await patch(id, { trackingSubdomain: null })).body;
  assert.deepEqual([none.status, none.trackingSubdomain, none.records.length], ['verified', null, 3]);
});

test('a host changed while DNS is asked about the one before is not verified by its answer', async () => {
  const { id } = await addDomain(t, { name: 'swap.example' });
  await patch(id, { trackingSubdomain: 'old.swap.example' });
  dns.setZone(zoneOf((await get(id)).records));
  const { cname } = dns.fresh;
  dns.fresh.cname = async (name) => {
    if (name === 'old.swap.example') await patch(id, { trackingSubdomain: 'new.swap.example' });
    return cname(name);
  };
  try {
    const { body } = await t.request('POST', `/v1/domains/${id}/verify`);
    const { name, status } = body.records[3];
    assert.deepEqual([body.status, name, status], ['verified', 'new.swap.example', 'pending']);
  } finally {
    dns.fresh.cname = cname;
  }
});

for (const [body, param] of [
  [{ trackingSubdomain: '' }, 'trackingSubdomain'],
  [{ trackingSubdomain: 'refuse.example' }, 'trackingSubdomain'],
  [{ trackingSubdomain: 'links.other.example' }, 'trackingSubdomain'],
  [{ trackingSubdomain: 'bounce.refuse.example' }, 'trackingSubdomain'],
  [{ trackingSubdomain: `${'a.'.repeat(200)}refuse.example` }, 'trackingSubdomain'],
  [{ trackingSubdomain: 7 }, 'trackingSubdomain'],
  [{ tracking_subdomain: 'links.refuse.example' }, 'tracking_subdomain'],
  [{ openTracking: 'true' }, 'openTracking'],
  [{ openTracking: null }, 'openTracking'],
  [{ clickTracking: 1 }, 'clickTracking'],
  [{ productType: 'sms' }, 'productType'],
  [{ productType: null }, 'productType'],
  [{ region: 'us' }, 'region'],
  [{ region: 'toString' }, 'region'],
  [{ region: null }, 'region'],
] as const) {
  test(`an update with ${JSON.stringify(body).slice(0, 60)} is refused`, async () => {
    refusing ??= (await addDomain(t, { name: 'refuse.example' })).id;
    const before = await get(refusing);
    const answer = await patch(refusing, { openTracking: true, ...body });
    assert.deepEqual([answer.status, answer.body.error?.type], [400, 'validation_error']);
    assert.equal(answer.body.error.param, param);
    assert.deepEqual(await get(refusing), before);
  });
}

const HOST = 'mx.postrider.example';
const { config } = t.app;

type Shown = {
  purpose: string;
  record: string;
  type: string;
  name: string;
  value: string;
  priority: number;
  weight: number;
  port: number;
  status: string;
  found: string[];
  error: string | null;
};

const lineOf = ({ type, name, value, priority, weight, port }: Shown) =>
  type === 'SRV' ? `${name} SRV ${priority} ${weight} ${port} ${value}` : `${name} ${type} ${value}`;

/** Returns the records for mail programs in a domain as the API shows it. */
function clientsOf(body: { optionalRecords: Shown[] }): Shown[] {
  return body.optionalRecords.filter(({ purpose }) => purpose === 'clients');
}

test('a domain with mailboxes shows the records by which mail programs find the services of the configuration', () => {
  const at = {
    hostname: 'MX.Postrider.example',
    imap: { ...config.imap, port: 993 },
    pop3: { ...config.pop3, port: 995 },
    submission: { ...config.submission, port: 587, tlsPort: 465 },
    managesieve: { ...config.managesieve, port: 4190 },
  };
  const lines = (given = at, productType: 'api' | 'mailbox' | 'both' = 'both') =>
    clientRecordsToPublish(given, { name: 'example.com', productType }).map((record) =>
      lineOf(record as Shown),
    );
  assert.deepEqual(lines(), [
    `_imaps._tcp.example.com SRV 0 1 993 ${HOST}`,
    `_pop3s._tcp.example.com SRV 0 1 995 ${HOST}`,
    `_submissions._tcp.example.com SRV 0 1 465 ${HOST}`,
    `_submission._tcp.example.com SRV 0 1 587 ${HOST}`,
    `_sieve._tcp.example.com SRV 0 1 4190 ${HOST}`,
    '_imap._tcp.example.com SRV 0 0 0 .',
    '_pop3._tcp.example.com SRV 0 0 0 .',
    `autoconfig.example.com CNAME ${HOST}`,
    `autodiscover.example.com CNAME ${HOST}`,
    `_autodiscover._tcp.example.com SRV 0 1 443 ${HOST}`,
  ]);
  const starttls = lines({ ...at, imap: { ...at.imap, starttls: true, starttlsPort: 1143 } });
  assert.ok(starttls.includes(`_imap._tcp.example.com SRV 0 1 1143 ${HOST}`));
  assert.ok(!starttls.includes('_imap._tcp.example.com SRV 0 0 0 .'));
  const off = lines({ ...at, submission: { ...at.submission, enabled: false } });
  assert.ok(!off.some((line) => line.includes('_submission')));
  assert.deepEqual(lines(at, 'api'), []);
  assert.deepEqual(lines(at, 'mailbox'), lines());
});

test('the records are checked with the others, shown with what DNS has, and never required', async () => {
  const domain = await addDomain(t, { name: 'clients.example', productType: 'mailbox' });
  const url = `/v1/domains/${domain.id}`;
  const verify = async () => (await t.request('POST', `${url}/verify`)).body;
  const before = (await t.request('GET', url)).body;
  const records = clientsOf(before);
  assert.ok(
    records.every(({ status, found, error }) => status === 'pending' && found.length === 0 && !error),
  );

  dns.setZone(zoneOf(before.records));
  const without = await verify();
  assert.equal(without.status, 'verified');
  for (const { status, error } of clientsOf(without))
    assert.deepEqual(
      [status, /^No (?:SRV record|CNAME) is published here$/.test(error ?? '')],
      ['pending', true],
    );

  dns.setZone([zoneOf(before.records), ...records.map(lineOf)].join('\n'));
  await clock.advance(1_000);
  const right = await verify();
  assert.ok(clientsOf(right).every(({ status }) => status === 'verified'));
  assert.equal(right.updatedAt, new Date(clock.now()).toISOString());

  const elsewhere = records.map((record) => lineOf({ ...record, value: 'mx.elsewhere.example' }));
  dns.setZone([zoneOf(before.records), ...elsewhere].join('\n'));
  const wrong = await verify();
  assert.equal(wrong.status, 'verified');
  for (const { type, status, found, error } of clientsOf(wrong)) {
    assert.deepEqual([status, found.length], ['failed', 1]);
    assert.match(error ?? '', type === 'SRV' ? /must (?:lead to|have the target)/ : /must be a CNAME to/);
  }
  dns.fail('_imaps._tcp.clients.example', 'ESERVFAIL');
  const [unknown] = clientsOf(await verify());
  assert.deepEqual([unknown?.status, /last known state/.test(unknown?.error ?? '')], ['failed', true]);
  dns.heal('_imaps._tcp.clients.example');

  const patched = await t.request('PATCH', url, { body: { productType: 'api' } });
  assert.deepEqual(clientsOf(patched.body), []);
  assert.deepEqual(clientsOf(await verify()), []);
  const again = await t.request('PATCH', url, { body: { productType: 'both' } });
  assert.ok(clientsOf(again.body).every(({ status }) => status === 'pending'));
});

test('the SRV records with the best priority lead to this machine, and the target "." stands alone', () => {
  const srv = (target: string, port = 993, priority = 0) => ({ priority, weight: 1, port, target });
  const evaluate = (records: ReturnType<typeof srv>[], value: string, port = 993) =>
    evaluateSrv({ kind: 'found', records, ttlMs: 1 }, { value, port }).kind;
  assert.equal(evaluate([srv('a.example', 993, 5), srv(HOST)], HOST), 'verified');
  assert.equal(evaluate([srv('a.example'), srv(HOST, 993, 5)], HOST), 'wrong', 'programs use the other one');
  assert.equal(evaluate([srv('a.example'), srv(HOST)], HOST), 'wrong', 'some programs use the other one');
  assert.equal(evaluate([srv(HOST, 994)], HOST), 'wrong');
  assert.equal(evaluate([srv('')], HOST), 'wrong');
  assert.equal(evaluate([srv('', 0)], '.', 0), 'verified');
  assert.equal(evaluate([srv('', 0), srv(HOST)], '.', 0), 'wrong');
  assert.equal(evaluateSrv({ kind: 'no-name' }, { value: '.', port: 0 }).kind, 'absent');
});
