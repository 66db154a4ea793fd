/** The pages behind links in mail, on the host of the dashboard: their policy allows no script, and neither takes paths of the other. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { BRANDING_PATH } from '../../src/branding/paths.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { CONFIRM_PATH, createLinks, UNSUBSCRIBE_PATH } from '../../src/links/links.ts';
import { STYLESHEET_PATH } from '../../src/preferences/stylesheet.ts';
import { CLICK_PATH, OPEN_PATH } from '../../src/tracking/links/instrument.ts';
import { openBrowser } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const HOST = 'mx.postrider.example';
const testApp = await openTestApp({ env: { POSTRIDER_LINKS_URL: `https://${HOST}` } });
after(() => testApp.close());
const browser = await openBrowser(testApp);
const get = (path: string) => browser.send(path, { method: 'GET', headers: { host: HOST } });

/** Paths of links in mail: one that works, and broken ones. */
const { pathname: unsubscribe } = new URL(
  createLinks(testApp.app).unsubscribeUrl({
    tenantId: testApp.tenantId,
    topicId: undefined,
    contactId: undefined,
    address: 'a@b.example',
  }),
);
const OF_LINKS = [
  unsubscribe,
  STYLESHEET_PATH,
  ...[UNSUBSCRIBE_PATH, CONFIRM_PATH, OPEN_PATH, CLICK_PATH, BRANDING_PATH].map((path) => `${path}/broken`),
];

test('a page behind a link allows no script, and is none of the dashboard', async () => {
  assert.match((await get(unsubscribe)).html, /Unsubscribe/);
  for (const path of OF_LINKS) {
    const { status, headers } = await get(path);
    assert.ok(status < 500, `${path}: ${status}`);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none';/, path);
    assert.doesNotMatch(policy, /script-src|unsafe|connect-src/, path);
    assert.equal(headers['x-dashboard-version'], undefined, path);
  }
});

test('every path of the dashboard is answered by the dashboard', async () => {
  const segments = new Set(PAGES.map((page) => routeOf(page).split('/', 2)[1] ?? ''));
  assert.ok(segments.size > 5);
  for (const segment of segments) {
    const path = segment === '' ? '/' : `/${segment}/nothing/at/all`;
    const { headers } = await get(path);
    assert.notEqual(headers['x-dashboard-version'], undefined, path);
    assert.match(String(headers['content-security-policy']), /script-src 'self'/, path);
  }
});
