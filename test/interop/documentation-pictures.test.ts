/**
 * Makes the pictures of the documentation, which README.md and docs/dashboard.md show, from pages with made-up data at a fixed time, and checks
 * that those in docs/images/ are still of these pages. `POSTRIDER_PICTURES=write` writes them anew:
 *
 *     POSTRIDER_PICTURES=write npm run test:interop -- test/interop/documentation-pictures.test.ts
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import type { Browser, Page } from 'playwright-core';
import { logIn } from '../support/browser.ts';
import { acceptEverything, startCommandServer } from '../support/command-server.ts';
import { dialHosts } from '../support/loopback.ts';
import { openSpool, type Spool } from '../support/spool.ts';
import { startBrowser } from './browser.ts';
import { cookiesOf } from './dashboard/pages.ts';
import { until } from './until.ts';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const SIZE = { width: 1280, height: 800 };
/** Maximum size of a picture, in bytes. */
const MAX_BYTES = 150_000;
/** Maximum time in which a page is painted. */
const PAINTED_MS = 20_000;
/** Mean difference of the lightness of two pictures, of 255, beyond which they are of different pages. Ids and fonts make a little of it. */
const MAX_DIFFERENCE = 6;
const LIVE = '/t/Acme/live';
const SENDER = 'Acme <orders@acme.example>';
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

const mailServer = await startCommandServer((line) => {
  if (line.startsWith('RCPT TO:<grace'))
    return '550 5.1.1 <grace@customer.example>: Recipient address rejected: User unknown';
  return line.startsWith('RCPT TO:<user') ? '451 4.2.1 The mailbox is busy' : acceptEverything(line);
});
after(() => mailServer.close());

let spool: Spool;
let browser: Browser;
let page: Page;

before(async () => {
  spool = await openSpool({
    system: { dial: dialHosts({ '192.0.2.25': mailServer.port, '192.0.2.99': mailServer.port }) },
  });
  after(() => spool.close());
  await spool.addDomain(spool.liveKey, 'acme.example');
  spool.addZone('customer.example MX 10 mx.customer.example\nmx.customer.example A 192.0.2.25');
  for (const name of ['mail', 'school', 'office'])
    spool.addZone(`${name}.example MX 10 mx.${name}.example\nmx.${name}.example A 192.0.2.99`);
  change("UPDATE tenants SET name = 'Acme' WHERE id = ?", spool.tenantId);
  countMail();
  const person = await logIn(spool, { email: 'ann@acme.example', isOperator: true });
  await person.open('/account');
  await person.submit('profile', { name: 'Ann Baker' });
  browser = await startBrowser({});
  after(() => browser.close());
  const context = await browser.newContext({ viewport: SIZE, reducedMotion: 'reduce' });
  await context.addCookies(cookiesOf(person, person.origin()));
  page = await context.newPage();
});

test('the overview has its charts', async () => {
  for (const [to, subject] of [
    ['ben@customer.example', 'Welcome to Acme'],
    ['chloe@customer.example', 'Reset your password'],
    ['dan@customer.example', 'Your invoice 2026-0311'],
    ['grace@customer.example', 'Your order 1042 has shipped'],
    ['ella@customer.example', 'Your order 1041 has shipped'],
  ] as const)
    await send(to, subject);
  await spool.deliverDue();
  await open(`${LIVE}?period=24h`);
  await page.locator('.u-legend').first().waitFor();
  await compare('overview');
});

test('an email that bounced says what the reply means', async () => {
  await open(`${LIVE}/emails?to=grace@customer.example`);
  await page.getByRole('link', { name: 'Your order 1042 has shipped' }).click();
  await page.getByText('The mailbox does not exist', { exact: true }).waitFor();
  await compare('email');
});

test('a broadcast is previewed as a contact reads it', async () => {
  const id = await draftBroadcast();
  await open(`${LIVE}/broadcasts/${id}`);
  await page.frameLocator('iframe.preview').getByText('Hello Ella').waitFor();
  await compare('broadcast');
});

test('the operator sees what waits in the queue', async () => {
  for (const [domain, count] of [
    ['mail.example', 24],
    ['school.example', 9],
    ['office.example', 5],
  ] as const)
    for (let number = 0; number < count; number++) await send(`user${number}@${domain}`, 'News');
  await spool.deliverDue();
  await open('/operator/queue');
  await page.getByText('school.example').waitFor();
  await compare('queue');
});

async function send(to: string, subject: string): Promise<void> {
  // The order of the list is that of the ids, whose time is in milliseconds.
  await spool.clock.advance(1);
  await spool.accept(to, { from: SENDER, subject, html: `<h1>${subject}</h1><p>Thank you.</p>` });
}

async function draftBroadcast(): Promise<string> {
  const post = async (path: string, body: object) => {
    const answer = await spool.request('POST', `/v1${path}`, { key: spool.liveKey, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body as { id: string };
  };
  const { id: audienceId } = await post('/audiences', { name: 'Readers' });
  await post(`/audiences/${audienceId}/contacts`, { email: 'ella@customer.example', firstName: 'Ella' });
  const { id } = await post('/broadcasts', {
    audienceId,
    from: 'Acme News <news@acme.example>',
    subject: 'Spring news for {{firstName|you}}',
    html: `<div style="font:17px/1.5 sans-serif;max-width:34rem;margin:2rem auto">
<h1 style="color:#146c43">Hello {{firstName|friend}}</h1>
<p>The garden opens on Saturday. Bring your own basket, and we fill it with the first salads and herbs of the year.</p>
<p><a href="https://acme.example/spring">See what is ripe</a></p>
<p style="color:#666;font-size:14px">You get this because you are a reader. <a href="{{{unsubscribe_url}}}">Unsubscribe</a></p></div>`,
  });
  return id;
}

/** Counts mail of the last week, more by day than by night. */
function countMail(): void {
  const now = spool.clock.now();
  const { id: domainId } = one("SELECT id FROM domains WHERE name = 'acme.example'");
  for (let start = now - 7 * DAY_MS; start <= now; start += HOUR_MS) {
    const hour = new Date(start).getUTCHours();
    const accepted = Math.round(
      620 + 560 * Math.sin(((hour - 7) / 24) * 2 * Math.PI) + ((start / HOUR_MS) % 7) * 18,
    );
    const bounced = Math.round(accepted * (0.006 + 0.002 * Math.sin(start / DAY_MS)));
    const delivered = accepted - bounced;
    const read = { uniqueOpened: Math.round(delivered * 0.4), uniqueClicked: Math.round(delivered * 0.08) };
    const row = { accepted, delivered, bounced, complained: hour === 15 ? 1 : 0, ...read };
    addCounts({ span: 'hour', start, domainId, ...row });
    addCounts({ span: 'day', start: start - (start % DAY_MS), domainId, ...row });
  }
}

type Counts = { span: string; start: number; domainId: string } & Record<string, number | string>;

function addCounts(counts: Counts): void {
  change(
    `INSERT INTO counts (tenantId, mode, span, start, kind, domainId, broadcastId, provider, accepted, delivered, bouncedPermanent, complained, uniqueOpened, uniqueClicked)
     VALUES (:tenantId, 'live', :span, :start, 'transactional', :domainId, '', 'other', :accepted, :delivered, :bounced, :complained, :uniqueOpened, :uniqueClicked)
     ON CONFLICT DO UPDATE SET accepted = accepted + :accepted, delivered = delivered + :delivered, bouncedPermanent = bouncedPermanent + :bounced,
       complained = complained + :complained, uniqueOpened = uniqueOpened + :uniqueOpened, uniqueClicked = uniqueClicked + :uniqueClicked`,
    { tenantId: spool.tenantId, ...counts },
  );
}

function database(): Sqlite.Database {
  return new Sqlite(join(spool.dataDir, 'postrider.db'));
}

function change(sql: string, values: string | object): void {
  const opened = database();
  opened.prepare(sql).run(values);
  opened.close();
}

function one(sql: string): { id: string } {
  const opened = database();
  const row = opened.prepare(sql).get() as { id: string };
  opened.close();
  return row;
}

async function open(path: string): Promise<void> {
  const { address, port } = (await spool.openServer()).server.address() as { address: string; port: number };
  assert.equal(address, '127.0.0.1');
  const response = await page.goto(`http://localhost:${port}${path}`);
  assert.equal(response?.status(), 200, path);
}

/** Compares the page with its picture, or writes the picture. */
async function compare(name: string): Promise<void> {
  const file = join(FOLDER, `${name}.png`);
  if (process.env['POSTRIDER_PICTURES'] === 'write') {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(file, await takePicture(name));
    return;
  }
  let difference = Number.POSITIVE_INFINITY;
  // A frame is painted some time after its text is there.
  await until(
    'the page is painted',
    async () => {
      difference = await differenceOf(readFileSync(file), await takePicture(name));
      return difference <= MAX_DIFFERENCE;
    },
    PAINTED_MS,
  ).catch(() =>
    assert.fail(
      `docs/images/${name}.png shows another page (${difference.toFixed(1)} of 255): look at it, and write it anew`,
    ),
  );
}

async function takePicture(name: string): Promise<Buffer> {
  await page.evaluate('document.activeElement?.blur()');
  const seen = await page.screenshot({ caret: 'hide' });
  assert.ok(seen.length <= MAX_BYTES, `${name} has ${seen.length} bytes`);
  return seen;
}

/** Returns the mean difference of lightness of two pictures, each of them made small, so that single letters do not count. */
async function differenceOf(one: Buffer, other: Buffer): Promise<number> {
  const blank = await browser.newPage();
  const sources = [one, other].map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`);
  const difference = await blank.evaluate<number>(`(async () => {
    const shades = await Promise.all(${JSON.stringify(sources)}.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      if (image.width !== ${SIZE.width} || image.height !== ${SIZE.height}) return [];
      const canvas = new OffscreenCanvas(80, 50);
      const drawing = canvas.getContext('2d');
      drawing.filter = 'grayscale(1)';
      drawing.drawImage(image, 0, 0, 80, 50);
      return [...drawing.getImageData(0, 0, 80, 50).data].filter((_, index) => index % 4 === 0);
    }));
    if (shades.some((all) => all.length === 0)) return 255;
    return shades[0].reduce((sum, shade, at) => sum + Math.abs(shade - shades[1][at]), 0) / shades[0].length;
  })()`);
  await blank.close();
  return difference;
}
