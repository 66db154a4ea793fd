/**
 * A form is sent again from a page that the browser has kept whole: its back button shows the page with the key that the form was sent with.
 * Chromium keeps no page whose answer may not be stored, but other browsers do: a proxy takes that header away.
 */
import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard } from './dashboard-person.ts';
import { until } from './until.ts';

const TOPICS = '/t/default/test/topics';
const MAX_WAIT_MS = 20_000;

let dashboard: Dashboard;
let page: Page;
const proxy = createServer((asked, answer) => {
  const { hostname, port } = new URL(dashboard.daemon.address);
  const { method, url, headers } = asked;
  const sent = request({ hostname, port, method, path: url, headers }, (response) => {
    const { 'cache-control': _, ...kept } = response.headers;
    answer.writeHead(response.statusCode ?? 502, kept);
    response.pipe(answer);
  });
  asked.pipe(sent);
});
before(async () => {
  dashboard = await openDashboard({ keepsPages: true });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const baseURL = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  page = await dashboard.openPage({ baseURL });
});
after(async () => {
  await dashboard?.close();
  proxy.close();
});

const sendButton = () => page.locator('main form button[type=submit]').last();

/** Opens the page and notes whether the browser shows the same one again later. */
async function openTopics(): Promise<void> {
  await page.goto(TOPICS);
  await page.evaluate("addEventListener('pageshow', ({ persisted }) => { window.isKept = persisted; })");
}

/** Enters a name, sends the form and waits until a new page says what it has done. */
async function send(name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await sendButton().click();
  await page.locator('.said').waitFor();
}

/** Goes back to the page as it was left. Playwright waits for a page that is loaded, which this one is not. */
async function goBack(): Promise<void> {
  await page.evaluate('setTimeout(() => history.back())');
  const isKept = () => page.evaluate<boolean>('window.isKept === true').catch(() => false);
  await until('the page that was kept', isKept, MAX_WAIT_MS);
}

async function countTopics(name: string): Promise<number> {
  await page.goto(TOPICS);
  return page.getByRole('link', { name, exact: true }).count();
}

test('a form that is sent again from a page that was kept whole does nothing twice, and says what it has done', async () => {
  await openTopics();
  await send('Kept');
  const said = await page.locator('.said').innerText();
  await goBack();
  assert.equal(await page.getByLabel('Name').inputValue(), 'Kept');
  assert.equal(await sendButton().isEnabled(), true);
  await sendButton().click();
  await page.locator('.said').waitFor();
  assert.equal(await page.locator('.said').innerText(), said);
  assert.equal(await countTopics('Kept'), 1);
});

test('a form on a page that was kept whole is another one when something else is entered', async () => {
  await openTopics();
  await send('First');
  await goBack();
  await send('Second');
  assert.deepEqual([await countTopics('First'), await countTopics('Second')], [1, 1]);
});
