/** The pages of a site and of the sources in Chromium: axe finds nothing, none is too wide, and their forms work by mouse. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { logIn } from '../support/browser.ts';
import { keptAt, OUTBOUND, siteAt, sitesWith, suspendProxy } from '../support/dashboard/delivery.ts';
import { openTestApp } from '../support/test-app.ts';
import { findViolations, startBrowser } from './browser.ts';
import { isTooWide, openPagesOf } from './dashboard/pages.ts';

const HOSTS = 'mx1.one.example,mx2.one.example';
const ended: (number | null)[] = [];
const lifted: (string | null)[] = [];
const sites = sitesWith({
  explainSites: async ({ name }) => {
    const one = siteAt(HOSTS, testApp.tenantId);
    return name === 'one.example' ? [one, { ...one, site: `${HOSTS} from second 0a1b2c3d` }] : [one];
  },
  async disconnect({ connection }) {
    ended.push(connection);
    return [{ id: 7, host: null, address: null, site: HOSTS, how: 'cut' }];
  },
  async liftRests({ restriction }) {
    lifted.push(restriction);
    return [{ kind: 'rest', site: HOSTS, until: null, reason: null }];
  },
  async listKept() {
    const kept = keptAt(HOSTS, testApp.tenantId);
    return { kept, total: 1_234, sites: [] };
  },
});
const testApp = await openTestApp({ sites, outbound: OUTBOUND });
await suspendProxy(testApp.app);
const browser = await startBrowser({});
after(async () => {
  await browser.close();
  await testApp.close();
});
const operator = await logIn(testApp, { isOperator: true, tenantId: null });
await operator.open('/operator/sources');
await operator.submit('start', { source: 'two', curve: 'standard' });
await operator.submit('suspend', { source: 'one', reason: 'it is on a blocklist' });
const german = await logIn(testApp, { isOperator: true, tenantId: null });
await german.open('/account');
await german.submit('profile', { language: 'de' });
const { enter } = await openPagesOf(testApp, browser);

const PATHS = {
  site: `/operator/queue/site?name=${encodeURIComponent(HOSTS)}`,
  several: '/operator/queue/site?name=one.example',
  resting: '/operator/queue/resting',
  sources: '/operator/sources',
};

const OPEN_ALL = `for (const one of document.querySelectorAll('main details')) one.open = true`;

for (const [name, session, options] of [
  ['wide and light, in English', operator, { viewport: { width: 1280, height: 800 } }],
  [
    'narrow and dark, in German',
    german,
    { viewport: { width: 360, height: 800 }, colorScheme: 'dark' as const },
  ],
] as const)
  test(`axe finds nothing on the pages of delivery, ${name}`, async () => {
    const visitor = await enter(session, options);
    for (const [page, path] of Object.entries(PATHS)) {
      await visitor.open(path);
      if (page === 'sources') await visitor.page.locator('#checks table').waitFor();
      await visitor.page.evaluate(OPEN_ALL);
      await visitor.takeScreenshot(`delivery ${page} ${name}`);
      assert.deepEqual(await findViolations(visitor.page), [], page);
      assert.equal(await isTooWide(visitor.page), false, page);
    }
    assert.deepEqual(visitor.faults, []);
    await visitor.close();
  });

test('a connection is cut off, and all end', async () => {
  const visitor = await enter(operator);
  await visitor.open(PATHS.site);
  await visitor.submit('Cut off');
  await visitor.sees('The connections end.');
  await visitor.submit('End all connections');
  assert.deepEqual(ended, [7, null]);
  assert.deepEqual(visitor.faults, []);
  await visitor.close();
});

test('a rule is lifted in the list of resting sites, and a source is suspended, probed and resumed', async () => {
  const visitor = await enter(operator);
  await visitor.open(PATHS.resting);
  const form = (name: string) => visitor.page.getByRole('form', { name, exact: true });
  await visitor.submit('Lift', form('Lift: slower provider google'));
  await visitor.sees('Lifted. What waits is tried now.');
  assert.deepEqual(lifted, ['slower - - provider google']);
  await visitor.open(PATHS.sources);
  await visitor.submit('Resume', form('Resume: one'));
  await visitor.sees('Saved');
  await visitor.submit('Probe', form('Probe: one'));
  await visitor.sees('this machine does not have the address of the source');
  await visitor.takeScreenshot('delivery probe');
  assert.deepEqual(visitor.faults, []);
  await visitor.close();
});
