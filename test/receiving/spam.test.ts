import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RspamdVerdict } from '../../src/receiving/rspamd.ts';
import { createBlocklists } from '../../src/receiving/sender/dnsbl.ts';
import { insertRow } from '../broadcasts/fixtures.ts';
import { openMailWorld, PASS, sendMail } from '../inbound/mail-world.ts';
import { zoneDns } from '../support/zone-dns.ts';

const DNSBL: { zone: string; action: 'refuse' | 'score'; answers: string[] }[] = [
  { zone: 'bl.example', action: 'score', answers: ['127.0.0.0/8'] },
];
let verdict: RspamdVerdict | undefined;
let asked = '';

const world = await openMailWorld({
  replace: (app) => {
    const inbound = { ...app.config.inbound, dnsbl: DNSBL, spam: { flagAt: 6, refuseAt: 12 } };
    return {
      config: { ...app.config, inbound },
      blocklists: createBlocklists(
        { ...app, dns: zoneDns('2.0.0.127.bl.example A 127.0.0.2\n1.0.66.127.bl.example A 127.0.0.2') },
        DNSBL,
      ),
      rspamd: {
        async check({ chunks, recipients, sizeBytes }) {
          asked = `${recipients.join()} ${sizeBytes} `;
          for await (const chunk of chunks()) asked += chunk.toString();
          return verdict;
        },
      },
    };
  },
});
await world.addDomain('shop.example');
await world.addRoute('*@shop.example');

const GOOD =
  'From: ann@sender.example\r\nDate: Fri, 15 Jan 2027 08:00:00 +0000\r\nMessage-ID: <1@x.example>\r\n\r\nHi\r\n';
const BARE = 'Subject: x\r\n\r\nHi\r\n';

async function send(
  message: string,
  {
    address = '127.0.0.1',
    to = 'info@shop.example',
    from = 'ann@sender.example',
  }: { address?: string; to?: string | string[]; from?: string } = {},
) {
  const client = await world.open(address);
  const reply = await sendMail(client, { from, to, message });
  client.socket.destroy();
  return reply;
}

async function last() {
  const row = (await world.messages()).at(-1);
  assert.ok(row);
  return { score: row.spamScore, reasons: JSON.parse(row.spamReasons), flagged: row.flagged, id: row.id };
}

test('the built-in signs give a score with its reasons, which the API shows', async () => {
  assert.match(await send(GOOD), /^250/);
  assert.deepEqual(await last(), { score: 0, reasons: [], flagged: 0, id: (await last()).id });
  assert.match(await send(BARE), /^250/);
  const reasons = [
    { name: 'missing_date', points: 1.5 },
    { name: 'missing_message_id', points: 1.5 },
  ];
  const { id, ...stored } = await last();
  assert.deepEqual(stored, { score: 3, reasons, flagged: 0 });
  const shown = await world.test.request('GET', `/v1/inbound/messages/${id}`, { key: world.test.liveKey });
  assert.deepEqual(shown.body.spam, { score: 3, flagged: false, reasons });
});

test('a listing that only counts adds to the score, but not for a sender that the tenant has written to', async () => {
  const listing = { name: 'dnsbl:bl.example', points: 3.5 };
  assert.match(await send(BARE, { address: '127.66.0.1' }), /^250/);
  const { score, reasons, flagged } = await last();
  assert.deepEqual([score, reasons[0], flagged], [6.5, listing, 1]);
  insertRow(world.test, 'emailAddresses', {
    ...{ tenantId: world.test.tenantId, mode: 'live', address: 'friend@sender.example' },
    emailId: `em_${'0'.repeat(26)}`,
  });
  await send(GOOD, { address: '127.66.0.1', from: 'friend@sender.example' });
  assert.deepEqual((await last()).reasons, []);
});

test('a listing counts for a message that goes to another tenant too, who has never written to its sender', async () => {
  const listing = { name: 'dnsbl:bl.example', points: 3.5 };
  const other = await world.test.addTenant('other');
  await world.addDomain('other.example', other.tenantId);
  await world.addRoute('*@other.example', { key: other.liveKey });
  const to = ['info@shop.example', 'info@other.example'];
  for (const order of [to, to.toReversed()]) {
    await send(GOOD, { address: '127.66.0.1', from: 'friend@sender.example', to: order });
    const rows = (await world.messages()).slice(-2);
    assert.deepEqual(
      rows.map(({ spamReasons }) => JSON.parse(spamReasons)),
      [[listing], [listing]],
    );
  }
  // The next message of the same connection has recipients of its own.
  const client = await world.open('127.66.0.1');
  for (const [next, reasons] of [
    ['info@other.example', [listing]],
    ['info@shop.example', []],
  ] as const) {
    // Ids of one millisecond are in no order.
    await world.clock.advance(1);
    await sendMail(client, { from: 'friend@sender.example', to: next, message: GOOD });
    assert.deepEqual((await last()).reasons, reasons);
  }
});

test('the score of rspamd replaces that of the built-in signs, and flags or refuses at its limit', async () => {
  verdict = { score: 5.9, reasons: [{ name: 'rspamd:BAYES_SPAM', points: 5.9 }] };
  assert.match(await send(BARE), /^250/);
  assert.equal(asked, `info@shop.example ${BARE.length + 2} ${BARE}\r\n`);
  const { id: _, ...stored } = await last();
  assert.deepEqual(stored, { score: 5.9, reasons: verdict.reasons, flagged: 0 });
  verdict = { score: 6, reasons: [] };
  await send(GOOD);
  assert.equal((await last()).flagged, 1);
  verdict = { score: 8.4, reasons: [] };
  assert.match(await send(GOOD, { address: '127.66.0.1' }), /^250/);
  verdict = { score: 8.5, reasons: [] };
  assert.match(await send(GOOD, { address: '127.66.0.1' }), /^550 5\.7\.1 The message looks like spam/);
  verdict = undefined;
});

test('nothing is stored of a message that is refused, and the log has its reasons', async () => {
  const blobs = join(world.test.dataDir, 'blobs');
  const files = () =>
    existsSync(blobs) ? readdirSync(blobs, { recursive: true }).filter((name) => name.length > 10) : [];
  const before = [files(), (await world.messages()).length];
  world.lines.length = 0;
  verdict = { score: 20, reasons: [{ name: 'rspamd:GTUBE', points: 20 }] };
  const large = `${GOOD}${`${'x'.repeat(70)}\r\n`.repeat(10_000)}`;
  for (const message of [GOOD, large]) assert.match(await send(message), /^550 5\.7\.1 /);
  assert.deepEqual([files(), (await world.messages()).length], before);
  const line = world.lines.find(({ msg }) => msg === 'a message looks like spam');
  assert.deepEqual([line?.['score'], line?.['reasons']], [20, ['rspamd:GTUBE 20']]);
  const { text } = await world.app.metrics.show();
  assert.match(text, /inbound_spam_total\{verdict="refused"\} 3/);
  assert.match(text, /inbound_spam_total\{verdict="flagged"\} 3/);
});

test('mail for the postmaster is not judged', async () => {
  asked = '';
  assert.match(await send(BARE, { to: 'postmaster@shop2.example' }), /^550 5\.1\.1/);
  assert.match(await send(BARE, { to: 'postmaster@mx.postrider.example' }), /^250/);
  const { score, reasons, flagged } = await last();
  assert.deepEqual([score, reasons, flagged, asked], [null, [], 0, '']);
  verdict = undefined;
});

test('a message that its author’s domain quarantines is flagged whatever its score is', async () => {
  world.knobs.result = {
    ...PASS,
    dmarc: { result: 'fail', policy: 'quarantine', domain: 'sender.example', reason: 'no' },
  };
  await send(GOOD);
  const { id: _, ...stored } = await last();
  assert.deepEqual(stored, { score: 4, reasons: [{ name: 'dmarc_quarantine', points: 4 }], flagged: 1 });
  world.knobs.result = PASS;
});
