/** What people see in Chromium when a form does not get the answer that it should: it is said beside the button, and nothing is lost. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { findViolations } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard-person.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard?.close());

/** Answers the forms of a page with something else, until it is told to stop. */
async function spoil(page: Page, spoiled: (route: Route) => Promise<void>): Promise<() => Promise<void>> {
  const handle = (route: Route) => (route.request().method() === 'POST' ? spoiled(route) : route.fallback());
  await page.route('**/*', handle);
  return () => page.unroute('**/*', handle);
}

const FAILURES: [string, (route: Route) => Promise<void>, RegExp][] = [
  ['a 500', (route) => route.fulfill({ status: 500, body: 'oops' }), /^The server failed/],
  [
    'a 503 of the dashboard',
    (route) =>
      route.fulfill({
        status: 503,
        contentType: 'text/html',
        body: '<main id="content"><p class="failure">The daemon is stopping; try again shortly</p></main>',
      }),
    /^The daemon is stopping; try again shortly$/,
  ],
  [
    'a 502 of a proxy',
    (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }),
    /^The server failed/,
  ],
  ['no connection', (route) => route.abort('connectionrefused'), /^The server cannot be reached/],
  [
    'another version after an upgrade',
    (route) =>
      route.continue({ headers: { ...route.request().headers(), 'x-dashboard-version': '0.0.1-old' } }),
    /^The program was updated after this page was loaded/,
  ],
];

for (const [name, spoiled, message] of FAILURES) {
  test(`a form that is answered by ${name} says so beside the button, keeps what was entered, and works again`, async () => {
    const page = await dashboard.openPage();
    await page.goto('/t/default/test/topics');
    await page.getByLabel('Name').fill(`News ${name}`);
    const repair = await spoil(page, spoiled);
    const button = page.locator('main form button[type=submit]').last();
    await button.click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.innerText(), message);
    assert.ok(
      await alert.evaluate((element) => element === document.activeElement),
      'the message has the focus',
    );
    assert.ok(await alert.evaluate((element) => element.nextElementSibling?.matches('.buttons')));
    assert.equal(await page.getByLabel('Name').inputValue(), `News ${name}`);
    assert.deepEqual(await findViolations(page), []);
    await repair();
    await button.click();
    await page.getByRole('link', { name: `News ${name}`, exact: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await page.context().close();
  });
}

test('a refusal is shown without leaving the page, has the focus, and what was entered stays', async () => {
  const page = await dashboard.openPage();
  await page.goto('/account');
  await page.getByLabel('Current password').first().fill('not my password');
  await page.getByLabel('New password').fill('quite another password');
  await page
    .getByRole('button', { name: /password/i })
    .first()
    .click();
  const alert = page.getByRole('alert');
  await alert.waitFor();
  assert.ok(await alert.evaluate((element) => element === document.activeElement));
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
  await page.context().close();
});

test('a part of a page that cannot be asked for again stays, and says why beside it', async () => {
  const page = await dashboard.openPage();
  await page.goto('/t/default/test/audiences');
  await page.getByLabel('Name').fill('Readers');
  await page.locator('main form button[type=submit]').last().click();
  await page.waitForURL(/audiences\/aud_/);
  await page.goto(`${new URL(page.url()).pathname}/segments/new`);
  await page.waitForLoadState('networkidle');
  const count = page.locator('#count');
  const before = await count.innerText();
  const repair = await spoil(page, (route) => route.fulfill({ status: 503, body: 'busy' }));
  await page.getByLabel('Name').first().fill('Some');
  await page.getByRole('alert').waitFor();
  assert.equal(await count.innerText(), before);
  assert.equal(
    await page.evaluate(() => document.activeElement?.id),
    'save-name',
    'who writes is not disturbed',
  );
  await repair();
  await page.getByLabel('Name').first().fill('Some more');
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.context().close();
});
