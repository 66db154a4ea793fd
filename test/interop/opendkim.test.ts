import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { authenticate } from 'mailauth';
import { createTransport } from 'nodemailer';
import { startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { nodeResolver } from '../support/node-resolver.ts';
import { zoneDns } from '../support/zone-dns.ts';
import { type Opendkim, startOpendkim } from './opendkim.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { until } from './until.ts';

const LOOPBACK = '127.0.0.1';

/** One mailbox each, so that a message is found by what it is. */
const SHAPES: Record<string, Record<string, unknown>> = {
  plain: { text: 'Hello there\n' },
  alternative: { text: 'Grüße\n', html: '<p>Grüße, 世界</p>', subject: 'Grüße, 世界 '.repeat(12) },
  trailing: { text: 'spaces  \t \nat the ends \n.\n..dots\n\n\n\n' },
  folded: {
    from: '"Läden & Söhne, GmbH" <news@shop.example>',
    replyTo: Array.from({ length: 20 }, (_, index) => `Antwort №${index} <answer-${index}@shop.example>`),
    text: 'x\n',
  },
  longlines: { text: `${'0123456789'.repeat(300)}\n`, html: `<p>${'é'.repeat(2_000)}</p>` },
  large: { html: `<p>${'<b>Grüße</b> '.repeat(60_000)}</p>` },
};

let opendkim: Opendkim;
let postfix: Postfix;
let sender: Sender;
let submissionPort = 0;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  opendkim = await startOpendkim({ dnsServer: dns.address, hostname: `mx.${RECEIVER_DOMAIN}` });
  closers.unshift(() => opendkim.stop());
  postfix = await startPostfix({
    domain: RECEIVER_DOMAIN,
    mailboxes: [...Object.keys(SHAPES), 'tampered', 'authenticated', 'person'],
    milterPort: opendkim.port,
  });
  closers.unshift(() => postfix.stop());
  submissionPort = await freePort();
  sender = await startSender({ dns, receiver: postfix, env: submissionEnvironment(submissionPort) });
  closers.unshift(() => sender.daemon.stop());
});

after(async () => {
  for (const close of closers) await close();
});

for (const [shape, fields] of Object.entries(SHAPES)) {
  test(`OpenDKIM passes our signature: ${shape}`, async () => {
    const message = await sendAndRead(shape, fields);
    assert.match(verdict(message), /\bdkim=pass \(\d+-bit key[^)]*\) header\.d=shop\.example /);
  });
}

test('OpenDKIM fails the same message with one letter changed', async () => {
  const message = await sendAndRead('plain', SHAPES['plain'] ?? {});
  const signed = message.slice(message.indexOf('DKIM-Signature:'));
  assert.ok(signed.includes('Hello there'));
  await inject('tampered', signed.replace('Hello there', 'Hallo there'));
  assert.match(verdict(await newest('tampered', 1)), /\bdkim=fail /);
});

test('mailauth passes DKIM, SPF and DMARC of a delivered message, and fails it from elsewhere or altered', async () => {
  const message = toWire(await sendAndRead('authenticated', { html: '<p>Hello there</p>' }));
  const mailFrom = /^Return-Path: <([^>]+)>/m.exec(message)?.[1];
  assert.ok(mailFrom, message);
  const passing = [`dkim ${SENDER_DOMAIN} pass`, `spf bounce.${SENDER_HOSTNAME} pass`, 'dmarc pass'];
  assert.deepEqual(await verdicts(message, { mailFrom, ip: LOOPBACK }), passing);

  // DKIM alone aligns with the domain of From, whatever SPF says of the relay that sent it on.
  assert.deepEqual(await verdicts(message, { mailFrom, ip: '192.0.2.99' }), [
    `dkim ${SENDER_DOMAIN} pass`,
    `spf bounce.${SENDER_HOSTNAME} fail`,
    'dmarc pass',
  ]);

  const altered = message.replace('<p>Hello there', '<p>Hallo there');
  assert.notEqual(altered, message);
  assert.deepEqual(await verdicts(altered, { mailFrom, ip: LOOPBACK }), [
    `dkim ${SENDER_DOMAIN} neutral`,
    `spf bounce.${SENDER_HOSTNAME} pass`,
    'dmarc fail',
  ]);
});

test('the mail of a person passes SPF for its own address, and OpenDKIM passes its signature', async () => {
  const address = `ann@${SENDER_DOMAIN}`;
  const [domain] = expectStatus<{ data: { id: string }[] }>(await sender.get('/v1/domains'), 200).data;
  const changed = await sender.daemon.request('PATCH', `/v1/domains/${domain?.id}`, sender.key, {
    productType: 'both',
  });
  assert.equal(changed.status, 200);
  const password = 'correct horse battery';
  expectStatus(await sender.post('/v1/mailboxes', { address, password }), 201);
  const transport = createTransport({
    ...{ host: LOOPBACK, port: submissionPort, secure: true, tls: { rejectUnauthorized: false } },
    auth: { user: address, pass: password },
  });
  await transport.sendMail({
    from: `Änn <${address}>`,
    to: `person@${RECEIVER_DOMAIN}`,
    subject: 'Grüße',
    text: 'Grüße\n',
  });
  transport.close();
  const message = await newest('person', 1);
  assert.match(verdict(message), /\bdkim=pass \(\d+-bit key[^)]*\) header\.d=shop\.example /);
  assert.match(message, new RegExp(`^Return-Path: <${address}>`, 'm'));
  const signed = toWire(message.slice(message.indexOf('DKIM-Signature:')));
  assert.deepEqual(await verdicts(signed, { mailFrom: address, ip: LOOPBACK }), [
    `dkim ${SENDER_DOMAIN} pass`,
    `spf ${SENDER_DOMAIN} pass`,
    'dmarc pass',
  ]);
});

function submissionEnvironment(port: number): Record<string, string> {
  return {
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_ADDRESS: LOOPBACK,
    POSTRIDER_SUBMISSION_TLS_PORT: String(port),
    POSTRIDER_SUBMISSION_PORT: '0',
  };
}

async function verdicts(message: string, peer: { mailFrom: string; ip: string }): Promise<string[]> {
  const { dkim, spf, dmarc } = await authenticate(Buffer.from(message, 'latin1'), {
    ip: peer.ip,
    helo: SENDER_HOSTNAME,
    sender: peer.mailFrom,
    mta: `mx.${RECEIVER_DOMAIN}`,
    resolver: nodeResolver(zoneDns(sender.zone)),
  });
  return [
    ...dkim.results.map((result) => `dkim ${result.signingDomain} ${result.status.result}`),
    spf ? `spf ${spf.domain} ${spf.status.result}` : 'spf skipped',
    dmarc ? `dmarc ${dmarc.status.result}` : 'dmarc skipped',
  ];
}

async function sendAndRead(mailbox: string, fields: Record<string, unknown>): Promise<string> {
  const count = (await postfix.messages(mailbox)).length;
  const id = await sender.send(`${mailbox}@${RECEIVER_DOMAIN}`, fields);
  await sender.emailWithStatus(id, 'delivered');
  return newest(mailbox, count + 1);
}

function newest(mailbox: string, count: number): Promise<string> {
  return until(`message ${count} for ${mailbox}`, async () => (await postfix.messages(mailbox))[count - 1]);
}

/** The unfolded Authentication-Results of the receiver: the first one, above everything the sender wrote. */
function verdict(message: string): string {
  const unfolded = message.replace(/\r?\n[ \t]+/g, ' ');
  const line = /^Authentication-Results: mx\.receiver\.example;(.*)$/m.exec(unfolded)?.[1];
  assert.ok(line, message);
  return line;
}

async function inject(mailbox: string, message: string): Promise<void> {
  const transport = createTransport({
    host: LOOPBACK,
    port: postfix.port,
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    envelope: { from: `forger@${SENDER_DOMAIN}`, to: [`${mailbox}@${RECEIVER_DOMAIN}`] },
    raw: Buffer.from(toWire(message), 'latin1'),
  });
  transport.close();
}

/** Mailboxes keep lines as the machine ends them; on the wire they end with CRLF. */
function toWire(message: string): string {
  return message.replace(/\r?\n/g, '\r\n');
}
