/** The pages of domains: records to publish, what DNS has instead, settings, rotation, and the end of a domain. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Published, zoneOf } from '../../domains/fixtures.ts';
import { type Browser, logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';
import { zoneDns } from '../../support/zone-dns.ts';
import { textsIn } from '../shown.ts';

const dns = zoneDns('');
const testApp = await openTestApp({ system: { dns } });
after(() => testApp.close());

const DOMAINS = '/t/default/live/domains';
const live = { key: testApp.liveKey };

/** Adds a domain with the form, and returns its id. */
async function addByForm(browser: Browser, name: string): Promise<string> {
  await browser.open(`${DOMAINS}/new`);
  await browser.submit('add', { name });
  const [, id = ''] = /\/domains\/(dom_\w+)/.exec(browser.page.url) ?? [];
  assert.notEqual(id, '', browser.page.html);
  return id;
}

async function recordsOf(id: string): Promise<readonly Published[]> {
  return (await testApp.request('GET', `/v1/domains/${id}`, live)).body.records;
}

test('a new domain shows each record to copy, and a check shows what DNS has in its place', async () => {
  const owner = await logIn(testApp);
  const id = await addByForm(owner, 'News.Example.com');
  const records = await recordsOf(id);
  const codes = textsIn(owner.page.html, 'code');
  for (const { name, value } of records)
    assert.ok(codes.includes(name) && codes.includes(value), `${name} ${value}`);
  assert.match(owner.page.html, /not looked up yet/);
  dns.setZone(zoneOf(records, { SPF: 'news.example.com TXT "v=spf1 include:_spf.other.example -all"' }));
  await owner.submit('verify');
  assert.match(owner.page.html, /The records are looked up/);
  assert.ok(textsIn(owner.page.html, 'code').includes('v=spf1 include:_spf.other.example -all'));
  assert.equal(textsIn(owner.page.html, 'h3').filter((text) => text.endsWith(' verified')).length, 2);
  dns.setZone(zoneOf(records));
  await owner.submit('verify');
  assert.equal(textsIn(owner.page.html, 'h3').filter((text) => text.endsWith(' verified')).length, 3);
  await owner.open(`${DOMAINS}?status=verified`);
  assert.match(owner.page.html, new RegExp(id));
  await owner.open(`${DOMAINS}?status=failed`);
  assert.match(owner.page.html, /Nothing matches these filters/);
});

test('optional records say what they are for, in the language of the person', async () => {
  const owner = await logIn(testApp);
  const id = await addByForm(owner, 'optional.example');
  assert.match(owner.page.html, /Bounces then return below your own domain/);
  await owner.open('/account');
  await owner.submit('profile', { language: 'de' });
  await owner.open(`${DOMAINS}/${id}`);
  assert.match(owner.page.html, /Unzustellbarkeitsmeldungen kommen dann unterhalb Ihrer eigenen Domain an/);
});

test('settings change, and a tracking host adds its record', async () => {
  const owner = await logIn(testApp);
  const id = await addByForm(owner, 'settings.example');
  const refused = await owner.submit('change', { trackingSubdomain: 'links.other.example' });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /must be a host name below settings.example/);
  assert.match(refused.html, /value="links.other.example"/);
  await owner.submit('change', {
    trackingSubdomain: 'links.settings.example',
    clickTracking: 'on',
    ed25519: 'on',
    productType: 'both',
  });
  const { body } = await testApp.request('GET', `/v1/domains/${id}`, live);
  assert.deepEqual(
    [body.trackingSubdomain, body.openTracking, body.clickTracking, body.ed25519, body.productType],
    ['links.settings.example', false, true, true, 'both'],
  );
  assert.ok(textsIn(owner.page.html, 'h3').some((text) => text.startsWith('TRACKING ')));
  // A form whose boxes are not checked switches everything off.
  await owner.submit('change', { trackingSubdomain: '', clickTracking: [], ed25519: [] });
  const { body: off } = await testApp.request('GET', `/v1/domains/${id}`, live);
  assert.deepEqual([off.trackingSubdomain, off.clickTracking, off.ed25519], [null, false, false]);
});

test('keys are rotated from the page, and the next one waits for its record', async () => {
  const owner = await logIn(testApp);
  await addByForm(owner, 'rotated.example');
  await owner.submit('rotate');
  assert.match(owner.page.html, /waits for its DNS record/);
});

test('a domain with scheduled mail is not deleted, and the page says how much stands in the way', async () => {
  const owner = await logIn(testApp);
  const id = await addByForm(owner, 'scheduled.example');
  dns.setZone(zoneOf(await recordsOf(id)));
  await owner.submit('verify');
  const sent = await testApp.request('POST', '/v1/emails', {
    ...live,
    body: {
      from: 'shop@scheduled.example',
      to: 'delivered@simulator.mx.postrider.example',
      subject: 'Later',
      text: 'Later',
      type: 'transactional',
      scheduledAt: new Date(testApp.app.clock.now() + 3_600_000).toISOString(),
    },
  });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const refused = await owner.submit('delete');
  assert.equal(refused.status, 422);
  assert.match(refused.html, /<details open.*Domain has 1 scheduled email; cancel it/s);
  await testApp.request('POST', `/v1/emails/${sent.body.id}/cancel`, live);
  await owner.submit('delete');
  assert.equal(owner.page.url, `${DOMAINS}?said=deleted`);
  assert.equal((await testApp.request('GET', `/v1/domains/${id}`, live)).status, 404);
});

test('a viewer sees a domain with its records, and no form', async () => {
  const id = await addByForm(await logIn(testApp), 'viewed.example');
  const viewer = await logIn(testApp, { role: 'viewer' });
  await viewer.open(`${DOMAINS}/${id}`);
  assert.match(viewer.page.html, /v=spf1/);
  assert.ok(!viewer.page.html.includes('value="verify"'));
  assert.ok(!viewer.page.html.includes('value="delete"'));
});
