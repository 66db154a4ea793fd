/** Marketing mail as its readers receive it, each with a link of their own to unsubscribe (RFC 2369, 2919, 8058). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { simpleParser } from 'mailparser';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { NO_REPORT } from '../../src/queue/outcome/outcome.ts';
import { notSent } from '../../src/queue/transport.ts';
import { deliverBy, deliveryAppOf, openSpool } from '../support/spool.ts';

const spool = await openSpool();
const topic = await spool.request('POST', '/v1/topics', {
  body: { name: 'Grüße & News', defaultOptIn: true },
});
const topicId = topic.body.id;
after(() => spool.close());

const DEFERRED = { kind: 'deferred', report: { ...NO_REPORT, phase: 'local', text: 'Later' } } as const;
const RETRY_MS = 3_600_000;

type Copy = { address: string; raw: Buffer };

/** Tries to deliver everything due, and returns what each reader would have received. The mail stays in the queue. */
async function attempt(): Promise<Copy[]> {
  const copies: Copy[] = [];
  for (let claims = await spool.claim(); claims.length > 0; claims = await spool.claim()) {
    for (const claim of claims) {
      await deliverBy(spool.app, claim, async ({ message, recipients }) => {
        const { signature, content } = await deliveryAppOf(spool.app).prepare({ message, recipients });
        const pieces: Buffer[] = [Buffer.from(signature, 'latin1')];
        for await (const piece of content.chunks()) pieces.push(piece);
        copies.push({ address: recipients.map((one) => one.address).join(), raw: Buffer.concat(pieces) });
        return notSent(claim, DEFERRED);
      });
    }
  }
  await spool.clock.advance(RETRY_MS);
  return copies.sort((one, other) => one.address.localeCompare(other.address));
}

const sendTo = (to: string | string[], more: object = {}) =>
  spool.accept(to, { type: 'broadcast', topicId, ...more });

/** Looks up the key of a signature for the verifier. */
async function resolver(name: string): Promise<string[][]> {
  const answer = await spool.dns.txt(name);
  return answer.kind === 'found' ? answer.records.map((text) => [text]) : [];
}

function fieldOf(raw: Buffer, name: string): string[] {
  const header = raw.toString('latin1').split('\r\n\r\n')[0] ?? '';
  return header
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}: `))
    .map((line) => line.slice(name.length + 2));
}

function linkOf(raw: Buffer): string {
  const [field = '', ...others] = fieldOf(raw, 'List-Unsubscribe');
  assert.deepEqual(others, []);
  const [, link = ''] = /^<(https:\/\/track\.mx\.postrider\.example\/u\/[\w-]+)>, <mailto:/.exec(field) ?? [];
  assert.notEqual(link, '', field);
  return link;
}

test('each reader gets a copy with a link of their own, in the header and in both texts', async () => {
  const html = '<p>Hi</p><a href="{{{unsubscribe_url}}}">Leave</a> {{{ unsubscribe_url | none }}}';
  const id = await sendTo(['ann@rcpt.example', 'bob@rcpt.example'], {
    bcc: 'eve@rcpt.example',
    html,
    text: undefined,
  });
  const copies = await attempt();
  const addresses = copies.map(({ address }) => address);
  assert.deepEqual(addresses, ['ann@rcpt.example', 'bob@rcpt.example', 'eve@rcpt.example']);
  const links = copies.map(({ raw }) => linkOf(raw));
  assert.equal(new Set(links).size, 3);
  for (const [index, { raw }] of copies.entries()) {
    const parsed = await simpleParser(raw);
    const link = links[index];
    assert.ok(link);
    assert.equal(parsed.html, `<p>Hi</p><a href="${link}">Leave</a> ${link}`);
    assert.ok(parsed.text?.includes(`Leave [${link}]`), parsed.text);
    assert.ok(!raw.toString('latin1').includes('unsubscribe_url'));
  }
  const shown = await spool.email(id);
  assert.equal(shown.html, html, 'the API shows the placeholder');
});

test('the fields are those that receivers of bulk mail ask for, and the signature covers them', async () => {
  const id = await sendTo('carl@rcpt.example');
  const copies = await attempt();
  const copy = copies.find(({ address }) => address === 'carl@rcpt.example');
  assert.ok(copy);
  const { raw } = copy;
  assert.deepEqual(fieldOf(raw, 'List-Unsubscribe-Post'), ['List-Unsubscribe=One-Click']);
  assert.deepEqual(fieldOf(raw, 'Precedence'), ['bulk']);
  assert.deepEqual(fieldOf(raw, 'X-Auto-Response-Suppress'), ['OOF, AutoReply']);
  assert.match(
    fieldOf(raw, 'List-Id')[0] ?? '',
    new RegExp(`^=\\?UTF-8\\?.*\\?= <${topicId}\\.mx\\.postrider\\.example>$`),
  );
  const [feedbackId = ''] = fieldOf(raw, 'Feedback-ID');
  assert.match(feedbackId, new RegExp(`^email:${topicId}:${spool.tenantId}:[0-9a-f]{5,15}$`));
  assert.ok(!feedbackId.includes('carl') && !feedbackId.includes(id));
  const { results } = await dkimVerify(raw, { resolver, curTime: new Date(spool.clock.now()) } as never);
  assert.equal(results[0]?.status?.result, 'pass', JSON.stringify(results[0]?.status));
  const signed = /h=([^;]+);/
    .exec(fieldOf(raw, 'DKIM-Signature')[0] ?? '')?.[1]
    ?.replace(/\s/g, '')
    .split(':');
  for (const name of ['List-Id', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID'])
    assert.equal(
      signed?.filter((one) => one === name).length,
      2,
      `${name} is signed, and a second one is excluded`,
    );
});

test('every attempt sends the same bytes, with files as well', async () => {
  const attachments = [{ filename: 'a.txt', content: Buffer.from('hello').toString('base64') }];
  await sendTo(['dora@rcpt.example', 'emil@rcpt.example'], {
    text: 'Bye: {{{unsubscribe_url}}}',
    attachments,
  });
  const wanted = ({ address }: Copy) => ['dora@rcpt.example', 'emil@rcpt.example'].includes(address);
  const first = (await attempt()).filter(wanted);
  const second = (await attempt()).filter(wanted);
  assert.equal(first.length, 2);
  assert.deepEqual(
    second.map(({ raw }) => raw.toString('latin1')),
    first.map(({ raw }) => raw.toString('latin1')),
  );
  for (const { raw } of first) {
    const { results } = await dkimVerify(raw, { resolver, curTime: new Date(spool.clock.now()) } as never);
    assert.equal(results[0]?.status?.result, 'pass');
  }
});

test('the link of a copy unsubscribes its reader from the next attempt on, and nobody else', async () => {
  await sendTo(['fay@rcpt.example', 'gus@rcpt.example']);
  const copies = await attempt();
  const fay = copies.find(({ address }) => address === 'fay@rcpt.example');
  assert.ok(fay);
  const { app: pages } = createPreferencesApp(spool.app);
  const { statusCode } = await pages.inject({
    method: 'POST',
    url: new URL(linkOf(fay.raw)).pathname,
    payload: 'List-Unsubscribe=One-Click',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await pages.close();
  assert.equal(statusCode, 200);
  const later = (await attempt()).map(({ address }) => address);
  assert.ok(!later.includes('fay@rcpt.example') && later.includes('gus@rcpt.example'));
});

test('variables and templates keep the placeholder of the link, and nobody can fill it in', async () => {
  const template = await spool.request('POST', '/v1/templates', {
    body: { name: 't', subject: 's', html: '<p>{{name}}</p>{{{unsubscribe_url}}}' },
  });
  const id = await sendTo('hal@rcpt.example', {
    text: undefined,
    templateId: template.body.id,
    variables: { name: 'Hal {{{unsubscribe_url}}}', unsubscribe_url: 'https://evil.example' },
  });
  const shown = await spool.email(id);
  assert.deepEqual(
    [shown.html, shown.missingVariables],
    ['<p>Hal {{{unsubscribe_url}}}</p>{{{unsubscribe_url}}}', []],
  );
  const copy = (await attempt()).find(({ address }) => address === 'hal@rcpt.example');
  assert.ok(copy);
  const { html } = await simpleParser(copy.raw);
  assert.equal(html, `<p>Hal ${linkOf(copy.raw)}</p>${linkOf(copy.raw)}`);
});

test('transactional mail stays as it is: one transaction for all recipients, and no field of marketing mail', async () => {
  await spool.accept(['ida@rcpt.example', 'jon@rcpt.example'], { text: '{{{unsubscribe_url}}}', topicId });
  const copies = (await attempt()).filter(({ address }) => address.includes('ida'));
  assert.deepEqual(
    copies.map(({ address }) => address),
    ['ida@rcpt.example,jon@rcpt.example'],
  );
  const raw = copies[0]?.raw.toString('latin1') ?? '';
  assert.doesNotMatch(raw, /^(List-|Feedback-ID|Precedence)/im);
  assert.ok(raw.includes('{{{unsubscribe_url}}}'));
});

test('marketing mail with more text than is composed for each reader is refused', async () => {
  const from = 'Ada <ada@sender.example>';
  const body = { from, to: 'kim@rcpt.example', subject: 's', type: 'broadcast', topicId };
  const { status, body: answer } = await spool.request('POST', '/v1/emails', {
    key: spool.liveKey,
    body: { ...body, html: `<p>${'x'.repeat(300_000)}</p>`, text: 'short' },
  });
  assert.deepEqual([status, answer.error.type, answer.error.param], [400, 'validation_error', 'html']);
});
