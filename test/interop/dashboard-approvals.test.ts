/**
 * Approvals in Chromium, with and without JavaScript: a key is marked on its page, an email that curl sends with it stays queued, a person
 * approves it, and it goes. What was changed since it was shown asks again.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { findViolations } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard-person.ts';

const TEST = '/t/default/test';
const run = promisify(execFile);

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard?.close());

/** Sends a request by curl, and returns the JSON of the answer. */
async function curl(key: string, path: string, body: object, method = 'POST'): Promise<{ id: string }> {
  const headers = ['-H', `Authorization: Bearer ${key}`, '-H', 'Content-Type: application/json'];
  const url = `${dashboard.daemon.address}/v1${path}`;
  const { stdout } = await run('curl', ['-sf', '-X', method, url, ...headers, '-d', JSON.stringify(body)]);
  return JSON.parse(stdout);
}

const emailOf = (subject: string, more: object = {}) => ({
  from: 'intern@sandbox.localhost',
  to: ['delivered@simulator.localhost'],
  subject,
  html: '<p>Please read this.</p>',
  type: 'transactional',
  ...more,
});
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

/** Makes a key on the pages, marks it on its own page, and returns it. */
async function markedKey(page: Page, name: string): Promise<string> {
  await page.goto(`${TEST}/keys/new`);
  await page.getByLabel('Name').first().fill(name);
  await page.getByLabel('Permission').selectOption('full_access');
  await page.getByRole('button', { name: 'Create an API key' }).click();
  await page.getByRole('heading', { name: 'Your new API key' }).waitFor();
  const [key = ''] = /svc_dev_\w{40}/.exec(await page.content()) ?? [];
  assert.notEqual(key, '');
  await page.goto(`${TEST}/keys`);
  await page.getByRole('link', { name }).click();
  await page.getByLabel('Approval').selectOption('broadcasts_and_emails');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  return key;
}

for (const withScripts of [true, false]) {
  const how = withScripts ? 'with JavaScript' : 'without JavaScript';

  test(`an email of a marked key waits until a person approves it, and then goes, ${how}`, async () => {
    const page = await dashboard.openPage({ javaScriptEnabled: withScripts });
    const key = await markedKey(page, `intern ${how}`);
    const subject = `Order 66 ${how}`;
    const { id } = await curl(key, '/emails', emailOf(subject));
    await page.goto(`${TEST}/emails/${id}`);
    await page.getByText('Waits until somebody approves it.').waitFor();
    await page.goto(`${TEST}/approvals`);
    const row = page.getByRole('row').filter({ hasText: subject });
    assert.match(await row.innerText(), new RegExp(`intern ${how}`));
    await row.getByRole('link', { name: 'Read the content' }).click();
    await page.frameLocator('iframe.preview').getByText('Please read this.').waitFor();
    await page.goto(`${TEST}/approvals`);
    if (withScripts) assert.deepEqual(await findViolations(page), []);
    await row.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved.', { exact: true }).waitFor();
    await page.getByText('Nothing waits for approval.').waitFor();
    await page.goto(`${TEST}/emails/${id}`);
    for (let tries = 0; tries < 50 && !(await isDelivered(page)); tries++) {
      await page.waitForTimeout(100);
      await page.reload();
    }
    assert.ok(await isDelivered(page));
    await page.context().close();
  });

  test(`what was changed since it was shown is refused beside the button, and asks again, ${how}`, async () => {
    const page = await dashboard.openPage({ javaScriptEnabled: withScripts });
    const key = await markedKey(page, `agent ${how}`);
    const { id } = await curl(key, '/emails', emailOf(`Later ${how}`, { scheduledAt: inHours(1) }));
    await page.goto(`${TEST}/emails/${id}`);
    await curl(key, `/emails/${id}`, { scheduledAt: inHours(2) }, 'PATCH');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('alert').filter({ hasText: 'It has changed since' }).waitFor();
    await page.goto(`${TEST}/emails/${id}`);
    await page.getByRole('group').filter({ hasText: 'Decline' }).locator('summary').click();
    await page.getByLabel('Reason').fill('Not on a Sunday');
    await page.getByRole('button', { name: 'Decline this mail' }).click();
    await page.getByText('Not on a Sunday', { exact: true }).waitFor();
    if (withScripts) assert.deepEqual(await findViolations(page), []);
    await page.goto(`${TEST}/approvals?state=declined`);
    assert.equal(
      await page
        .getByRole('row')
        .filter({ hasText: `Later ${how}` })
        .count(),
      1,
    );
    await page.context().close();
  });
}

async function isDelivered(page: Page): Promise<boolean> {
  return (await page.locator('.facts .status').first().innerText()) === 'delivered';
}
