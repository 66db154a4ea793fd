/** Tracked links lead where a real browser would go from the links that they replace. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, test } from 'node:test';
import { simpleParser } from 'mailparser';
import type { Browser } from 'playwright-core';
import { startDnsServer } from '../support/dns-server.ts';
import { hrefs } from '../support/hrefs.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { startBrowser } from './browser.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { until } from './until.ts';

const TRACK = `track.${SENDER_HOSTNAME}`;

let sink: SmtpSink;
let sender: Sender;
let browser: Browser;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  sink = await startSmtpSink({ keepRaw: true });
  closers.unshift(() => sink.close());
  sender = await startSender({ dns, receiver: { hostname: `mx.${RECEIVER_DOMAIN}`, port: sink.port } });
  closers.unshift(() => sender.daemon.stop());
  browser = await startBrowser({});
  closers.unshift(() => browser.close());
});

after(async () => {
  for (const close of closers) await close();
});

/** Returns the answer of the daemon to a request for a public page. */
function follow(path: string): Promise<{ status: number | undefined; location: string | undefined }> {
  const url = new URL(path, sender.daemon.address);
  return new Promise((resolve, reject) => {
    request(url, { headers: { host: TRACK } }, (answer) => {
      const { statusCode: status, headers } = answer.resume();
      resolve({ status, location: headers.location });
    })
      .on('error', reject)
      .end();
  });
}

test('500 links lead to the addresses that Chromium computes from the untouched HTML', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the answer has one domain.
  const [domain] = expectStatus<any>(await sender.get('/v1/domains'), 200).data;
  const tracking = { clickTracking: true };
  expectStatus(await sender.daemon.request('PATCH', `/v1/domains/${domain.id}`, sender.key, tracking), 200);
  const html = hrefs()
    .map((href) => `<a href='${href}'>x</a>`)
    .join('\n');
  const page = await browser.newPage();
  await page.setContent(html);
  const expected = (await page.evaluate('Array.from(document.links, ({ href }) => href)')) as string[];
  assert.equal(expected.length, 500);

  const mail = { from: `a@${SENDER_DOMAIN}`, to: `b@${RECEIVER_DOMAIN}`, subject: 's', text: 't', html };
  expectStatus(await sender.post('/v1/emails', { ...mail, type: 'transactional' }), 200);
  await until('the mail is delivered', async () => sink.messages.length > 0);
  const { html: sent } = await simpleParser(sink.messages[0]?.raw ?? '');
  const tokens = [...String(sent).matchAll(/<a href='https:\/\/[^/]+\/c\/([\w-]{48})'>/g)].map(
    ([, token]) => token,
  );
  assert.equal(tokens.length, 500);
  const locations: (string | undefined)[] = [];
  for (const token of tokens) {
    const { status, location } = await follow(`/c/${token}`);
    assert.equal(status, 302);
    locations.push(location);
  }
  assert.deepEqual(locations, expected);
});
