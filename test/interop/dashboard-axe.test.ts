/**
 * axe finds nothing on any page of the dashboard: full, with live mail, empty, of a new installation, and where a form was refused; light and
 * dark; on a wide and on a narrow screen.
 * By default each state is seen in some of the looks, and with POSTRIDER_FULL in all of them. The narrow screen reads German, whose words are long,
 * and the wide one English.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Visit, visitEmpty, visitFull, visitNew } from '../support/dashboard/visits.ts';
import { openTestApp } from '../support/test-app.ts';
import { findViolations } from './browser.ts';
import { isTooWide, openPages, openPagesOf, type Pages } from './dashboard/pages.ts';

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 360].map((width) => ({ name: `${width}-${colorScheme}`, colorScheme, width })),
);
type Look = (typeof LOOKS)[number];
/** The looks of each state without POSTRIDER_FULL: with them, every two of state, colours and width meet. */
const USUAL = {
  full: ['1280-light', '360-dark'],
  live: ['1280-dark', '360-light'],
  empty: ['1280-dark', '360-light'],
  new: ['1280-light', '360-dark'],
  error: ['1280-dark', '360-light'],
};
type State = keyof typeof USUAL;
const IS_FULL = process.env['POSTRIDER_FULL'] !== undefined;

function looksOf(state: State): readonly Look[] {
  return LOOKS.filter(({ name }) => IS_FULL || USUAL[state].includes(name));
}

/** Returns the pages that are seen in a look. The looks of a state share its pages, but every full page is seen in each. */
function shareOf(visits: readonly Visit[], state: State, look: Look): readonly Visit[] {
  if (state === 'full') return visits;
  const looks = looksOf(state);
  const turn = looks.indexOf(look);
  return visits.map(({ browser, paths }) => ({
    browser,
    paths: IS_FULL ? paths : paths.filter((_, index) => index % looks.length === turn),
  }));
}
const windowOf = ({ colorScheme, width }: Look) => ({
  colorScheme,
  viewport: { width, height: 800 },
  locale: width < 1000 ? 'de-DE' : 'en-GB',
});

const { world, browser, walk } = await openPages();
const filled = await visitFull(world);
const isLive = (path: string) => path.startsWith('/t/default/live');
/** Returns the visits with some of their pages. */
const only = (isSeen: (path: string) => boolean) =>
  filled.map(({ browser: session, paths }) => ({ browser: session, paths: paths.filter(isSeen) }));
const full = only((path) => !isLive(path));
const empty = await visitEmpty(world);
const installation = await openTestApp();
after(() => installation.close());
const installed = await openPagesOf(installation, browser);

type Seen = { state: State; visits: readonly Visit[]; walk: Pages['walk'] };
const SEEN: readonly Seen[] = [
  { state: 'full', visits: full, walk },
  { state: 'live', visits: only(isLive), walk },
  { state: 'empty', visits: empty, walk },
  { state: 'new', visits: await visitNew(installation), walk: installed.walk },
];

/** Returns a path without the ids and the tokens in it, which differ each time. */
function withoutSecrets(path: string): string {
  return path.replace(/_\w{26}/g, '').replace(/\/[\w-]{43}$/, '');
}

async function findFaults(page: Page, path: string): Promise<string[]> {
  const violations = await findViolations(page);
  const faults = violations.map((violation) => `${path}: ${violation}`);
  return (await isTooWide(page)) ? [...faults, `${path}: wider than the screen`] : faults;
}

for (const { state, visits, walk: walkAll } of SEEN) {
  for (const look of looksOf(state)) {
    test(`axe finds nothing on any ${state} page, none is wider than the screen, and no other host is asked, ${look.name}`, async () => {
      const found: string[] = [];
      let pages = 0;
      const seen = shareOf(visits, state, look);
      const faults = await walkAll(seen, windowOf(look), async ({ page, takeScreenshot }, path) => {
        pages += 1;
        found.push(...(await findFaults(page, path)));
        await takeScreenshot(`${look.name}-${state}${withoutSecrets(path)}`);
      });
      assert.deepEqual([found, faults], [[], []]);
      assert.ok(pages >= 10, `only ${pages} pages were seen`);
    });
  }
}

for (const look of looksOf('error')) {
  test(`axe finds nothing on pages that have refused a form, ${look.name}`, async () => {
    const found: string[] = [];
    let refusals = 0;
    const faults = await walk(
      shareOf(full, 'error', look),
      windowOf(look),
      async ({ page, open, takeScreenshot }, path) => {
        // Without a session there is nobody to enter a code, and the answer leads to the login.
        const count = path === '/login/code' ? 0 : await page.locator(FORMS).count();
        for (let index = 0; index < count; index++) {
          if (index > 0) await open(path);
          await sendEmpty(page, index);
          refusals += 1;
          found.push(...(await findFaults(page, `${path} form ${index}`)));
          await takeScreenshot(`${look.name}-error${withoutSecrets(path)}-${index}`);
        }
      },
    );
    assert.deepEqual([found, faults], [[], []]);
    assert.ok(refusals >= 10, `only ${refusals} forms were refused`);
  });
}

/** Forms with a text that must be there. */
const FORMS = 'main form[method="post"]:has([required]:is(input:not([type="file"]), textarea))';

/** Sends a form without what it needs, which a browser alone would not do. */
async function sendEmpty(page: Page, index: number): Promise<void> {
  const form = page.locator(FORMS).nth(index);
  await form.evaluate((element) => {
    const sent = element as unknown as { noValidate: boolean; requestSubmit(): void };
    for (const field of element.querySelectorAll('[required]'))
      (field as unknown as { value: string }).value = '';
    sent.noValidate = true;
    setTimeout(() => sent.requestSubmit());
  });
  await page.locator('.refused').first().waitFor();
}
