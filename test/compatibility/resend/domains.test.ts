/** Domains by the client of Resend. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestApp } from '../../support/test-app.ts';
import { clientsOf, dataOf, refusalOf } from './client.ts';

const testApp = await openTestApp();
after(() => testApp.close());
const clientWith = await clientsOf(testApp);
const resend = clientWith(testApp.liveKey);

test('a domain is created with its records, shown, listed, verified, changed and removed', async () => {
  const created = await dataOf(
    resend.domains.create({
      name: 'shop.example',
      region: 'eu-west-1',
      clickTracking: true,
      trackingSubdomain: 'links',
    }),
  );
  const { id } = created;
  assert.equal(created.status, 'pending');
  assert.deepEqual(
    created.records.map(({ record, type, status }) => `${record} ${type} ${status}`),
    ['SPF TXT pending', 'DKIM CNAME pending', 'DMARC TXT pending', 'Tracking CNAME pending'],
  );
  assert.deepEqual(Object.keys(created.records[0] ?? {}), [
    'record',
    'name',
    'type',
    'ttl',
    'status',
    'value',
  ]);
  assert.deepEqual(
    [created.open_tracking, created.click_tracking, created.tracking_subdomain],
    [false, true, 'links.shop.example'],
  );

  assert.deepEqual(await dataOf(resend.domains.verify(id)), { object: 'domain', id });
  const shown = await dataOf(resend.domains.get(id));
  assert.deepEqual([shown.object, shown.name], ['domain', 'shop.example']);
  const changes = { id, openTracking: true, clickTracking: false, trackingSubdomain: 'go.shop.example' };
  assert.deepEqual(await dataOf(resend.domains.update(changes)), { object: 'domain', id });
  const [listed] = (await dataOf(resend.domains.list())).data;
  assert.deepEqual(
    [listed?.id, listed?.open_tracking, listed?.click_tracking, listed?.tracking_subdomain],
    [id, true, false, 'go.shop.example'],
  );
  assert.deepEqual(listed?.capabilities, { sending: 'enabled', receiving: 'disabled' });
  assert.deepEqual(await dataOf(resend.domains.remove(id)), { object: 'domain', id, deleted: true });
  assert.match(await refusalOf(resend.domains.get(id)), /^404 not_found: Domain not found$/);
});

test('the record for receiving is shown to whoever asks for it', async () => {
  const capabilities = { receiving: 'enabled' } as const;
  const { records } = await dataOf(resend.domains.create({ name: 'in.example', capabilities }));
  const last = records.at(-1);
  assert.ok(last?.record === 'Receiving');
  assert.deepEqual([last.type, last.priority], ['MX', 10]);
});

test('what would make another domain of it is refused, and leaves none behind', async () => {
  const create = (more: object) => refusalOf(resend.domains.create({ name: 'other.example', ...more }));
  assert.match(await create({ tls: 'enforced' }), /^422 validation_error: `tls` cannot be/);
  assert.match(
    await create({ capabilities: { sending: 'disabled' } }),
    /^422 validation_error: `capabilities.sending`/,
  );
  assert.match(await create({ trackingSubdomain: 'no name' }), /^422 validation_error: `tracking_subdomain`/);
  assert.match(await create({ name: undefined }), /^422 missing_required_field: `name` is required$/);
  const { data } = await dataOf(resend.domains.list());
  assert.deepEqual(
    data.filter(({ name }) => name === 'other.example'),
    [],
  );
  assert.match(await refusalOf(resend.domains.create({ name: 'in.example' })), /^409 validation_error: /);
});
