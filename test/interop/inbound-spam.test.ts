/**
 * A real rspamd judges the mail that arrives: what it sees of the envelope, what its score leads to, and what happens
 * without it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import nodemailer from 'nodemailer';
import { startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { type Rspamd, startRspamd } from './rspamd.ts';
import { expectStatus, RECEIVER_DOMAIN, SENDER_DOMAIN, type Sender, startSender } from './sender.ts';

const AUTHOR = `ann@${RECEIVER_DOMAIN}`;
const INFO = `info@${SENDER_DOMAIN}`;
/** A local part in quotes may contain what separates addresses elsewhere (RFC 5321 section 4.1.2). */
const QUOTED = `"a,b"@${SENDER_DOMAIN}`;
/** The pattern that every filter takes for spam. */
const GTUBE = 'XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X';
const [FLAG_AT, REFUSE_AT] = [6, 15];

/** One point for each recipient that rspamd has understood, and seven for a subject. */
const RULES = `
local known = { ['${INFO}'] = true, ['a,b@${SENDER_DOMAIN}'] = true }
rspamd_config:register_symbol({ name = 'PEER_RECIPIENTS', score = 1, callback = function(task)
  local count = 0
  for _, recipient in ipairs(task:get_recipients('smtp') or {}) do
    if known[recipient.addr] then count = count + 1 end
  end
  return count > 0, count
end })
rspamd_config:register_symbol({ name = 'PEER_OFFER', score = 7, callback = function(task)
  return (task:get_subject() or '') == 'Offer', 1
end })
`;

type Spam = { score: number; flagged: boolean; reasons: { name: string; points: number }[] };

let rspamd: Rspamd;
let sender: Sender;
let smtpPort: number;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  rspamd = await startRspamd({ dnsServer: dns.address, rules: RULES });
  closers.unshift(() => rspamd.stop());
  smtpPort = await freePort();
  sender = await startSender({
    dns,
    receiver: { hostname: `mx.${RECEIVER_DOMAIN}`, port: await freePort() },
    env: {
      POSTRIDER_SMTP_PORT: String(smtpPort),
      POSTRIDER_SUBMISSION_ENABLED: 'false',
      POSTRIDER_INBOUND_RSPAMD_URL: rspamd.url,
      POSTRIDER_INBOUND_SPAM_FLAG_AT: String(FLAG_AT),
      POSTRIDER_INBOUND_SPAM_REFUSE_AT: String(REFUSE_AT),
    },
    otherZone: `
${RECEIVER_DOMAIN} TXT "v=spf1 ip4:127.0.0.1 -all"
1.0.0.127.in-addr.arpa PTR mx.${RECEIVER_DOMAIN}
`,
  });
  closers.unshift(() => sender.daemon.stop());
  const route = { address: `*@${SENDER_DOMAIN}`, destination: `https://hooks.${RECEIVER_DOMAIN}/inbound` };
  expectStatus(await sender.post('/v1/inbound/routes', route), 201);
});

after(async () => {
  for (const close of closers) await close();
});

/** Sends a message to two recipients. Rejects with the reply when it is refused. */
async function send(subject: string, text = 'Hello'): Promise<void> {
  const client = nodemailer.createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    name: `mx.${RECEIVER_DOMAIN}`,
    ignoreTLS: true,
  });
  const envelope = { from: AUTHOR, to: [INFO, QUOTED] };
  await client.sendMail({ envelope, from: AUTHOR, to: INFO, subject, text });
}

/** Returns how the message with this subject was judged. */
async function spamOf(subject: string): Promise<Spam> {
  type Listed = { data: { id: string; subject: string }[] };
  const { data } = expectStatus<Listed>(await sender.get('/v1/inbound/messages'), 200);
  const { id } = data.find((message) => message.subject === subject) ?? assert.fail(subject);
  return expectStatus<{ spam: Spam }>(await sender.get(`/v1/inbound/messages/${id}`), 200).spam;
}

const pointsOf = ({ reasons }: Spam, name: string) => reasons.find((reason) => reason.name === name)?.points;

test('rspamd sees all recipients, also one with a comma, and its symbols are the reasons', async () => {
  await send('Two recipients');
  const spam = await spamOf('Two recipients');
  assert.equal(pointsOf(spam, 'rspamd:PEER_RECIPIENTS'), 2);
  assert.equal(spam.flagged, false);
  assert.ok(
    spam.reasons.every(({ name }) => name.startsWith('rspamd:')),
    JSON.stringify(spam),
  );
});

test('a message whose score reaches the limit is flagged', async () => {
  await send('Offer');
  const spam = await spamOf('Offer');
  assert.equal(pointsOf(spam, 'rspamd:PEER_OFFER'), 7);
  assert.deepEqual([spam.flagged, spam.score >= FLAG_AT && spam.score < REFUSE_AT], [true, true]);
});

test('a message that rspamd rejects without a score is refused', async () => {
  await assert.rejects(send('Test of the filter', GTUBE), /550 5\.7\.1 The message looks like spam/);
});

test('without rspamd, mail is judged by the built-in signs', async () => {
  await rspamd.stop();
  await send('Without rspamd');
  const { flagged, reasons } = await spamOf('Without rspamd');
  assert.equal(flagged, false);
  assert.ok(
    reasons.every(({ name }) => !name.startsWith('rspamd:')),
    JSON.stringify(reasons),
  );
});
