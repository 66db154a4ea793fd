/** The operator sees how a site is spoken to, ends its connections, and lifts what keeps it. */
import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { DisconnectRequest, LiftRequest } from '../../src/queue/shaping/site-calls.ts';
import type { SiteReport } from '../../src/queue/shaping/site-report.ts';
import { logIn } from '../support/browser.ts';
import { siteAt, sitesWith } from '../support/dashboard/delivery.ts';
import { openTestApp } from '../support/test-app.ts';

const HOSTS = 'mx1.one.example,mx2.one.example';
let reports: SiteReport[] = [];
const forgotten: string[] = [];
let asked: (DisconnectRequest | LiftRequest)[] = [];
const sites = sitesWith({
  explainSites: async ({ name }) =>
    reports.filter(({ site }) => site === name || site.startsWith(`${name},`) || name === 'one.example'),
  async disconnect(request) {
    asked.push(request);
    const { site = '', connections = [] } = reports[0] ?? {};
    const named = connections.filter(({ id }) => request.connection === null || id === request.connection);
    return named.map(({ id, host, address }) => ({ id, host, address, site, how: 'closed' }));
  },
  async liftRests(request) {
    asked.push(request);
    return (reports[0]?.restrictions ?? []).map((one) => ({ kind: 'restriction', ...one }));
  },
  async forgetLearned(named) {
    forgotten.push(named.name);
    return [{ site: named.name, failures: 4 }];
  },
});
const testApp = await openTestApp({ sites });
after(() => testApp.close());
const operator = await logIn(testApp, { isOperator: true, tenantId: null });
beforeEach(() => {
  asked = [];
  reports = [siteAt(HOSTS, testApp.tenantId)];
});

const open = (name: string) => operator.open(`/operator/queue/site?${new URLSearchParams({ name })}`);

test('the page shows what binds, each limit with its origin, rules in force and connections', async () => {
  const { html, status } = await open(HOSTS);
  assert.equal(status, 200);
  assert.match(html, /<h1>.*Site mx1\.one\.example, mx2\.one\.example/);
  assert.match(
    html,
    /Limited now by<\/dt><dd>a rest of the site until <time[^>]*>[^<]*<\/time>: .*slow down/,
  );
  assert.doesNotMatch(html, /<b>slow|<i>rate/);
  assert.match(html, /2 of 5 allowed now, 1 idle/);
  assert.match(
    html,
    /<td>Recipients per minute<\/td><td class="number">60<\/td><td>back-off rule <code>slower<\/code> until/,
  );
  assert.match(
    html,
    /New connections per minute<\/td><td class="number">10<\/td><td>setting .*delivery\.limits/,
  );
  assert.match(html, /all sites of the provider<\/td><td class="number">none<\/td><td>default/);
  assert.match(html, /all sites of google<\/td><td>Recipients per minute: 60/);
  assert.match(html, new RegExp(`the tenant <a href="/operator/tenants/${testApp.tenantId}">`));
  assert.match(html, /mx1\.one\.example \[192\.0\.2\.1\]<\/bdi> TLSv1\.3.*1,234.*sending/s);
  assert.match(html, /class="status neutral">waits for mail/);
  assert.match(html, /class="status neutral">connecting/);
});

test('a connection is ended, cut off, and all are', async () => {
  await open(HOSTS);
  const ended = await operator.submit('disconnect');
  assert.match(ended.html, /The connections end\./);
  await operator.submit('disconnect', { force: 'on' });
  await operator.submit('disconnect', { connection: '' });
  const named = { name: HOSTS, siteOfDomain: undefined };
  assert.deepEqual(asked, [
    { ...named, connection: 7, force: false },
    { ...named, connection: 7, force: true },
    { ...named, connection: null, force: false },
  ]);
  assert.match(operator.page.html, /aria-label="Cut off: 7"/);
  assert.doesNotMatch(
    operator.page.html,
    /aria-label="Cut off: 9"/,
    'an idle connection ends at once anyway',
  );
  const gone = await operator.submit('disconnect', { connection: '8' });
  assert.match(gone.html, /has no connection 8: it has ended/);
});

test('a restriction is lifted, and everything that keeps the site', async () => {
  await open(HOSTS);
  const lifted = await operator.submit('lift');
  assert.match(lifted.html, /Lifted\. What waits is tried now\./);
  await operator.submit('lift', { restriction: '' });
  const named = { name: HOSTS, siteOfDomain: undefined };
  assert.deepEqual(asked, [
    { ...named, restriction: 'slower - - provider google' },
    { ...named, restriction: null },
  ]);
  const lines = await testApp.app.db.read
    .selectFrom('auditEntries')
    .select(['action', 'details'])
    .where('action', 'like', 'operator/queue/site %')
    .orderBy('id')
    .execute();
  const [first] = lines;
  assert.equal(first?.action, 'operator/queue/site disconnect');
  assert.match(first?.details ?? '', /"connection".*7/);
});

test('what a site has taught is shown, and forgotten', async () => {
  const { html } = await open(HOSTS);
  assert.match(
    html,
    /What it has taught<\/dt><dd>connections: at most 3; failures in a row: 4\. It has refused/,
  );
  assert.match((await operator.submit('reset')).html, /Forgotten\. The site is served as a new one\./);
  assert.deepEqual(forgotten, [HOSTS]);
});

test('sites that share a name lead to a page each, and a name without a site says so', async () => {
  reports = [siteAt(HOSTS, testApp.tenantId), siteAt(`${HOSTS} from second 0a1b2c3d`, testApp.tenantId)];
  const { html } = await open('one.example');
  assert.match(html, /2 sites have this name/);
  assert.match(
    html,
    /href="\/operator\/queue\/site\?name=mx1\.one\.example%2Cmx2\.one\.example\+from\+second\+0a1b2c3d"/,
  );
  assert.doesNotMatch(html, /name="_action" value="disconnect"/);
  assert.match((await open('other.example')).html, /No mail was routed there since the server started/);
  assert.doesNotMatch((await operator.open('/operator/queue/site')).html, /No mail was routed/);
});

test('a site with nothing in force and no connection has nothing to end and nothing to lift', async () => {
  const quiet = { limit: 'none', until: null, reason: null } as const;
  reports = [{ ...siteAt(HOSTS, testApp.tenantId), binding: quiet, connections: [], restrictions: [] }];
  const { html } = await open(HOSTS);
  assert.match(html, /Limited now by<\/dt><dd>nothing<\/dd>/);
  assert.match(html, /No connection is open\..*No rule is in force here\./s);
  assert.doesNotMatch(html, /value="(?:disconnect|lift)"/);
});
