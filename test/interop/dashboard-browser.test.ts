/** What the browser itself does in front of the dashboard: the back button, double clicks, copying, previews that follow, zoom, and less motion. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { PAGES } from '../../src/dashboard/pages.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { takeScreenshot } from './dashboard/visitor.ts';
import { type Dashboard, openDashboard } from './dashboard-person.ts';

const TEST = '/t/default/test';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard?.close());

const namesOfTopics = (page: Page) => page.locator('main tbody tr td:first-child').allInnerTexts();
const sendButton = (page: Page) => page.locator('main form button[type=submit]').last();

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? 'with' : 'without';
  test(`a double click sends once, and after the back button the form works again, ${how} JavaScript`, async () => {
    const page = await dashboard.openPage({ javaScriptEnabled });
    const [twice, again] = [`Clicked twice ${how}`, `After going back ${how}`];
    await page.goto(`${TEST}/topics`);
    await page.getByLabel('Name').fill(twice);
    await sendButton(page).dblclick();
    await page.getByRole('link', { name: twice, exact: true }).waitFor();
    await page.goto(`${TEST}/topics`);
    const once = await namesOfTopics(page);
    assert.equal(once.filter((name) => name.includes(twice)).length, 1, String(once));

    await page.getByRole('link', { name: twice, exact: true }).click();
    await page.waitForURL(/\/topics\/top_/);
    await page.goBack();
    await page.waitForURL(/\/topics$/);
    assert.equal(await page.locator('main form button:disabled').count(), 0);
    await page.getByLabel('Name').fill(again);
    await sendButton(page).click();
    await page.getByRole('link', { name: again, exact: true }).waitFor();
    // From the page that the form has led to, back to the form, which is sent with another name.
    await page.goBack();
    await page.getByLabel('Name').fill(`${again} twice`);
    assert.equal(await sendButton(page).isEnabled(), true);
    await sendButton(page).click();
    await page.getByRole('link', { name: `${again} twice`, exact: true }).waitFor();
    await page.goto(`${TEST}/topics`);
    const all = await namesOfTopics(page);
    for (const name of [twice, again, `${again} twice`])
      assert.equal(all.filter((one) => one.split('\n')[0] === name).length, 1, `${name}: ${all}`);
    await page.context().close();
  });
}

test('a page that the browser has kept whole is shown again with its buttons enabled', async () => {
  const page = await dashboard.openPage();
  await page.goto(`${TEST}/topics`);
  const button = sendButton(page);
  await button.evaluate((element) => {
    (element as HTMLButtonElement).disabled = true;
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
  });
  assert.equal(await button.isEnabled(), true);
  await page.context().close();
});

test('a button copies the text beside it, and says so', async () => {
  const page = await dashboard.openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(`${TEST}/keys/new`);
  await page.getByLabel('Name').fill('copied');
  await sendButton(page).click();
  await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
  const button = page.locator('main button[data-copy]').first();
  assert.equal(await button.innerText(), 'Copy');
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).first().waitFor();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /^svc_dev_\w{40}$/);
  assert.ok((await page.locator('main').innerText()).includes(copied));
  await page.getByRole('button', { name: 'Copy', exact: true }).first().waitFor();
  await page.context().close();
});

test('the preview of a template follows what is written, and the back button leads past it', async () => {
  const page = await dashboard.openPage();
  await page.goto(`${TEST}/templates`);
  await page.goto(`${TEST}/templates/new`);
  await page.getByLabel('Subject').fill('Hello');
  await page.getByLabel('HTML').first().fill('<p>Hello {{name}}</p>');
  // The next frame is hidden until it has loaded.
  const shown = page.frameLocator('iframe.preview:not([hidden])');
  await shown.getByText('Hello').waitFor();
  await page.getByLabel(/^Values/).fill('name=Ella');
  await shown.getByText('Hello Ella').waitFor();
  await page.getByLabel('HTML').first().fill('<p>Bye {{name}}</p>');
  await shown.getByText('Bye Ella').waitFor();
  assert.notEqual(await page.evaluate(() => document.activeElement?.tagName), 'BODY');
  await takeScreenshot(page, 'live preview of a template');
  await page.goBack();
  await page.waitForURL(/\/templates$/);
  await page.context().close();
});

/** The pages of the navigation. */
const SHOWN = PAGES.filter(({ menu, area }) => menu && area !== 'mailbox').map((page) =>
  routeOf(page).replace('/t/:tenant/:mode', TEST),
);

test('at a zoom of 200 %, no page scrolls sideways, and nothing of its heading is cut off', async () => {
  // Zoom makes pixels of CSS twice as large: a window of 1280 x 800 has half as many.
  const page = await dashboard.openPage({ viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 });
  const wide: string[] = [];
  for (const path of SHOWN) {
    await page.goto(path);
    const { scrolls, heading } = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      const { right = 0, left = 0 } = document.querySelector('h1')?.getBoundingClientRect() ?? {};
      return { scrolls: scrollWidth > clientWidth, heading: left >= 0 && right <= clientWidth };
    });
    if (scrolls || !heading) wide.push(path);
  }
  await takeScreenshot(page, 'zoom of 200 %');
  assert.deepEqual(wide, []);
  await page.context().close();
});

test('whoever wants less motion gets none', async () => {
  const moving = () =>
    [...document.querySelectorAll('*')]
      .filter((element) => {
        const { transitionDuration, animationName } = getComputedStyle(element);
        return animationName !== 'none' || !/^0s(?:, 0s)*$/.test(transitionDuration);
      })
      .map(({ tagName }) => tagName);
  const [calm, usual] = [
    await dashboard.openPage({ reducedMotion: 'reduce' }),
    await dashboard.openPage({ reducedMotion: 'no-preference' }),
  ];
  for (const path of ['/account', `${TEST}/keys/new`, `${TEST}/templates/new`]) {
    await calm.goto(path);
    await usual.goto(path);
    assert.deepEqual(await calm.evaluate(moving), [], path);
    assert.notDeepEqual(await usual.evaluate(moving), [], path);
  }
  await calm.context().close();
  await usual.context().close();
});
