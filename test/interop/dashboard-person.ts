/** A daemon whose dashboard has one person, the operator and owner of its tenant, and Chromium in front of it. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { startBrowser } from './browser.ts';

const EMAIL = 'olga@people.example';
const PASSWORD = 'correct horse battery';

export type Dashboard = {
  daemon: DaemonProcess;
  browser: Browser;
  /** Opens a browser window of its own, in which the person is logged in. */
  openPage(options?: BrowserContextOptions): Promise<Page>;
  close(): Promise<void>;
};

/** Starts both, and sets up the person by the link that the daemon makes. */
export async function openDashboard(options: { keepsPages?: boolean } = {}): Promise<Dashboard> {
  const daemon = await startDaemonProcess();
  const browser = await startBrowser({}, options);
  const first = await browser.newPage({ baseURL: daemon.address });
  const { url } = (await daemon.cli(['person', 'link'])) as { url: string };
  await first.goto(new URL(url).pathname);
  await first.getByLabel('Your name').fill('Olga Operator');
  await first.getByLabel('Email').fill(EMAIL);
  await first.getByLabel('Password').first().fill(PASSWORD);
  await first.locator('main button[type=submit]').click();
  await first.waitForURL(/\/t\/default\/live$/);
  await first.context().close();
  return {
    daemon,
    browser,
    async openPage(window = {}) {
      const context = await browser.newContext({ baseURL: daemon.address, ...window });
      const page = await context.newPage();
      await page.goto('/login');
      await enterLogin(page);
      await page.waitForURL(/\/t\/default\/live$/);
      return page;
    },
    async close() {
      await browser.close();
      await daemon.stop();
    },
  };
}

/** Fills in the page to log in, which is shown, and sends it. */
export async function enterLogin(page: Page): Promise<void> {
  await page.getByLabel('Email address').fill(EMAIL);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
}
