/** DMARC and TLS reports, drawn by day and shown in detail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { ReceivedReportRow } from '../../src/db/inbound-tables.ts';
import { sumReports } from '../../src/mail-reports/reports/store.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { addDomain } from '../domains/fixtures.ts';
import { logIn } from '../support/browser.ts';
import { explain } from '../support/explain.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const clock = createFakeClock(Date.UTC(2026, 10, 29, 12));
const testApp: TestApp = await openTestApp({ system: { clock } });
after(() => testApp.close());

const viewer = await logIn(testApp, { role: 'viewer' });
const PAGE = '/t/default/live/reports';

async function addReport(domainId: string, fields: Partial<ReceivedReportRow> & { details: string }) {
  await clock.advance(1);
  const now = clock.now();
  insertRow(testApp, 'receivedReports', {
    ...{ id: newId('rep', now), tenantId: testApp.tenantId, domainId, type: 'dmarc', createdAt: now },
    ...{
      reporter: 'mail.example',
      registrableDomain: 'mail.example',
      organization: 'Mail <b>Inc</b>',
      reportId: `${now}`,
    },
    ...{ beginAt: Date.UTC(2026, 10, 27), endAt: Date.UTC(2026, 10, 27) + DAY_MS - 1 },
    ...{ passed: 0, failed: 0, ...fields },
  });
}

const RECORD = { sourceIp: '192.0.2.7', messages: 9, disposition: 'none', dkim: true, spf: false };
const DMARC = JSON.stringify({
  dmarc: {
    domain: 'shop.example',
    policy: 'reject',
    records: [{ ...RECORD, headerFrom: 'shop.example' }],
    otherMessages: 3,
  },
  tls: null,
  leftOut: { records: 2, messages: 0 },
});
const TLS = JSON.stringify({
  dmarc: null,
  tls: {
    policies: [
      {
        ...{ domain: 'shop.example', policyType: 'sts', succeeded: 40, failed: 1 },
        failures: [{ resultType: 'certificate-expired', sessions: 1, receivingHost: 'mx.shop.example' }],
      },
    ],
  },
});

test('a tenant without domains, and a domain without reports, say so', async () => {
  await viewer.open(PAGE);
  assert.match(viewer.page.html, /There are no domains yet/);
  await addDomain(testApp, { name: 'empty.example' });
  await viewer.open(PAGE);
  assert.match(viewer.page.html, /empty\.example.*No reports yet/s);
});

test('reports are summed by day for the chart, and shown with their sources and failures', async () => {
  const { id: domainId } = await addDomain(testApp, { name: 'shop.example' });
  await addReport(domainId, { passed: 9, failed: 1, details: DMARC });
  await addReport(domainId, { passed: 5, failed: 0, details: DMARC });
  await addReport(domainId, { passed: 7, failed: 0, beginAt: Date.UTC(2026, 10, 28), details: DMARC });
  await addReport(domainId, { type: 'tls', passed: 40, failed: 1, details: TLS });
  await viewer.open(`${PAGE}?domain=shop.example`);
  const { html } = viewer.page;
  const values = (id: string) =>
    [
      ...(new RegExp(`<table id="${id}">.*?</table>`, 's').exec(html)?.[0] ?? '').matchAll(
        /data-value="(\d+)"/g,
      ),
    ].map(([, value]) => Number(value));
  const day = (date: number) => Date.UTC(2026, 10, date) / 1000;
  assert.deepEqual(values('dmarc-by-day'), [day(27), 14, 1, day(28), 7, 0]);
  assert.deepEqual(values('tls-by-day'), [day(27), 40, 1]);
  assert.match(html, /data-chart="dmarc-by-day"/);
  assert.match(html, /chart\.js/);
  assert.match(html, /192\.0\.2\.7/);
  assert.match(html, /2 parts of the report could not be read/);
  assert.match(html, /certificate-expired.*mx\.shop\.example/s);
  assert.match(html, /Mail &lt;b>Inc/);
  await viewer.open(`${PAGE}?domain=shop.example&type=tls`);
  assert.doesNotMatch(viewer.page.html, /dmarc-by-day/);
});

test('the chart has all reports of the days that were chosen, however many pages the list has', async () => {
  const { id: domainId } = await addDomain(testApp, { name: 'many.example' });
  for (let count = 0; count < 30; count++)
    await addReport(domainId, { passed: 1, failed: 2, details: DMARC });
  await clock.advance(3 * DAY_MS);
  const beginAt = Date.UTC(2026, 10, 30);
  await addReport(domainId, { passed: 1000, failed: 0, beginAt, details: DMARC });
  const sums = async (query: string) => {
    const { html } = await viewer.open(`${PAGE}?domain=many.example${query}`);
    return [...html.matchAll(/data-value="(\d+)">([\d,-]+)/g)].map(([, , shown]) => shown);
  };
  assert.deepEqual(await sums(''), ['2026-11-27', '30', '60', '2026-11-30', '1,000', '0']);
  assert.match(viewer.page.html, /rel="next"/);
  assert.deepEqual(await sums('&until=2026-11-29'), ['2026-11-27', '30', '60']);
  assert.deepEqual(await sums('&since=2026-12-01'), ['2026-11-30', '1,000', '0']);
  assert.doesNotMatch(viewer.page.html, /rel="next"/);
  assert.deepEqual(await sums('&since=2027-01-01'), []);
});

test('reports that begin in the future do not push others out of the sums', async () => {
  const { id: domainId } = await addDomain(testApp, { name: 'future.example' });
  const beginAt = clock.now() - DAY_MS;
  await addReport(domainId, { passed: 1, failed: 0, beginAt, details: DMARC });
  await addReport(domainId, { passed: 1, failed: 0, beginAt: beginAt + 9 * DAY_MS, details: DMARC });
  const { body } = await testApp.request('GET', `/v1/domains/${domainId}/reports/days`);
  assert.equal(body.data.length, 1);
});

test('sums are larger than what SQLite adds as integers, and read an index alone', async () => {
  const { id: domainId } = await addDomain(testApp, { name: 'huge.example' });
  for (let count = 0; count < 3; count++)
    await addReport(domainId, { passed: 2 ** 62, failed: 0, details: DMARC });
  const { status, body } = await testApp.request('GET', `/v1/domains/${domainId}/reports/days`);
  assert.equal(status, 200);
  assert.equal(body.data[0].passed, 3 * 2 ** 62);
  const [plan] = await explain((tx) =>
    sumReports.run(tx, { domainId: 'dom_1', type: 'dmarc', before: DAY_MS }),
  );
  assert.match(plan ?? '', /COVERING INDEX receivedReportsByDomain/);
});

test('the values of reports are words of the language', async () => {
  const { html } = await viewer.send(`${PAGE}?domain=shop.example`, {
    method: 'GET',
    headers: { 'accept-language': 'de' },
  });
  assert.match(html, /<td>zugestellt<\/td>/);
  assert.match(html, /<td>MTA-STS<\/td>/);
  assert.match(html, /<code>reject<\/code>/);
});

test('a domain of another tenant is none', async () => {
  const { tenantId } = await testApp.addTenant('stranger');
  const stranger = await logIn(testApp, { tenantId });
  await stranger.open('/t/stranger/live/reports?domain=shop.example');
  assert.match(stranger.page.html, /There is no such domain/);
});
