/**
 * The rules for bulk senders, each as a test on the bytes that a receiving server gets. `docs/bulk-senders.md` lists them
 * with their sources, and names the test of each.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { authenticate } from 'mailauth';
import { simpleParser } from 'mailparser';
import { readPage, readTable } from '../readme/page.ts';
import { nodeResolver } from '../support/node-resolver.ts';
import { SENDER_DOMAIN } from '../support/spool.ts';
import { TAG } from './fixtures.ts';
import { type Campaign, openCampaign } from './sending/campaign.ts';

const PAGE = 'docs/bulk-senders.md';
const FILE = 'broadcasts/bulk-senders.test.ts';
const HOST = 'mx.postrider.example';
const TRACK = `track.${HOST}`;
/** The smallest key that Gmail accepts, in bits. */
const MIN_KEY_BITS = 1_024;

/** One message as the receiving server got it. */
type Copy = { raw: Buffer; mailFrom: string };
type Field = { name: string; value: string };

let campaign: Campaign;
let server: FastifyInstance;
let topicId: string;
let broadcastId: string;
/** The copy of Ann, which most tests look at, and that of Bob. */
let ann: Copy;
let bob: Copy;
let annId: string;

before(async () => {
  campaign = await openCampaign();
  const { spool } = campaign;
  // The records of the operator, and the return path of the domain.
  const ours = '"v=spf1 ip4:127.0.0.1 -all"';
  spool.addZone(`bounce.${HOST} TXT ${ours}\nspf.${HOST} TXT ${ours}`);
  spool.addZone(`bounce.${SENDER_DOMAIN} CNAME bounce.${HOST}`);
  const { data } = await ask('GET', '/domains');
  await ask('POST', `/domains/${data[0].id}/verify`);
  server = await spool.openServer();
  await server.listen({ host: '127.0.0.1', port: 0 });
  topicId = (await ask('POST', '/topics', { name: 'News', description: 'Once a month' })).id;
  annId = await campaign.addContact('ann@readers.example', { firstName: 'Ann' });
  await campaign.addContact('bob@readers.example', { firstName: 'Bob' });
  broadcastId = await campaign.draft({ topicId });
  const copies = await send(broadcastId);
  [ann, bob] = [copyOf(copies, 'ann'), copyOf(copies, 'bob')];
});
after(() => campaign[Symbol.asyncDispose]());

async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) {
  const key = campaign.spool.liveKey;
  const answer = await campaign.spool.request(method, `/v1${path}`, {
    key,
    ...(body !== undefined && { body }),
  });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

/** Sends a broadcast to its end, and returns what arrived by the name of its reader. */
async function send(id: string): Promise<Map<string, Copy>> {
  assert.equal((await campaign.act(id, 'send')).status, 200);
  for (let rounds = 0; rounds < 10 && (await campaign.show(id)).status === 'sending'; rounds++) {
    await campaign.work();
    await campaign.spool.deliverDue();
    await campaign.spool.clock.advance(100);
  }
  return new Map(
    campaign.sink.messages.splice(0).map(({ recipients, raw = Buffer.alloc(0), mailFrom }) => {
      assert.equal(recipients.length, 1);
      return [recipients[0]?.split('@')[0] ?? '', { raw, mailFrom }];
    }),
  );
}

function copyOf(copies: Map<string, Copy>, name: string): Copy {
  const copy = copies.get(name);
  assert.ok(copy, `${name} is among ${[...copies.keys()]}`);
  return copy;
}

function fieldsOf({ raw }: Copy): Field[] {
  const [header = ''] = raw.toString('latin1').split('\r\n\r\n');
  return header
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .map((line) => ({ name: line.slice(0, line.indexOf(':')), value: line.slice(line.indexOf(':') + 2) }));
}

/** Returns the value of a field that the message has exactly once. */
function fieldOf(copy: Copy, name: string): string {
  const values = fieldsOf(copy).filter((field) => field.name.toLowerCase() === name.toLowerCase());
  assert.equal(values.length, 1, `${name} occurs ${values.length} times`);
  return values[0]?.value ?? '';
}

function linkOf(copy: Copy): string {
  return urisOf(copy)[0] ?? '';
}

/** Returns the URIs of List-Unsubscribe in their order. */
function urisOf(copy: Copy): string[] {
  const value = fieldOf(copy, 'List-Unsubscribe');
  assert.match(value, /^<[^<>,\s]+>(?:, <[^<>,\s]+>)*$/);
  return [...value.matchAll(/<([^>]+)>/g)].map(([, uri = '']) => uri);
}

/** Checks a message as a receiving server does, which was connected from 127.0.0.1. */
const evaluate = ({ raw, mailFrom }: Copy) =>
  authenticate(raw, {
    ip: '127.0.0.1',
    helo: HOST,
    sender: mailFrom,
    mta: 'mx.readers.example',
    resolver: nodeResolver(campaign.spool.dns),
    disableArc: true,
    disableBimi: true,
  });

type Answer = { status: number | undefined; headers: Record<string, unknown>; body: string };

/** Asks for a link with the header fields that are given and no others, as a mail program does. */
function follow(url: string, { method = 'GET', type = '', body = '' } = {}): Promise<Answer> {
  const { port } = server.server.address() as AddressInfo;
  const { host, pathname: path } = new URL(url);
  const headers = { host, ...(type !== '' && { 'content-type': type }) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(parts).toString(),
        }),
      );
    });
    sent.on('error', reject).end(body);
  });
}

const FORM = 'application/x-www-form-urlencoded';

async function choicesOf(name: string) {
  const { topics } = await ask('GET', `/audiences/${campaign.audienceId}/contacts/${name}@readers.example`);
  return topics;
}

test('SPF passes for the domain in From', async () => {
  const { spf } = await evaluate(ann);
  assert.ok(spf);
  assert.deepEqual([spf.status.result, spf.domain], ['pass', `bounce.${SENDER_DOMAIN}`]);
  assert.match(fieldOf(ann, 'From'), new RegExp(`@${SENDER_DOMAIN}>$`));
});

test('DKIM passes with a key of the domain in From', async () => {
  const { dkim } = await evaluate(ann);
  assert.equal(dkim.results.length, 1);
  const [result] = dkim.results;
  assert.deepEqual([result?.status.result, result?.signingDomain], ['pass', SENDER_DOMAIN]);
  assert.ok(Number(result?.modulusLength) >= MIN_KEY_BITS, String(result?.modulusLength));
  const changed = ann.raw.toString('latin1').replace('Hello Ann', 'Hello Eve');
  const forged = await evaluate({ ...ann, raw: Buffer.from(changed, 'latin1') });
  assert.notEqual(forged.dkim.results[0]?.status.result, 'pass');
});

test('DMARC passes, aligned by SPF and by DKIM', async () => {
  const { dmarc } = await evaluate(ann);
  assert.ok(dmarc);
  assert.deepEqual([dmarc.status.result, dmarc.domain], ['pass', SENDER_DOMAIN]);
  assert.deepEqual(
    [dmarc.alignment?.spf?.result, dmarc.alignment?.dkim?.result],
    [`bounce.${SENDER_DOMAIN}`, SENDER_DOMAIN],
  );
  const unsigned = ann.raw.toString('latin1').replace(/^DKIM-Signature:.*?\r\n(?=\S)/s, '');
  const bySpf = await evaluate({ ...ann, raw: Buffer.from(unsigned, 'latin1') });
  assert.ok(bySpf.dmarc);
  assert.deepEqual([bySpf.dmarc.status.result, bySpf.dkim.results[0]?.status.result], ['pass', 'none']);
});

test('the signature covers the List fields and Feedback-ID, and excludes a second one', async () => {
  const [, names = ''] = /(?:^|;)\s*h=([^;]+)/.exec(fieldOf(ann, 'DKIM-Signature')) ?? [];
  const signed = names.toLowerCase().replace(/\s/g, '').split(':');
  for (const name of ['List-Unsubscribe', 'List-Unsubscribe-Post', 'List-Id', 'Feedback-ID']) {
    assert.equal(signed.filter((one) => one === name.toLowerCase()).length, 2, name);
    const second = Buffer.concat([Buffer.from(`${name}: <https://attacker.example/>\r\n`), ann.raw]);
    const { dkim } = await evaluate({ ...ann, raw: second });
    assert.notEqual(dkim.results[0]?.status.result, 'pass', `a second ${name} breaks the signature`);
    const without = ann.raw.toString('latin1').replace(new RegExp(`^${name}:.*?\\r\\n(?=\\S)`, 'ms'), '');
    const removed = await evaluate({ ...ann, raw: Buffer.from(without, 'latin1') });
    assert.notEqual(removed.dkim.results[0]?.status.result, 'pass', `without ${name} the signature breaks`);
  }
});

test('List-Unsubscribe has one https URI, which is the first, and one mailto URI', () => {
  const [link, mailto, ...others] = urisOf(ann).map((uri) => new URL(uri));
  assert.ok(link && mailto);
  assert.deepEqual(others, []);
  assert.deepEqual([mailto.protocol, mailto.search], ['mailto:', '?subject=unsubscribe']);
  assert.match(mailto.pathname, /^u\+[0-9a-hjkmnp-tv-z]{54}@bounce\.mx\.postrider\.example$/);
  assert.notEqual(mailto.href, urisOf(bob)[1]);
  assert.deepEqual([link.protocol, link.hostname, link.search, link.hash], ['https:', TRACK, '', '']);
});

test('List-Unsubscribe-Post has the value of RFC 8058', () => {
  assert.equal(fieldOf(ann, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');
});

test('the link names reader and list in a form that nobody can forge', async () => {
  const link = linkOf(ann);
  assert.notEqual(link, linkOf(bob));
  const token = link.slice(link.lastIndexOf('/') + 1);
  // Random text may have any three letters, but not a whole name.
  assert.doesNotMatch(link + Buffer.from(token, 'base64url').toString('latin1'), /ann@|readers/i);
  for (const index of [0, 10, 50, token.length - 1]) {
    const other = token[index] === 'A' ? 'B' : 'A';
    const forged = link.replace(token, token.slice(0, index) + other + token.slice(index + 1));
    assert.equal((await follow(forged, { method: 'POST', type: FORM, body: ONE_CLICK })).status, 404);
  }
  assert.deepEqual(await choicesOf('ann'), []);
});

test('opening the link unsubscribes nobody', async () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS']) await follow(linkOf(ann), { method });
  assert.deepEqual(await choicesOf('ann'), []);
  assert.equal((await follow(linkOf(ann))).status, 200);
});

const ONE_CLICK = 'List-Unsubscribe=One-Click';
const MULTIPART = `--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n`;

test('a one-click POST needs no login, no cookie and no redirect, in both forms', async () => {
  for (const [name, type, body] of [
    ['one', FORM, ONE_CLICK],
    ['two', 'multipart/form-data; boundary=b', MULTIPART],
  ] as const) {
    await campaign.addContact(`${name}@readers.example`);
    const copy = copyOf(await send(await campaign.draft({ topicId })), name);
    const { status, headers } = await follow(linkOf(copy), { method: 'POST', type, body });
    assert.deepEqual([status, headers['location'], headers['set-cookie']], [200, undefined, undefined]);
    assert.deepEqual(await choicesOf(name), [{ id: topicId, subscription: 'opt_out' }]);
  }
});

test('a one-click POST takes effect at once: the next claim does not mail', async () => {
  await campaign.addContact('cleo@readers.example');
  const link = linkOf(copyOf(await send(await campaign.draft({ topicId })), 'cleo'));
  const next = await campaign.draft({ topicId });
  await campaign.act(next, 'send');
  await campaign.work();
  assert.ok((await campaign.show(next)).counts.queued > 1, 'the copy of Cleo is in the queue');
  assert.equal((await follow(link, { method: 'POST', type: FORM, body: ONE_CLICK })).status, 200);
  await campaign.spool.deliverDue();
  const readers = campaign.sink.messages.splice(0).flatMap(({ recipients }) => recipients);
  assert.ok(readers.includes('ann@readers.example'));
  assert.equal(readers.includes('cleo@readers.example'), false);
  const later = await send(await campaign.draft({ topicId }));
  assert.deepEqual([later.has('ann'), later.has('cleo')], [true, false]);
});

test('a reader who has left, and whose contact is deleted and created again, gets nothing', async () => {
  await campaign.addContact('finn@readers.example');
  const link = linkOf(copyOf(await send(await campaign.draft({ topicId })), 'finn'));
  await follow(link, { method: 'POST', type: FORM, body: ONE_CLICK });
  const { audienceId, spool } = campaign;
  const path = `/v1/audiences/${audienceId}/contacts`;
  const key = spool.liveKey;
  assert.equal((await spool.request('DELETE', `${path}/finn@readers.example`, { key })).status, 204);
  await campaign.addContact('finn@readers.example');
  assert.equal((await send(await campaign.draft({ topicId }))).has('finn'), false);
});

test('the body has the same link, in HTML and in the text', async () => {
  const { html, text } = await simpleParser(ann.raw);
  assert.ok(String(html).includes(`<a href="${linkOf(ann)}">Unsubscribe</a>`), String(html));
  assert.ok(text?.includes(linkOf(ann)), text);
  const refused = await campaign.spool.request('POST', '/v1/broadcasts', {
    key: campaign.spool.liveKey,
    body: { audienceId: campaign.audienceId, from: `a@${SENDER_DOMAIN}`, subject: 's', html: '<p>Hi</p>' },
  });
  assert.deepEqual([refused.status, refused.body.error.param], [400, 'html']);
  assert.ok(refused.body.error.message.includes(TAG));
});

test('readers choose single lists or leave everything', async () => {
  const { body } = await follow(linkOf(bob), { method: 'POST', type: FORM, body: 'action=unsubscribe' });
  assert.match(body, /<input [^>]*type="checkbox"[^>]*>/);
  assert.match(body, /value="leave"/);
  assert.equal(
    (await follow(linkOf(bob), { method: 'POST', type: FORM, body: 'action=return' })).status,
    200,
  );
});

test('List-Id stays when the topic is renamed', async () => {
  const before = fieldOf(ann, 'List-Id');
  assert.equal(before, `News <${topicId}.${HOST}>`);
  assert.ok(before.length <= 255);
  await ask('PATCH', `/topics/${topicId}`, { name: 'Monthly' });
  const copies = await send(await campaign.draft({ topicId }));
  assert.equal(fieldOf(copyOf(copies, 'ann'), 'List-Id'), `Monthly <${topicId}.${HOST}>`);
  await ask('PATCH', `/topics/${topicId}`, { name: 'News' });
});

test('Precedence is bulk, and automatic replies are not wanted', () => {
  assert.equal(fieldOf(ann, 'Precedence'), 'bulk');
  assert.equal(fieldOf(ann, 'X-Auto-Response-Suppress'), 'OOF, AutoReply');
});

test('Feedback-ID has four parts, and none names a reader', () => {
  const value = fieldOf(ann, 'Feedback-ID');
  assert.equal(value, fieldOf(bob, 'Feedback-ID'));
  const [campaignPart, topic, tenant, sender, ...others] = value.split(':');
  assert.deepEqual([campaignPart, topic, tenant], [broadcastId, topicId, campaign.spool.tenantId]);
  assert.match(sender ?? '', /^[0-9a-z]{5,15}$/);
  assert.deepEqual(others, []);
  assert.doesNotMatch(value, new RegExp(`ann|${annId}|em_`));
});

test('the message is one of RFC 5322', () => {
  for (const name of ['From', 'To', 'Date', 'Message-ID', 'Subject', 'MIME-Version', 'Reply-To'])
    assert.ok(fieldsOf(ann).filter((field) => field.name === name).length <= 1, name);
  assert.equal(fieldOf(ann, 'To'), 'ann@readers.example');
  assert.match(fieldOf(ann, 'Message-ID'), new RegExp(`^<[^<>\\s]+@${SENDER_DOMAIN}>$`));
  assert.ok(!Number.isNaN(Date.parse(fieldOf(ann, 'Date'))));
  const lines = ann.raw.toString('latin1').split('\r\n');
  assert.deepEqual(
    lines.filter((line) => /[\r\n]/.test(line) || line.length > 998),
    [],
  );
  const singular = ['List-Id', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID', 'Precedence'];
  for (const name of singular) fieldOf(ann, name);
});

test('every rule on the page names a test that exists, and every test here is on the page', () => {
  const rows = readTable(readPage(PAGE).text, 'Rules');
  assert.ok(rows.length > 15);
  for (const [, rule, source, proof] of rows) assert.ok(rule && source && proof, rows.join());
  const proofs = rows.flatMap(([, , , cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, proof]) => proof ?? ''),
  );
  const wrong = proofs.filter((proof) => {
    const [file = '', ...name] = proof.split(': ');
    return !namesIn(file).includes(name.join(': '));
  });
  assert.deepEqual(wrong, []);
  // The last test of this file is this one.
  const here = namesIn(FILE).slice(0, -1);
  const unlisted = here.filter((name) => !proofs.includes(`${FILE}: ${name}`));
  assert.deepEqual(unlisted, []);
});

/** Returns the names of the tests of a file under `test/`. */
function namesIn(file: string): string[] {
  const url = new URL(`../${file}`, import.meta.url);
  if (!existsSync(url)) return [];
  return [...readFileSync(url, 'utf8').matchAll(/^test\('((?:[^'\\]|\\.)*)'/gm)].map(
    ([, name]) => name ?? '',
  );
}
