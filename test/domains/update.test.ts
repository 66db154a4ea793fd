import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { addDomain, zoneOf } from './fixtures.ts';

const START = Date.parse('2026-05-01T10:00:00.000Z');

const dns = zoneDns('');
const clock = createFakeClock(START);
let t: TestApp;
/** Refused updates are all of one domain. */
let refusing: string | undefined;

before(async () => {
  t = await openTestApp({ system: { dns, clock }, env: { POSTRIDER_REGIONS: 'sg,eu' } });
});
after(() => t.close());

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
