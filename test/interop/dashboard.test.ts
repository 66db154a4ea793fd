/**
 * The dashboard of a real daemon in a real browser: the first login by the link, a key that sends, and axe on every page that has no parameter,
 * light and dark, on a wide and on a narrow screen. Nothing but this host is asked for anything.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Area } from '../../src/dashboard/page.ts';
import { PAGES } from '../../src/dashboard/pages.ts';
import { routeOf } from '../../src/dashboard/routes.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { findViolations, startBrowser } from './browser.ts';

/** Directory for screenshots of every page; without it, none are taken. */
const SCREENSHOTS = process.env['POSTRIDER_SCREENSHOTS'];
const PASSWORD = 'correct horse battery';

let daemon: DaemonProcess;
let browser: Browser;
let origin: string;

before(async () => {
  daemon = await startDaemonProcess();
  origin = daemon.address;
  browser = await startBrowser({});
});
after(async () => {
  await browser?.close();
  await daemon?.stop();
});

/** What a page must not do: ask another host, run what its policy refuses, or throw. */
function watch(context: BrowserContext): string[] {
  const faults: string[] = [];
  context.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) faults.push(request.url());
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  context.on('console', (message) => {
    if (/Content Security Policy|Refused to/.test(message.text())) faults.push(message.text());
  });
  return faults;
}

async function openPage(options: BrowserContextOptions = {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext(options);
  return { page: await context.newPage(), faults: watch(context) };
}

async function logIn(page: Page): Promise<void> {
  await page.goto(`${origin}/login`);
  await page.getByLabel('Email address').fill('olga@people.example');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL(/\/t\/default\/live$/);
}

test('the first login by the link needs neither a mouse nor JavaScript, and the link works once', async () => {
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  const link = origin + new URL(url).pathname;
  const { page } = await openPage({ javaScriptEnabled: false });
  await page.goto(link);
  await page.getByLabel('Your name').focus();
  for (const text of ['Olga Operator', 'olga@people.example', PASSWORD]) {
    await page.keyboard.type(text);
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/t\/default\/live$/);
  assert.equal(await page.getByRole('link', { name: 'Olga Operator' }).count(), 1);
  await page.goto(link);
  assert.equal(await page.getByRole('heading', { name: 'The link does not work any more' }).count(), 1);
  await page.context().close();
});

test('a key that is made on a page sends an email, which a page shows as delivered', async () => {
  const { page, faults } = await openPage();
  await logIn(page);
  await page.goto(`${origin}/t/default/test/keys/new`);
  await page.getByLabel('Name').first().fill('of the browser');
  await page.getByRole('button', { name: /create/i }).click();
  await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
  const [key = ''] = /svc_dev_\w{40}/.exec(await page.content()) ?? [];
  assert.notEqual(key, '');
  const sent = await daemon.request('POST', '/v1/emails', key, {
    from: 'hello@sandbox.localhost',
    to: ['delivered@simulator.localhost'],
    subject: 'From a key of the browser',
    html: '<p>It works.</p><script>document.title = "script"</script>',
    type: 'transactional',
  });
  assert.equal(sent.status, 200, JSON.stringify(sent.body));
  const { id } = sent.body as { id: string };
  await page.goto(`${origin}/t/default/test/emails/${id}`);
  await page.getByText('delivered').first().waitFor();
  assert.ok(!(await page.content()).includes(key));
  assert.deepEqual(faults, []);
  await page.context().close();
});

const PREFIX: Partial<Record<Area, true>> = { tenant: true, account: true, operator: true };

/** Returns the paths of all pages that a person who is logged in can open without an id. */
function paths(): string[] {
  return PAGES.filter(({ area }) => PREFIX[area])
    .map((page) => routeOf(page).replace(':tenant', 'default').replace(':mode', 'test'))
    .filter((path) => !path.includes(':'));
}

const LOOKS = [
  { name: 'wide-light', width: 1280, colorScheme: 'light' },
  { name: 'narrow-dark', width: 360, colorScheme: 'dark' },
] as const;

for (const { name, width, colorScheme } of LOOKS) {
  test(`axe finds no violation on any page, ${name}, none is wider than the screen, and nothing else is asked`, async () => {
    const { page, faults } = await openPage({ viewport: { width, height: 800 }, colorScheme });
    await logIn(page);
    const found: string[] = [];
    for (const path of paths()) {
      const response = await page.goto(origin + path);
      // An export begins with a download, which is no page.
      if (response?.status() !== 200 || !response.headers()['content-type']?.startsWith('text/html')) {
        found.push(`${path}: ${response?.status()}`);
        continue;
      }
      for (const violation of await findViolations(page)) found.push(`${path}: ${violation}`);
      const isTooWide = 'document.documentElement.scrollWidth > window.innerWidth';
      if (await page.evaluate(isTooWide)) found.push(`${path}: wider than the screen`);
      await takeScreenshot(page, `${name}${path.replaceAll('/', '-')}`);
    }
    assert.deepEqual([found, faults], [[], []]);
    await page.context().close();
  });
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
