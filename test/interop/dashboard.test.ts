/** The first login by the link that the daemon prints, and what a person does with the keyboard alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startBrowser } from './browser.ts';
import { type Visitor, visit } from './dashboard/visitor.ts';
import { PASSWORD, PERSON } from './dashboard/world.ts';

let browser: Browser;
const daemons: DaemonProcess[] = [];

before(async () => {
  browser = await startBrowser({});
});
after(async () => {
  await browser?.close();
  for (const daemon of daemons) await daemon.stop();
});

/** Starts a daemon, and opens a window for the link of its first person. */
async function begin(hasScripts: boolean): Promise<{ visitor: Visitor; link: string }> {
  const daemon = await startDaemonProcess();
  daemons.push(daemon);
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  return {
    visitor: await visit(browser, { origin: daemon.address, hasScripts }),
    link: new URL(url).pathname,
  };
}

/** Presses Tab until the focus is on an element with this name, as somebody does who sees where the focus is. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press('Tab');
    const label = await page.evaluate(NAME_OF_FOCUSED);
    if (label === name) return;
  }
  assert.fail(`no element with the name "${name}" was reached by Tab at ${page.url()}`);
}

const MAX_TABS = 100;
const NAME_OF_FOCUSED = `(() => {
  const element = document.activeElement;
  return (element?.labels?.[0]?.textContent ?? element?.getAttribute('aria-label') ?? element?.textContent ?? '').trim();
})()`;

async function type(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.type(text);
}

/** Sets the dashboard up with the link. */
async function enter({ page, open }: Visitor, link: string): Promise<void> {
  await open(link);
  await type(page, 'Your name', PERSON.name);
  await type(page, 'Email address', PERSON.email);
  await type(page, 'New password (at least 8 characters)', PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/t\/default\/live$/);
}

for (const hasScripts of [true, false]) {
  const how = hasScripts ? 'with' : 'without';
  test(`the first login by the link, and the first key, need no mouse, ${how} JavaScript; the link works once`, async () => {
    const { visitor, link } = await begin(hasScripts);
    const { page, open, sees, faults } = visitor;
    await enter(visitor, link);
    assert.equal(await page.getByRole('link', { name: PERSON.name }).count(), 1);
    await tabTo(page, 'Switch to test mode');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/t\/default\/test$/);
    await tabTo(page, 'API keys');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/keys$/);
    await tabTo(page, 'Skip to content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Create an API key');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/keys\/new$/);
    await type(page, 'Name', 'made by keyboard');
    await tabTo(page, 'Create an API key');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
    await sees(/svc_dev_\w{40}/);
    await visitor.takeScreenshot(`first key ${how} JavaScript`);
    await open(link);
    await sees('The link does not work any more');
    assert.deepEqual(faults, []);
    await visitor.close();
  });
}

for (const hasScripts of [true, false]) {
  const how = hasScripts ? 'with' : 'without';
  test(`a test email is written, sent and found again by the keyboard alone, ${how} JavaScript`, async () => {
    const { visitor, link } = await begin(hasScripts);
    const { page, open, waitFor, faults } = visitor;
    await enter(visitor, link);
    await open('/t/default/test');
    await tabTo(page, 'Send a test');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/send-test$/);
    await tabTo(page, 'Subject');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('Typed without a mouse');
    await tabTo(page, 'Send');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/emails\/em_\w+/);
    await waitFor('delivered');
    if (hasScripts) await page.keyboard.press('Control+k');
    else await type(page, 'Search', '');
    await page.keyboard.type('delivered@simulator.localhost');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?q=/);
    await tabTo(page, 'Typed without a mouse');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/emails\/em_\w+$/);
    await visitor.takeScreenshot(`search by keyboard ${how} JavaScript`);
    assert.deepEqual(faults, []);
    await visitor.close();
  });
}
