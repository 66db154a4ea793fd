/** All pages of the dashboard in Chromium, from an application in this process, which can be filled quickly. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Browser as Session } from '../../support/browser.ts';
import type { Visit } from '../../support/dashboard/visits.ts';
import { openPopulated, type Populated } from '../../support/resources/populated.ts';
import type { TestApp } from '../../support/test-app.ts';
import { startBrowser } from '../browser.ts';
import { type Visitor, visit } from './visitor.ts';

export type Pages = {
  /** Opens a window in which somebody is logged in. */
  enter(session: Session, options?: BrowserContextOptions): Promise<Visitor>;
  /** Runs `look` on each page that somebody can open. Files and the frames of foreign HTML are no pages. */
  walk(
    visits: readonly Visit[],
    options: BrowserContextOptions,
    look: (visitor: Visitor, path: string) => Promise<void>,
  ): Promise<string[]>;
};

/** Opens a populated application and the browser, which end with the tests of the file. */
export async function openPages(
  env: Record<string, string> = {},
): Promise<Pages & { world: Populated; browser: Browser }> {
  const world = await openPopulated({}, env);
  const browser: Browser = await startBrowser({});
  after(async () => {
    await browser.close();
    await world.close();
  });
  return { world, browser, ...(await openPagesOf(world.testApp, browser)) };
}

/** Serves the pages of an application to the browser. */
export async function openPagesOf(testApp: Pick<TestApp, 'openServer'>, browser: Browser): Promise<Pages> {
  const server = await testApp.openServer();
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
  const enter: Pages['enter'] = async (session, options = {}) => {
    const visitor = await visit(browser, { origin, hasScripts: true, ...options });
    await visitor.page.context().addCookies(cookiesOf(session, origin));
    return visitor;
  };
  return {
    enter,
    async walk(visits, options, look) {
      const faults: string[] = [];
      for (const { browser: session, paths } of visits) {
        const visitor = await enter(session, options);
        for (const path of paths) {
          if (isNoPage(path)) continue;
          await visitor.open(path);
          assert.equal(await visitor.page.locator('#content').count(), 1, path);
          await look(visitor, path);
          faults.push(...visitor.faults.splice(0).map((fault) => `${path}: ${fault}`));
        }
        await visitor.close();
      }
      return faults;
    },
  };
}

/** Returns the cookies of a session as Chromium takes them. */
export function cookiesOf(session: Session, url: string) {
  const pairs = session.cookie() === '' ? [] : session.cookie().split('; ');
  return pairs.map((pair) => {
    const [name = '', value = ''] = pair.split('=');
    return { name, value, url };
  });
}

/** Returns true for the path of a file, which a browser stores, or of foreign HTML in a frame. */
export function isNoPage(path: string): boolean {
  return /\/(?:raw|errors|file|preview|html|files\/\d+)$/.test(path);
}

/** Returns true when a page is wider than its window, so that it scrolls sideways. */
export async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
}
