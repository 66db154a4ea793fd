/**
 * axe finds nothing on any page of the dashboard: empty, full, and where a form was refused; light and dark; on a wide and on a narrow screen.
 * By default each state is seen in some of the looks, and with POSTRIDER_FULL in all of them. The narrow screen reads German, whose words are long,
 * and the wide one English.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Visit, visitEmpty, visitFull } from '../support/dashboard/visits.ts';
import { findViolations } from './browser.ts';
import { isTooWide, openPages } from './dashboard/pages.ts';

const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 360].map((width) => ({ name: `${width}-${colorScheme}`, colorScheme, width })),
);
type Look = (typeof LOOKS)[number];
/** The looks of each state without POSTRIDER_FULL: with them, every two of state, colours and width meet. */
const USUAL = {
  full: ['1280-light', '360-dark'],
  empty: ['1280-dark', '360-light'],
  error: ['1280-dark', '360-light'],
};
const IS_FULL = process.env['POSTRIDER_FULL'] !== undefined;

function looksOf(state: keyof typeof USUAL): readonly Look[] {
  return LOOKS.filter(({ name }) => IS_FULL || USUAL[state].includes(name));
}

/** Returns the pages that are seen in a look. The looks of a state share its pages, but every full page is seen in each. */
function shareOf(visits: readonly Visit[], state: 'empty' | 'error', look: Look): Visit[] {
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

const { world, walk } = await openPages();
const full = await visitFull(world, { modes: ['test'] });
const empty = await visitEmpty(world);

async function findFaults(page: Page, path: string): Promise<string[]> {
  const violations = await findViolations(page);
  const faults = violations.map((violation) => `${path}: ${violation}`);
  return (await isTooWide(page)) ? [...faults, `${path}: wider than the screen`] : faults;
}

for (const [state, visits] of [
  ['full', full],
  ['empty', empty],
] as const) {
  for (const look of looksOf(state)) {
    test(`axe finds nothing on any ${state} page, none is wider than the screen, and no other host is asked, ${look.name}`, async () => {
      const found: string[] = [];
      const seen = state === 'full' ? visits : shareOf(visits, state, look);
      const faults = await walk(seen, windowOf(look), async ({ page, takeScreenshot }, path) => {
        found.push(...(await findFaults(page, path)));
        await takeScreenshot(`${look.name}-${state}${path.replace(/_\w{26}/g, '')}`);
      });
      assert.deepEqual([found, faults], [[], []]);
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
          await takeScreenshot(`${look.name}-error${path.replace(/_\w{26}/g, '')}-${index}`);
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
