/** The live view in Chromium: all windows of a browser share one stream, which another window takes over, and pages follow an upgrade. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { findViolations } from './browser.ts';
import { type Dashboard, openDashboard } from './dashboard-person.ts';

const TAIL = '/t/default/test/tail';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard?.close());

let sent = 0;

/** Sends an email to the simulator, and returns the address that a line names. */
async function send(): Promise<string> {
  const to = `delivered+${++sent}@simulator.localhost`;
  const { status, body } = await dashboard.daemon.request(
    'POST',
    '/v1/emails',
    dashboard.daemon.testKey ?? '',
    {
      from: 'hello@sandbox.localhost',
      to: [to],
      subject: 'A secret subject',
      text: 'Hello',
      type: 'transactional',
    },
  );
  assert.equal(status, 200, JSON.stringify(body));
  return to;
}

async function openTail(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(TAIL);
  await page.getByText('Connected: new lines appear by themselves.').waitFor();
  return page;
}

const lineOf = (page: Page, to: string) => page.getByRole('row').filter({ hasText: to }).first();

test('two windows share one stream, and the other one goes on without a gap when the first closes', async () => {
  const context = (await dashboard.openPage()).context();
  const streams: Page[] = [];
  context.on('request', (request) => {
    if (request.resourceType() === 'eventsource') streams.push(request.frame().page());
  });
  const first = await openTail(context);
  const second = await openTail(context);
  const to = await send();
  for (const page of [first, second]) await lineOf(page, to).waitFor();
  assert.deepEqual(new Set(streams), new Set([first]), 'the window that was first has the stream');
  assert.deepEqual(await findViolations(first), []);
  assert.doesNotMatch(await first.content(), /A secret subject/);
  const takenOver = second.waitForRequest((request) => request.resourceType() === 'eventsource');
  await first.close();
  const missed = await send();
  await lineOf(second, missed).waitFor();
  await takenOver;
  await second.getByRole('button', { name: 'Pause' }).click();
  const unseen = await send();
  await second.getByText(/^Left out, because they came too fast to read: \d+$/).waitFor();
  assert.equal(await second.getByRole('row').filter({ hasText: unseen }).count(), 0);
  await second.getByRole('button', { name: 'Go on' }).click();
  await lineOf(second, await send()).waitFor();
  await context.close();
});

test('twelve visible windows of one browser all answer, and all are told', async () => {
  const context = (await dashboard.openPage()).context();
  const pages: Page[] = [];
  for (let count = 0; count < 12; count++) pages.push(await openTail(context));
  const to = await send();
  for (const page of pages) await lineOf(page, to).waitFor();
  for (const page of pages) {
    await page.goto('/t/default/test/emails');
    await page.getByRole('heading', { name: 'Emails' }).waitFor();
  }
  await context.close();
});

test('without JavaScript a link shows what is new', async () => {
  const page = await dashboard.openPage({ javaScriptEnabled: false });
  await page.goto(TAIL);
  const to = await send();
  await page.getByRole('link', { name: 'Refresh' }).click();
  await lineOf(page, to).waitFor();
  await page.context().close();
});

test('the attempts at a site appear as they come, as text, and lead to their email', async () => {
  const page = await dashboard.openPage();
  const line = { at: Date.now(), emailId: 'em_1', to: null, from: null };
  const lines = [
    { ...line, position: 1, type: 'sent', reply: 'RCPT TO:<ann@readers.example>' },
    { ...line, position: 2, type: 'received', reply: '450 4.2.0 <b>later</b>' },
  ];
  const topic = '/operator/trace/mx.readers.example';
  await page.route('**/live?**', (route) => {
    assert.deepEqual(new URL(route.request().url()).searchParams.getAll('topic'), [topic]);
    const data = JSON.stringify({ topic, lines, omitted: 3, isCut: false });
    return route.fulfill({ contentType: 'text/event-stream', body: `event: tail\ndata: ${data}\n\n` });
  });
  await page.goto('/operator/queue/trace?site=MX.readers.example');
  const reply = page.getByRole('row', { name: 'Received 450 4.2.0 <b>later</b>' });
  await reply.waitFor();
  assert.equal(await reply.getByRole('link').getAttribute('href'), '/operator/queue/emails/em_1');
  await page.getByText(/^Left out, because they came too fast to read: \d+$/).waitFor();
  assert.deepEqual(await findViolations(page), []);
  await page.context().close();
});

test('a page of an older version loads itself again, but not while somebody has entered something', async () => {
  const page = await dashboard.openPage();
  let answers = 0;
  await page.route('**/live?**', (route) => {
    answers += 1;
    if (answers > 1) return route.fallback();
    const body = 'event: version\ndata: {"version":"0.0.1-before"}\n\n';
    return route.fulfill({ contentType: 'text/event-stream', body });
  });
  await page.goto(TAIL);
  await page.getByText('Connected: new lines appear by themselves.').waitFor();
  assert.ok(answers > 1, 'the page was loaded again');
  await page.route('**/segments/new', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    return route.fulfill({
      response,
      headers: { ...response.headers(), 'x-dashboard-version': '0.0.1-before' },
    });
  });
  await page.goto('/t/default/test/audiences');
  await page.getByLabel('Name').fill('Readers');
  await page.locator('main form button[type=submit]').last().click();
  await page.waitForURL(/audiences\/aud_/);
  await page.goto(`${new URL(page.url()).pathname}/segments/new`);
  await page.getByLabel('Name').first().fill('Half of a segment');
  await page.getByText('The program was updated.').waitFor();
  assert.equal(await page.getByLabel('Name').first().inputValue(), 'Half of a segment');
  await page.context().close();
});
