/** A session that ends in the composer, in Chromium: what was written is there after the next login. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { findViolations } from './browser.ts';
import { type Dashboard, enterLogin, openDashboard } from './dashboard-person.ts';

const COMPOSER = '/t/default/test/broadcasts/new';
const HTML = '<p>Dear readers,\nthis is half of a letter.</p>';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
  const { daemon } = dashboard;
  await daemon.request('POST', '/v1/audiences', daemon.testKey ?? '', { name: 'Readers' });
});
after(() => dashboard?.close());

async function write(page: Page, subject: string): Promise<void> {
  await page.goto(COMPOSER);
  await page.locator('[name=subject]').fill(subject);
  await page.locator('[name=from]').fill('hello@sandbox.localhost');
  await page.locator('[name=html]').fill(HTML);
}

async function requireDraft(page: Page, subject: string): Promise<void> {
  await page.getByText('The form shows what you entered before, which was not sent.').waitFor();
  assert.equal(await page.locator('[name=subject]').inputValue(), subject);
  assert.equal((await page.locator('[name=html]').inputValue()).replaceAll('\r', ''), HTML);
}

/** Lets every session end by its time, as after thirty days. */
function endSessions(): void {
  const database = new Sqlite(join(dashboard.daemon.dataDir, 'postrider.db'));
  database.prepare('UPDATE dashboardSessions SET expiresAt = ?').run(Date.now() - 1_000);
  database.close();
}

for (const withScripts of [true, false]) {
  const how = withScripts ? 'with JavaScript' : 'without JavaScript';

  test(`what is sent after the session has ended is kept, and is there after the login, ${how}`, async () => {
    const page = await dashboard.openPage({ javaScriptEnabled: withScripts });
    await write(page, `Spring ${how}`);
    endSessions();
    await page.locator('form[data-draft] button[type=submit]').first().click();
    await page.getByText('What you entered is kept: log in again to go on.').waitFor();
    await enterLogin(page);
    await page.waitForURL(`**${COMPOSER}`);
    await requireDraft(page, `Spring ${how}`);
    if (withScripts) assert.deepEqual(await findViolations(page), []);
    await page.getByRole('button', { name: 'Discard the draft' }).click();
    await page.getByText('The draft is discarded.').waitFor();
    assert.equal(await page.locator('[name=subject]').inputValue(), '');
    await page.context().close();
  });
}

test('what is written is kept in pauses, so that a browser that goes away, and a session that is ended, lose nothing', async () => {
  const page = await dashboard.openPage();
  const isKept = page.waitForResponse(
    (response) => response.request().method() === 'POST' && response.url().endsWith(COMPOSER),
  );
  await write(page, 'Summer');
  assert.equal((await isKept).status(), 204);
  await page.context().clearCookies();
  await page.context().close();
  const elsewhere = await dashboard.openPage();
  await elsewhere.goto(COMPOSER);
  await requireDraft(elsewhere, 'Summer');
  await elsewhere.locator('[name=subject]').fill('Summer and autumn');
  // Sending at once must not leave a draft behind, although one was about to be kept.
  await elsewhere.locator('[name=html]').fill('<p>Hello</p><a href="{{{unsubscribe_url}}}">Leave</a>');
  await elsewhere.locator('[name=from]').fill('hello@sandbox.localhost');
  await elsewhere.locator('form[data-draft] button[type=submit]').first().click();
  await elsewhere.waitForURL(/broadcasts\/brd_/);
  await elsewhere.goto(COMPOSER);
  assert.equal(await elsewhere.getByText('which was not sent').count(), 0);
  await elsewhere.context().close();
});
