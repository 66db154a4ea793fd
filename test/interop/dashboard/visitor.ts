/**
 * A person in front of the dashboard, in Debian's Chromium, with JavaScript or without. Whatever a page must not do counts as a fault: asking
 * another host, running what its policy refuses, throwing, or leaving the focus nowhere after a form was sent.
 */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { until } from '../until.ts';

/** Directory for screenshots of what the tests see. */
const SCREENSHOTS =
  process.env['POSTRIDER_SCREENSHOTS'] ??
  fileURLToPath(new URL('../../../.cache/screenshots', import.meta.url));

export type Visitor = {
  page: Page;
  hasScripts: boolean;
  faults: string[];
  open(path: string): Promise<void>;
  /** Fills the field with this label. */
  fill(label: string | RegExp, value: string, within?: Locator): Promise<void>;
  /** Opens what a summary hides. */
  disclose(label: string): Promise<void>;
  /** Presses a button that sends a form, and waits for the page that answers. */
  submit(button: string | RegExp, within?: Locator): Promise<void>;
  /** Loads the page again until the text is on it. */
  waitFor(text: string | RegExp): Promise<void>;
  /** Returns the text of the page. */
  text(): Promise<string>;
  /** Fails unless the text is on the page. */
  sees(text: string | RegExp): Promise<void>;
  takeScreenshot(name: string): Promise<void>;
  close(): Promise<void>;
};

/** Time that only a failing test waits for a page. */
const MAX_WAIT_MS = 20_000;
const MAX_RELOADS = 60;
const BETWEEN_RELOADS_MS = 300;

const CONTENT = `document.querySelector('#content')`;
/** True when a page says what became of a form, or when its content was replaced without loading it anew: reading goes on there. */
const HAS_SAID = `window.sentFrom !== undefined || document.querySelector('.refused, .said') !== null`;

/** Returns true when another content stands on the page. `waitForFunction` would need `eval`, which the policy refuses. */
function hasChanged(page: Page): Promise<boolean> {
  const question = `document.readyState === 'complete' && ${CONTENT} !== window.sentFrom`;
  // While the page changes, there is nothing that could answer.
  return page.evaluate<boolean>(question).catch(() => false);
}

type Options = BrowserContextOptions & {
  origin: string;
  hasScripts: boolean;
  /** Origins that pages of ours lead to, such as that of a provider where people log in. */
  others?: readonly string[];
};

/** Opens a window of its own. */
export async function visit(
  browser: Browser,
  { origin, hasScripts, others = [], ...options }: Options,
): Promise<Visitor> {
  const context = await browser.newContext({ javaScriptEnabled: hasScripts, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(MAX_WAIT_MS);
  const faults: string[] = [];
  watch(context, [origin, ...others], faults);
  const text = () => page.locator('main').innerText();
  async function submit(button: string | RegExp, within: Locator = page.locator('main')) {
    if (hasScripts) await page.evaluate(`window.sentFrom = ${CONTENT}`);
    const loaded = page.waitForEvent('load');
    loaded.catch(() => {});
    const named = within.getByRole('button', { name: button, exact: typeof button === 'string' });
    // A form may have a first button for the Enter key, which nobody sees.
    await named.and(page.locator(':not(.visually-hidden)')).first().click();
    if (!hasScripts) await loaded;
    else await until(`an answer to "${button}"`, () => hasChanged(page), MAX_WAIT_MS);
    const isLost =
      hasScripts && (await page.evaluate(`document.activeElement === document.body && (${HAS_SAID})`));
    if (isLost) faults.push(`the focus is lost after "${button}" at ${page.url()}`);
  }
  return {
    page,
    hasScripts,
    faults,
    text,
    submit,
    async open(path) {
      // A daemon on a busy machine may refuse for a moment.
      for (let count = 0; count < MAX_RELOADS; count++) {
        const response = await page.goto(origin + path);
        if (response?.status() !== 503) return;
        await page.waitForTimeout(BETWEEN_RELOADS_MS);
      }
    },
    async fill(label, value, within = page.locator('main')) {
      const exact = typeof label === 'string';
      // The text of a label around a choice contains that of its options.
      const choice = within.getByRole('combobox', { name: label, exact });
      const field = within.getByLabel(label, { exact }).or(choice).first();
      if ((await field.evaluate((element) => element.tagName)) === 'SELECT') await field.selectOption(value);
      else await field.fill(value);
    },
    async disclose(label) {
      const summary = page.locator('summary').filter({ hasText: label }).first();
      await summary
        .waitFor()
        .catch(async () => assert.fail(`${label} is not on ${page.url()}: ${await text()}`));
      await summary.click();
    },
    async waitFor(wanted) {
      for (let count = 0; count < MAX_RELOADS; count++) {
        if (matches(await text(), wanted)) return;
        await page.waitForTimeout(BETWEEN_RELOADS_MS);
        await page.reload();
      }
      assert.fail(`${wanted} did not appear at ${page.url()}: ${await text()}`);
    },
    async sees(wanted) {
      const seen = await text();
      assert.ok(matches(seen, wanted), `${wanted} is not on ${page.url()}: ${seen}`);
    },
    async takeScreenshot(name) {
      await takeScreenshot(page, name);
    },
    close: () => context.close(),
  };
}

/** Notes what leaves for other hosts, and what the policy of a page of ours had to refuse. In the frames of foreign HTML it refuses much. */
function watch(context: BrowserContext, origins: readonly string[], faults: string[]): void {
  const isOurs = (url: string) =>
    url.startsWith('data:') || origins.some((origin) => url.startsWith(`${origin}/`));
  const note = (request: Request) => {
    if (!isOurs(request.url()) && !BLOCKED.test(request.failure()?.errorText ?? ''))
      faults.push(`${request.url()} was asked: ${request.failure()?.errorText}`);
  };
  context.on('requestfinished', note);
  context.on('requestfailed', note);
  context.on('weberror', (error) => faults.push(String(error.error())));
  context.on('console', (message) => {
    if (message.text() === 'HOSTILE') faults.push(`a payload has run at ${message.location().url}`);
    const isOfFrame = /\/(?:preview|html)(?:\?|$)/.test(message.location().url);
    if (!isOfFrame && /Content Security Policy|Refused to/.test(message.text()))
      faults.push(`${message.text()} at ${message.location().url}`);
  });
}

/** How Chromium says that a policy has stopped a request before it left. */
const BLOCKED = /^csp$|BLOCKED_BY_CSP/;

function matches(text: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
}

/** Largest height of a picture, in pixels: that of a texture of Chromium's software renderer, which cannot always paint more. */
const MAX_PICTURE_PX = 8_192;

/**
 * Keeps a picture of the page, or of its beginning when it is long, for people to look at. A picture that the browser fails to make is
 * reported and fails no test, since it says nothing about the page.
 */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  const path = join(SCREENSHOTS, `${name.toLowerCase().replace(/[^a-z0-9.]+/g, '-')}.png`);
  const [width, pageHeight] = await page.evaluate<[number, number]>(PAGE_SIZE);
  const clip = { x: 0, y: 0, width, height: Math.min(pageHeight, MAX_PICTURE_PX) };
  await page.screenshot({ path, fullPage: true, clip }).catch((error) => {
    console.error(`no picture of ${page.url()}: ${error instanceof Error ? error.message : error}`);
  });
}

const PAGE_SIZE = '[document.documentElement.scrollWidth, document.documentElement.scrollHeight]';
