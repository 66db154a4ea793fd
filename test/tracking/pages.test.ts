/** Tests of the pixel and the tracked links, from the acceptance of an email to the recorded open or click. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { FastifyInstance } from 'fastify';
import { simpleParser } from 'mailparser';
import { expireContent, expireEmails } from '../../src/emails/store.ts';
import type { HostedApp } from '../../src/http/transport/host-names.ts';
import { createLinks } from '../../src/links/links.ts';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { DAY_MS } from '../../src/system/clock.ts';
import { AppError } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { createClassificationWork } from '../../src/tracking/worker.ts';
import { TAG } from '../broadcasts/fixtures.ts';
import { type Campaign, openCampaign } from '../broadcasts/sending/campaign.ts';
import { rawMessage } from '../emails/fixtures.ts';
import { exportCsv } from '../imports/jobs.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOST = 'track.mx.postrider.example';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const HTML = '<body><p>ä</p><a href="https://shop.example/?a=1&amp;b=ü">Shop</a></body>';

let campaign: Campaign;
let hosted: HostedApp;
let pages: FastifyInstance;
let domainId: string;
before(async () => {
  campaign = await openCampaign();
  hosted = createPreferencesApp(campaign.spool.app);
  pages = hosted.app;
  await pages.ready();
  domainId = (await ask('GET', `/domains?name=${SENDER_DOMAIN}`)).body.data[0].id;
});
after(async () => {
  await pages.close();
  await campaign[Symbol.asyncDispose]();
});

const ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) =>
  campaign.spool.request(method, `/v1${path}`, {
    key: campaign.spool.liveKey,
    ...(body !== undefined && { body }),
  });

async function track(openTracking: boolean, clickTracking: boolean): Promise<void> {
  const changed = await ask('PATCH', `/domains/${domainId}`, { openTracking, clickTracking });
  assert.equal(changed.status, 200);
}

function visit(
  url: string,
  more: { method?: 'GET' | 'HEAD' | 'POST'; headers?: Record<string, string> } = {},
) {
  const { host, pathname } = new URL(url);
  const { method = 'GET', headers = {} } = more;
  return pages.inject({ method, url: pathname, headers: { host, 'user-agent': FIREFOX, ...headers } });
}

/** Advances the clock once all writes are done: a write that waits meanwhile would look like a slow disk. */
async function advance(ms: number): Promise<void> {
  await waitUntil(() => campaign.spool.app.db.pendingWrites === 0);
  await campaign.spool.clock.advance(ms);
}

/** Returns the HTML and the text of a message as they are sent. */
async function sentParts(emailId: string): Promise<{ html: string; text: string }> {
  const raw = Buffer.from(await rawMessage(campaign.spool.app, emailId), 'latin1');
  const { html, text = '' } = await simpleParser(raw, { skipHtmlToText: true, skipTextToHtml: true });
  return { html: String(html), text };
}

const linksIn = (html: string): string[] =>
  [...html.matchAll(/https?:\/\/(?:track|links)\.[\w.]+\/[co]\/[\w-]+/g)].map(([link]) => link);

/** Returns the number of engagements that are not classified yet. */
function countDue(): number {
  const count = 'SELECT count(*) AS due FROM engagements WHERE dueAt IS NOT NULL';
  return withDatabase((database) => (database.prepare(count).get() as { due: number }).due);
}

type Recorded = { kind: string; link: number | null; url: string | null; isHead: number; requests: number };

async function recorded(emailId: string): Promise<Recorded[]> {
  await waitUntil(async () => rowsOf(emailId).length > 0);
  return rowsOf(emailId);
}

function rowsOf(emailId: string): Recorded[] {
  return withDatabase((database) =>
    database
      .prepare('SELECT kind, link, url, isHead, requests FROM engagements WHERE emailId = ? ORDER BY id')
      .all(emailId),
  ) as Recorded[];
}

function withDatabase<Result>(run: (database: Sqlite.Database) => Result): Result {
  const database = new Sqlite(join(campaign.spool.dataDir, 'postrider.db'));
  try {
    return run(database);
  } finally {
    database.close();
  }
}

test('nothing is tracked until the domain asks for it, and then each part by itself', async () => {
  const { spool } = campaign;
  const plain = await sentParts(await spool.accept('a@readers.example', { html: HTML }));
  assert.equal(plain.html, HTML);
  await track(true, false);
  const opens = await sentParts(await spool.accept('a@readers.example', { html: HTML }));
  const [pixel = ''] = linksIn(opens.html);
  assert.match(pixel, /^https:\/\/track\.mx\.postrider\.example\/o\/[\w-]{48}$/);
  assert.equal(
    opens.html,
    HTML.replace('</body>', `<img src="${pixel}" width="1" height="1" alt=""></body>`),
  );
  await track(false, true);
  const clicks = await sentParts(await spool.accept('a@readers.example', { html: HTML, text: undefined }));
  const [click = ''] = linksIn(clicks.html);
  assert.match(click, /^https:\/\/track\.mx\.postrider\.example\/c\/[\w-]{48}$/);
  assert.equal(clicks.html, HTML.replace('https://shop.example/?a=1&amp;b=ü', click));
  assert.match(clicks.text, /https:\/\/shop\.example\/\?a=1&b=/, clicks.text);
});

test('the email shows what was given, and every attempt sends the same bytes', async () => {
  await track(true, true);
  const { spool } = campaign;
  const files = [{ filename: 'a.txt', content: Buffer.from('a').toString('base64') }];
  for (const more of [{}, { attachments: files }, { html: HTML + 'x'.repeat(300_000), text: 'a' }]) {
    const id = await spool.accept('a@readers.example', { html: HTML, ...more });
    const raw = await rawMessage(spool.app, id);
    assert.equal(await rawMessage(spool.app, id), raw);
    assert.equal(linksIn((await sentParts(id)).html).length, 2);
    const shown = await spool.email(id);
    assert.equal(shown.html, 'html' in more ? more.html : HTML);
    await spool.cancel(id);
  }
});

test('the pixel and the link answer, and the open and the click are recorded', async () => {
  await track(true, true);
  const id = await campaign.spool.accept('a@readers.example', { html: HTML });
  const [click = '', pixel = ''] = linksIn((await sentParts(id)).html);
  const image = await visit(pixel);
  assert.deepEqual([image.statusCode, image.rawPayload.length], [200, 43]);
  assert.deepEqual(
    [image.headers['content-type'], image.headers['cache-control']],
    ['image/gif', 'no-store'],
  );
  const redirect = await visit(click);
  assert.deepEqual(
    [redirect.statusCode, redirect.headers.location, redirect.headers['cache-control'], redirect.body],
    [302, 'https://shop.example/?a=1&b=%C3%BC', 'no-store', ''],
  );
  assert.equal(redirect.headers['set-cookie'], undefined);
  const head = await visit(click, { method: 'HEAD' });
  assert.deepEqual([head.statusCode, head.headers.location], [302, 'https://shop.example/?a=1&b=%C3%BC']);
  await waitUntil(async () => rowsOf(id).some(({ isHead }) => isHead === 1));
  assert.deepEqual(await recorded(id), [
    { kind: 'open', link: null, url: null, isHead: 0, requests: 1 },
    { kind: 'click', link: 0, url: 'https://shop.example/?a=1&b=%C3%BC', isHead: 1, requests: 2 },
  ]);
  assert.equal((await visit(click, { method: 'POST' })).statusCode, 405);
});

test('a token that is changed, of the other kind, or of an email without that link is not found', async () => {
  await track(true, true);
  const id = await campaign.spool.accept('a@readers.example', { html: HTML });
  const [click = '', pixel = ''] = linksIn((await sentParts(id)).html);
  const swapped = [click.replace('/c/', '/o/'), pixel.replace('/o/', '/c/')];
  const { links } = { links: createLinks(campaign.spool.app) };
  const unknown = [
    `https://${HOST}/c/${links.trackingTokens(id).click(1)}`,
    `https://${HOST}/c/${links.trackingTokens(newId('em', 0)).click(0)}`,
    `https://${HOST}/o/${links.trackingTokens(newId('em', 0)).open()}`,
  ];
  const token = click.slice(-48);
  const changed = [...token].map((character, index) => {
    const other = character === 'A' ? 'B' : 'A';
    return `https://${HOST}/c/${token.slice(0, index)}${other}${token.slice(index + 1)}`;
  });
  for (const url of [...swapped, ...unknown, ...changed]) {
    const answer = await visit(url);
    assert.deepEqual([answer.statusCode, answer.headers.location], [404, undefined], url);
  }
  assert.deepEqual(rowsOf(id), []);
});

test('when nothing can be recorded, the reader still gets the page', async () => {
  await track(true, true);
  const id = await campaign.spool.accept('a@readers.example', { html: HTML });
  const [click = '', pixel = ''] = linksIn((await sentParts(id)).html);
  const { app } = campaign.spool;
  const commit = () => Promise.reject(new AppError('unavailable', 'The disk is full'));
  const full = createPreferencesApp({ ...app, db: Object.create(app.db, { commit: { value: commit } }) }).app;
  for (const [url, status] of [
    [click, 302],
    [pixel, 200],
  ] as const) {
    const { pathname } = new URL(url);
    assert.equal(
      (await full.inject({ method: 'GET', url: pathname, headers: { host: HOST } })).statusCode,
      status,
    );
  }
  await full.close();
  assert.deepEqual(rowsOf(id), []);
});

test('a tracking host is used while its record and its certificate are right, and served for ever', async () => {
  await track(true, true);
  const { spool } = campaign;
  const host = `links.${SENDER_DOMAIN}`;
  await ask('PATCH', `/domains/${domainId}`, { trackingSubdomain: host });
  const originOf = async () => {
    const id = await spool.accept('a@readers.example', { html: HTML });
    const [click = ''] = linksIn((await sentParts(id)).html);
    return { id, click, hostname: new URL(click).hostname };
  };
  assert.equal((await originOf()).hostname, HOST, 'before it is verified');
  spool.addZone(`${host} CNAME ${HOST}`);
  await ask('POST', `/domains/${domainId}/verify`);
  const used = await originOf();
  assert.equal(used.hostname, host);
  await waitUntil(() => hosted.serves(host, '/'));
  assert.equal((await visit(used.click)).statusCode, 302);

  // Another tenant's tokens, and all other pages, are not found there.
  const other = await spool.addTenant('other');
  await spool.addDomain(other.liveKey, 'other.example');
  const theirs = (await spool.request('GET', '/v1/domains', { key: other.liveKey })).body.data[0].id;
  const body = { openTracking: true };
  await spool.request('PATCH', `/v1/domains/${theirs}`, { key: other.liveKey, body });
  const from = 'Eve <eve@other.example>';
  const foreign = await spool.accept('a@readers.example', { key: other.liveKey, from, html: HTML });
  const [pixel = ''] = linksIn((await sentParts(foreign)).html);
  assert.equal((await visit(pixel)).statusCode, 200);
  assert.equal((await visit(pixel.replace(HOST, host))).statusCode, 404);
  const unsubscribe = createLinks(spool.app).unsubscribeUrl({
    ...{ tenantId: spool.tenantId, topicId: undefined, contactId: undefined, address: 'a@readers.example' },
  });
  assert.equal((await visit(unsubscribe)).statusCode, 200);
  assert.equal((await visit(unsubscribe.replace(HOST, host))).statusCode, 404);

  // A day without a right check ends its use, and a removal too, but links in sent mail still lead on.
  await advance(DAY_MS);
  assert.equal((await originOf()).hostname, HOST);
  await ask('POST', `/domains/${domainId}/verify`);
  assert.equal((await originOf()).hostname, host);
  await ask('PATCH', `/domains/${domainId}`, { trackingSubdomain: null });
  assert.equal((await originOf()).hostname, HOST);
  assert.equal((await visit(used.click)).statusCode, 302);
  const restarted = createPreferencesApp(spool.app);
  await restarted.app.ready();
  assert.ok(restarted.serves(host, '/'), 'a later start of the daemon serves it too');
  await restarted.app.close();
});

test('a thousand requests of a scanner change nothing but the number of requests', async () => {
  await track(true, true);
  const { spool } = campaign;
  const id = await spool.accept('a@readers.example', { html: HTML });
  const [click = ''] = linksIn((await sentParts(id)).html);
  const before = await spool.email(id);
  for (let index = 0; index < 1_000; index++) assert.equal((await visit(click)).statusCode, 302);
  await waitUntil(() => rowsOf(id)[0]?.requests === 1_000);
  assert.equal(rowsOf(id).length, 1);
  assert.deepEqual(await spool.email(id), before);
});

test('retention of an email ends its links', async () => {
  await track(true, true);
  const id = await campaign.spool.accept('a@readers.example', { html: HTML });
  const links = () =>
    withDatabase((database) => database.prepare('SELECT url FROM trackedLinks WHERE ownerId = ?').all(id));
  assert.deepEqual(links(), [{ url: 'https://shop.example/?a=1&b=ü' }]);
  await campaign.spool.cancel(id);
  await advance(1_000);
  const now = campaign.spool.clock.now();
  const all = { after: '', before: newId('em', now + 1), rows: 1_000, now, endedBy: now };
  await campaign.spool.app.db.commit(expireContent, all);
  assert.equal(links().length, 1, 'readers follow links longer than the content is kept');
  await campaign.spool.app.db.commit(expireEmails, all);
  assert.deepEqual(links(), []);
});

/** A link that only some readers are shown. */
const VIP = 'https://shop.example/vip';

test('a broadcast is instrumented once, and each copy leads its reader to the link with their values', async () => {
  await track(true, true);
  const { spool, sink } = campaign;
  await campaign.addContact('ada@readers.example', {
    firstName: 'Ada',
    properties: { id: 'a/1 &', vip: true },
  });
  await campaign.addContact('bob@readers.example', { properties: { id: '"><script>' } });
  const html = `<p>Hi {{firstName|you}}</p><a href="https://shop.example/?c={{id}}&amp;n={{firstName}}">Shop</a>{{#if vip}}<a href="${VIP}">VIP</a>{{else}}<b>Join</b>{{/if}}<a href="${TAG}">x</a>`;
  const id = await campaign.draft({ html });
  await campaign.act(id, 'send');
  await campaign.work();
  await spool.deliverDue();
  const got = new Map<string, string>();
  for (const { recipients, raw } of sink.messages) got.set(recipients[0] ?? '', String(raw));
  // A click that comes sooner is a machine's.
  await advance(10_000);
  const seen: Record<string, string | undefined> = {};
  for (const address of ['ada@readers.example', 'bob@readers.example']) {
    const { html: shown } = await simpleParser(got.get(address) ?? '');
    const found = linksIn(String(shown));
    const [click = ''] = found;
    const pixel = found.at(-1) ?? '';
    assert.match(String(shown), /<a href="https:\/\/track\.mx\.postrider\.example\/u\//);
    const isVip = address.startsWith('ada');
    assert.equal(String(shown).includes('<b>Join</b>'), !isVip);
    assert.equal(found.length, isVip ? 3 : 2);
    seen[address] = (await visit(click)).headers.location;
    assert.equal((await visit(pixel)).statusCode, 200);
  }
  assert.deepEqual(seen, {
    'ada@readers.example': 'https://shop.example/?c=a%2F1%20%26&n=Ada',
    'bob@readers.example': 'https://shop.example/?c=%22%3E%3Cscript%3E&n=',
  });
  const stored = withDatabase((database) =>
    database.prepare('SELECT count(*) AS links FROM trackedLinks WHERE ownerId = ?').get(id),
  );
  assert.deepEqual(stored, { links: 2 });

  await waitUntil(() => countDue() >= 4);
  await advance(60_000);
  const classification = createClassificationWork(spool.app);
  while (countDue() > 0) await classification.lease(1);
  const { counts } = await campaign.show(id);
  assert.deepEqual([counts.opened, counts.uniqueOpened, counts.clicked, counts.uniqueClicked], [2, 2, 2, 2]);
  const url = 'https://shop.example/?c={{id}}&n={{firstName}}';
  assert.deepEqual((await ask('GET', `/broadcasts/${id}/clicked-links`)).body, {
    data: [
      { number: 0, url, clicks: 2, uniqueClicks: 2, machineClicks: 0 },
      { number: 1, url: VIP, clicks: 0, uniqueClicks: 0, machineClicks: 0 },
    ],
    hasMore: false,
    nextCursor: null,
  });
  const { file, job } = await exportCsv(
    {
      ...spool,
      request: (method, path, more) => spool.request(method, path, { key: spool.liveKey, ...more }),
    },
    `/v1/broadcasts/${id}/clicked-links/exports`,
  );
  assert.deepEqual([job.kind, job.rows], ['links', 2]);
  const lines = ['number,url,clicks,uniqueClicks,machineClicks', `0,${url},2,2,0`, `1,${VIP},0,0,0`, ''];
  assert.equal(file, lines.join('\r\n'));
});

test('whoever names a domain without having verified it shows nothing at its tracking host', async () => {
  const { spool } = campaign;
  await track(true, true);
  const host = `brand.${SENDER_DOMAIN}`;
  spool.addZone(`${host} CNAME ${HOST}`);
  await ask('PATCH', `/domains/${domainId}`, { trackingSubdomain: host });
  await ask('POST', `/domains/${domainId}/verify`);
  const eve = await spool.addTenant('eve');
  const asEve = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) =>
    spool.request(method, `/v1${path}`, { key: eve.liveKey, ...(body && { body }) });
  await spool.addDomain(eve.liveKey, 'eve.example');
  const own = (await asEve('GET', '/domains?name=eve.example')).body.data[0].id;
  await asEve('PATCH', `/domains/${own}`, { openTracking: true });
  const { id: foreign } = (await asEve('POST', '/domains', { name: SENDER_DOMAIN })).body;
  await asEve('PATCH', `/domains/${foreign}`, { trackingSubdomain: host });
  const checked = await asEve('POST', `/domains/${foreign}/verify`);
  assert.notEqual(checked.body.status, 'verified');
  const id = await spool.accept('a@readers.example', {
    ...{ key: eve.liveKey, from: 'Eve <eve@eve.example>', html: HTML },
  });
  const [pixel = ''] = linksIn((await sentParts(id)).html);
  await waitUntil(() => hosted.serves(host, '/'));
  assert.equal((await visit(pixel)).statusCode, 200);
  assert.equal((await visit(pixel.replace(HOST, host))).statusCode, 404);
});

test('the host of the public pages shows all of them, also when it was stored as the tracking host of a domain', async () => {
  const { spool } = campaign;
  const database = new Sqlite(join(spool.dataDir, 'postrider.db'));
  database.prepare('INSERT INTO trackingHosts (host, domainId, since) VALUES (?, ?, 0)').run(HOST, domainId);
  const { app } = createPreferencesApp(spool.app);
  try {
    await app.ready();
    const unsubscribe = createLinks(spool.app).unsubscribeUrl({
      ...{ tenantId: spool.tenantId, topicId: undefined, contactId: undefined, address: 'a@readers.example' },
    });
    const { host, pathname } = new URL(unsubscribe);
    assert.equal((await app.inject({ url: pathname, headers: { host } })).statusCode, 200);
  } finally {
    await app.close();
    database.prepare('DELETE FROM trackingHosts WHERE host = ?').run(HOST);
    database.close();
  }
});
