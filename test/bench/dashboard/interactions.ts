/** Types and clicks on pages of the dashboard as people do, and measures how soon the page answers each key and click. */
import type { Page } from 'playwright-core';
import type { MillionStore } from '../million-store.ts';

type Interaction = {
  name: string;
  /** Path behind that of the tenant in a mode. */
  path: string;
  act(page: Page): Promise<void>;
};

/** Time between two keys of somebody who writes fast. */
const KEY_MS = 60;
/** Time after the last key in which a preview or a count is asked for and shown. */
const FOLLOWING_MS = 2_500;

export function interactionsOn({ audienceId }: Pick<MillionStore, 'audienceId'>): Interaction[] {
  return [
    {
      name: 'a key in the editor of a template beside its preview',
      path: '/templates/new',
      async act(page) {
        await page.getByLabel('HTML').first().click();
        // The preview is loaded in the pause between two texts, and after the second one.
        for (const text of ['<p>Hello {{name}}</p>', '<p>This is new today</p>']) {
          await page.keyboard.type(text, { delay: KEY_MS });
          await page.waitForTimeout(FOLLOWING_MS);
        }
      },
    },
    {
      name: 'a key in the builder of a segment beside its count',
      path: `/audiences/${audienceId}/segments/new`,
      async act(page) {
        await page.getByLabel('Name', { exact: true }).click();
        await page.keyboard.type('Readers', { delay: KEY_MS });
        await page.getByLabel('Value').first().click();
        await page.keyboard.type('pro', { delay: KEY_MS });
        await page.waitForTimeout(FOLLOWING_MS);
        await page.getByRole('button', { name: 'Add a rule' }).click();
        await page.waitForTimeout(FOLLOWING_MS);
      },
    },
    {
      name: 'a click that opens a form',
      path: '/mailboxes',
      async act(page) {
        const summary = page.locator('main summary').first();
        for (let count = 0; count < CLICKS; count++) await summary.click();
      },
    },
    {
      name: 'a click that sends a small form',
      path: '/topics',
      async act(page) {
        const name = page.getByLabel('Name', { exact: true });
        await name.click();
        // A name that is too long is refused, and the form shown again.
        await name.evaluate((field) => field.removeAttribute('maxlength'));
        await page.keyboard.insertText('n'.repeat(MAX_NAME + 1));
        await page.locator('main form button[type=submit]').last().click();
        await page.locator('.refused').first().waitFor();
      },
    },
  ];
}

const CLICKS = 4;
/** Maximum length of the name of a topic. */
const MAX_NAME = 50;
