/**
 * The way of a broadcast from a file of contacts to the preferences of its readers, in a real browser: with JavaScript and
 * without.
 */
import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import { after, before, test } from 'node:test';
import { simpleParser } from 'mailparser';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { png } from '../branding/images.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { findViolations, startBrowser } from './browser.ts';
import { takeScreenshot } from './dashboard/visitor.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { startTlsProxy, startTlsServer, type TlsServer } from './tls-proxy.ts';
import { until } from './until.ts';

const TRACK = `track.${SENDER_HOSTNAME}`;
/** The web site that the link in the mail leads to. It shows the address that it was asked for. */
const SHOP = 'www.shop.example';
const HTML = `<h1>Hello {{firstName}}</h1>
<p>It is spring: <a href="https://${SHOP}/spring?for={{firstName}}&amp;a=1">see more</a>.</p>
<p><a href="{{{unsubscribe_url}}}">Unsubscribe</a></p>`;
/** A browser of a person. Headless Chromium calls itself a robot. */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36';
/** Whoever is quicker after the delivery counts as a machine (src/tracking/classify.ts), with a margin. */
const READING_MS = 5_500;

let sink: SmtpSink;
let sender: Sender;
let proxy: TlsServer;
let browser: Browser;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  sink = await startSmtpSink({ keepRaw: true });
  closers.unshift(() => sink.close());
  sender = await startSender({ dns, receiver: { hostname: `mx.${RECEIVER_DOMAIN}`, port: sink.port } });
  closers.unshift(() => sender.daemon.stop());
  proxy = await startTlsProxy(TRACK, sender.daemon.address);
  closers.unshift(() => proxy.close());
  const shop = await startTlsServer(SHOP, ({ url }, response) => {
    response.setHeader('content-type', 'text/plain').end(`Welcome to ${url}`);
  });
  closers.unshift(() => shop.close());
  browser = await startBrowser({ [TRACK]: proxy.port, [SHOP]: shop.port });
  closers.unshift(() => browser.close());
  const [domain] = (await get('/domains')).data;
  const tracking = { openTracking: true, clickTracking: true };
  const changed = await sender.daemon.request('PATCH', `/v1/domains/${domain.id}`, sender.key, tracking);
  expectStatus(changed, 200);
});

after(async () => {
  for (const close of closers) await close();
});

type Resource = { id: string; status: string };

async function create(path: string, body: object): Promise<string> {
  return expectStatus<Resource>(await sender.post(`/v1${path}`, body), 201).id;
}

// biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
const get = async (path: string) => expectStatus<any>(await sender.get(`/v1${path}`), 200);

const addressOf = (name: string) => `${name}@${RECEIVER_DOMAIN}`;

/** Imports readers from a file into a new audience, and returns its id. */
async function importReaders(name: string, readers: readonly string[]): Promise<string> {
  const audienceId = await create('/audiences', { name });
  const csv = ['email,first name,plan', ...readers].join('\n');
  const path = `/v1/audiences/${audienceId}/contacts/imports`;
  const asCsv = { 'content-type': 'text/csv' };
  const { body } = await sender.daemon.request('POST', path, sender.key, csv, asCsv);
  const { id } = body as Resource;
  const job = await until('the import is complete', async () => {
    const seen = await get(`/imports/${id}`);
    return seen.status === 'completed' && seen;
  });
  assert.deepEqual([job.created, job.failed], [readers.length, 0]);
  return audienceId;
}

/** Sends a broadcast to its end, and returns its counts, and the message of each reader by the local part. */
async function send(draft: { segmentId: string; topicId: string }, recipients: number) {
  const from = `News <news@${SENDER_DOMAIN}>`;
  const id = await create('/broadcasts', { from, subject: 'News for {{firstName}}', html: HTML, ...draft });
  const preflight = await get(`/broadcasts/${id}/preflight`);
  assert.equal(preflight.recipients, recipients, JSON.stringify(preflight));
  const before = sink.messages.length;
  const started = expectStatus<Resource>(await sender.post(`/v1/broadcasts/${id}/send`, undefined), 200);
  assert.equal(started.status, 'sending');
  const { counts } = await until('the broadcast is sent', async () => {
    const seen = await get(`/broadcasts/${id}`);
    return seen.status === 'sent' && seen.counts.queued === 0 && seen;
  });
  const messages = sink.messages.slice(before);
  const byReader = messages.map(({ recipients: [to = ''], raw = Buffer.alloc(0) }) => [
    to.split('@')[0],
    raw,
  ]);
  return { id, counts, messages: new Map(byReader as [string, Buffer][]) };
}

async function readMail(raw: Buffer | undefined) {
  assert.ok(raw);
  const mail = await simpleParser(raw);
  const { unsubscribe } = mail.headers.get('list') as { unsubscribe?: { url?: string } };
  const link = unsubscribe?.url ?? '';
  assert.ok(link.startsWith(`https://${TRACK}/u/`), link);
  return { html: String(mail.html), subject: mail.subject, link };
}

/** Unsubscribes as a mail program does (RFC 8058 section 3.2), and returns the status. */
function oneClick(link: string): Promise<number | undefined> {
  const { pathname: path } = new URL(link);
  const headers = { host: TRACK, 'content-type': 'application/x-www-form-urlencoded' };
  const target = { host: '127.0.0.1', port: proxy.port, path, method: 'POST', headers };
  return new Promise((resolve, reject) => {
    httpsRequest({ ...target, rejectUnauthorized: false }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end('List-Unsubscribe=One-Click');
  });
}

/** Opens a tab of its own, calls `use` with it, and closes it. */
async function withPage(options: BrowserContextOptions, use: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, userAgent: USER_AGENT, ...options });
  try {
    await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Waits until a person could have read mail that was delivered before. */
async function untilRead(): Promise<void> {
  const lastAtMs = Math.max(...sink.messages.map(({ receivedAtMs }) => receivedAtMs));
  await until('the mail is read', async () => Date.now() > lastAtMs + READING_MS);
}

const buttonsOf = (page: Page) => page.getByRole('button').allInnerTexts();

for (const javaScriptEnabled of [true, false]) {
  const suffix = javaScriptEnabled ? 'with-js' : 'without-js';
  const name = (reader: string) => `${reader}-${suffix}`;

  test(`a broadcast is imported, checked, sent, read and left, ${suffix.replace('-', ' ')}`, async () => {
    const readers = ['ann', 'bob', 'cleo'].map((one) => `${addressOf(name(one))},${one},pro`);
    const audienceId = await importReaders(suffix, [...readers, `${addressOf(name('dan'))},dan,free`]);
    const [news, offers] = [`News ${suffix}`, `Offers ${suffix}`];
    const topicId = await create('/topics', { name: news, description: 'Once a month' });
    const otherId = await create('/topics', { name: offers });
    const rules = [{ field: 'properties.plan', cmp: 'eq', value: 'pro' }];
    const segmentId = await create('/segments', { name: suffix, audienceId, filter: { op: 'and', rules } });

    const first = await send({ segmentId, topicId }, 3);
    assert.deepEqual([...first.messages.keys()].sort(), ['ann', 'bob', 'cleo'].map(name));
    const mail = await readMail(first.messages.get(name('ann')));
    assert.equal(mail.subject, 'News for ann');

    await untilRead();
    await withPage({ javaScriptEnabled }, async (page) => {
      await page.setContent(mail.html, { waitUntil: 'networkidle' });
      assert.equal(await page.getByRole('heading').innerText(), 'Hello ann');
      await page.getByRole('link', { name: 'see more' }).click();
      await page.waitForURL(`https://${SHOP}/spring?for=ann&a=1`);
    });
    await withPage({ javaScriptEnabled }, async (page) => {
      // Images of mail that is read again are not asked for, so that the counts stay as they are.
      await page.route('**/o/*', (route) => route.abort());
      await page.setContent(mail.html);
      await page.getByRole('link', { name: 'Unsubscribe' }).click();
      await page.waitForURL(mail.link);
      assert.deepEqual(await buttonsOf(page), ['Unsubscribe']);
      assert.ok((await page.content()).includes(`a•••@${RECEIVER_DOMAIN}`));
      await takeScreenshot(page, `${suffix}-1-asked`);
      const contact = () => get(`/audiences/${audienceId}/contacts/${addressOf(name('ann'))}`);
      assert.deepEqual((await contact()).topics, [], 'opening the page changes nothing');

      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      await page.getByText(`no longer receive mail about “${news}”`).waitFor();
      await takeScreenshot(page, `${suffix}-2-left`);
      assert.deepEqual((await contact()).topics, [{ id: topicId, subscription: 'opt_out' }]);
      assert.equal(await page.getByRole('checkbox', { name: news }).isChecked(), false);
      await page.getByRole('checkbox', { name: offers }).uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('saved').first().waitFor();
      await takeScreenshot(page, `${suffix}-3-saved`);
      assert.ok((await contact()).topics.some(({ id }: { id: string }) => id === otherId));
    });

    const { counts } = await until('the open and the click are classified', async () => {
      const seen = await get(`/broadcasts/${first.id}`);
      return seen.counts.clicked > 0 && seen.counts.opened > 0 && seen;
    });
    const { opened, uniqueOpened, clicked, uniqueClicked } = counts;
    assert.deepEqual([opened, uniqueOpened, clicked, uniqueClicked], [1, 1, 1, 1]);
    const [clickedLink] = (await get(`/broadcasts/${first.id}/clicked-links`)).data;
    assert.deepEqual([clickedLink.clicks, clickedLink.machineClicks], [1, 0]);
    const { link } = await readMail(first.messages.get(name('bob')));
    assert.equal(await oneClick(link), 200);
    const second = await send({ segmentId, topicId }, 1);
    assert.deepEqual([...second.messages.keys()], [name('cleo')]);
    assert.deepEqual([second.counts.recipients, second.counts.delivered, second.counts.optedOut], [3, 1, 2]);
  });
}

test('axe finds no violation on the preference pages, in any language, light and dark', async () => {
  const audienceId = await importReaders('axe', [`${addressOf('axe')},Axe,pro`]);
  const topicId = await create('/topics', { name: 'Nachrichten', description: 'Alle zwei Wochen' });
  const rules = [{ field: 'email', cmp: 'contains', value: 'axe' }];
  const segmentId = await create('/segments', { name: 'axe', audienceId, filter: { op: 'and', rules } });
  const { messages } = await send({ segmentId, topicId }, 1);
  const { link } = await readMail(messages.get('axe'));
  const found: string[] = [];
  for (const locale of ['en-GB', 'de-DE', 'fr-FR', 'es-ES']) {
    // The colours are the same in each language.
    for (const colorScheme of locale === 'en-GB' ? (['light', 'dark'] as const) : (['light'] as const)) {
      await withPage({ locale, colorScheme }, async (page) => {
        const check = async (what: string) => {
          const place = `${locale}-${colorScheme}-${what}`;
          await takeScreenshot(page, place);
          found.push(...(await findViolations(page)).map((line) => `${place}: ${line}`));
        };
        await page.goto(link);
        assert.equal(await page.locator('html').getAttribute('lang'), locale.slice(0, 2));
        await check('asked');
        for (const action of ['unsubscribe', 'save', 'leave', 'return']) {
          await page.locator(`button[value=${action}]`).click();
          await page.locator('fieldset').waitFor();
          await check(action);
        }
      });
    }
  }
  assert.deepEqual(found, []);
});

/** A name without a space that is wider than a small screen, and one from right to left. */
const NAMES = ['Donaudampfschifffahrtsgesellschaftskapitänsmütze', 'متجر الزاوية'];

test('the pages of a brand and of broken links fit a small screen, load only from their host, and have no violations', async () => {
  const colors = { color: '#ffcc00', textColor: '#000000', darkColor: '#5c4a00', darkTextColor: '#ffffff' };
  const audienceId = await importReaders('brand', [`${addressOf('brand')},Brand,pro`]);
  const topicId = await create('/topics', { name: NAMES[1], description: NAMES[0] });
  const rules = [{ field: 'email', cmp: 'contains', value: 'brand' }];
  const segmentId = await create('/segments', { name: 'brand', audienceId, filter: { op: 'and', rules } });
  const { messages } = await send({ segmentId, topicId }, 1);
  const { link } = await readMail(messages.get('brand'));
  const found: string[] = [];
  for (const [index, name] of NAMES.entries()) {
    const brand = { name, ...colors, logo: png(960, 320).toString('base64') };
    expectStatus(await sender.daemon.request('PUT', '/v1/branding', sender.key, brand), 200);
    for (const colorScheme of ['light', 'dark'] as const) {
      const viewport = { width: 360, height: 640 };
      await withPage({ colorScheme, viewport }, async (page) => {
        page.on('request', (request) => {
          if (!request.url().startsWith(`https://${TRACK}/`)) found.push(request.url());
        });
        const check = async (what: string) => {
          const place = `brand-${index}-${colorScheme}-${what}`;
          await takeScreenshot(page, place);
          found.push(...(await findViolations(page)).map((line) => `${place}: ${line}`));
          const width = await page.evaluate('document.documentElement.scrollWidth');
          if (Number(width) > viewport.width) found.push(`${place}: ${width} pixels wide`);
        };
        await page.goto(link);
        assert.equal(await page.getByRole('banner').getByText(name).innerText(), name);
        assert.equal(await page.evaluate("document.querySelector('header img').naturalWidth"), 480);
        const button = page.getByRole('button', { name: 'Unsubscribe' });
        const background = await page.evaluate(
          "getComputedStyle(document.querySelector('button')).backgroundColor",
        );
        assert.equal(background, colorScheme === 'light' ? 'rgb(255, 204, 0)' : 'rgb(92, 74, 0)');
        await check('asked');
        await button.click();
        await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
        await check('left');
        await page.goto(link);
        await page.getByRole('link', { name: 'Choose what you receive' }).waitFor();
        await check('already-left');
        await page.locator('button[value=return]').click();
        await page.getByText('Welcome back').waitFor();
        await page.goto(`${link}x`);
        await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
        await check('broken');
      });
    }
  }
  assert.deepEqual(found, []);
});

test('axe finds what is wrong with a page', async () => {
  await withPage({}, async (page) => {
    await page.setContent('<html><body><input><p style="color:#aaa;background:#fff">Grey</p></body></html>');
    const found = (await findViolations(page)).map((line) => line.split(':')[0]);
    for (const rule of ['label', 'color-contrast', 'html-has-lang', 'document-title'])
      assert.ok(found.includes(rule), `${rule} is not among ${found}`);
  });
});
