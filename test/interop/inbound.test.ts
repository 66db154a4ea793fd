/**
 * Mail that real servers and clients bring: a Postfix that relays mail signed by OpenDKIM, the same Postfix that returns
 * mail which it had accepted, swaks, which can send commands in groups, and Exim, which sends messages in chunks.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHmac, generateKeyPairSync, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { createClient } from '../mail/smtp/server/fixture.ts';
import { temporaryDirectory } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';
import { unpackExim } from './exim.ts';
import { startOpendkim } from './opendkim.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { type RoutePost, type RouteReceiver, startRouteReceiver } from './route-receiver.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { until } from './until.ts';
import { eventOf, waitForEvent } from './webhook-event.ts';

const HOOKS = `hooks.${RECEIVER_DOMAIN}`;
const AUTHOR = `ann@${RECEIVER_DOMAIN}`;
const SUPPORT = `support@${SENDER_DOMAIN}`;
/** Maximum difference of a signature's time (specification 6 step 2). */
const SKEW_SECONDS = 300;
/** More recipients than one transaction has here (RFC 5321 section 4.5.3.1.8), and fewer than two have. */
const MANY_RECIPIENTS = 120;

let postfix: Postfix;
let smtpPort: number;
let sender: Sender;
let routes: RouteReceiver;
let webhooks: WebhookReceiver;
let secret: string;
let files: string[];
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  smtpPort = await freePort();
  const signing = { domain: RECEIVER_DOMAIN, selector: 's1', ...newKey() };
  const opendkim = await startOpendkim({
    dnsServer: dns.address,
    hostname: `mx.${RECEIVER_DOMAIN}`,
    signing,
  });
  closers.unshift(() => opendkim.stop());
  postfix = await startPostfix({
    domain: RECEIVER_DOMAIN,
    mailboxes: ['ghost', 'ann'],
    returns: ['ghost'],
    milterPort: opendkim.port,
    relayPort: smtpPort,
  });
  closers.unshift(() => postfix.stop());
  routes = await startRouteReceiver(HOOKS);
  closers.unshift(() => routes.close());
  webhooks = await startWebhookReceiver();
  closers.unshift(() => webhooks.close());
  sender = await startSender({
    dns,
    receiver: postfix,
    env: {
      POSTRIDER_SMTP_PORT: String(smtpPort),
      POSTRIDER_SUBMISSION_ENABLED: 'false',
      NODE_EXTRA_CA_CERTS: routes.certificate,
    },
    otherZone: authorZone(signing.publicKey),
  });
  closers.unshift(() => sender.daemon.stop());
  const events = ['email.delivered', 'email.bounced'];
  expectStatus(await sender.post('/v1/webhooks', { url: webhooks.url, events }), 201);
  const destination = `https://${HOOKS}:${routes.port}/inbound`;
  const route = await sender.post('/v1/inbound/routes', { address: SUPPORT, destination });
  secret = expectStatus<{ secret: string }>(route, 201).secret;
  const all = { address: `*@${SENDER_DOMAIN}`, destination };
  expectStatus(await sender.post('/v1/inbound/routes', all), 201);
  files = await writeFiles();
});

after(async () => {
  for (const close of closers) await close();
});

test('mail that OpenDKIM signs and Postfix relays arrives over TLS, is authenticated, and is posted with three files', async () => {
  await swaks(postfix.port, ['--to', SUPPORT, '--header', 'Subject: Relayed', ...attached()]);
  const { webhook, post } = await routes.waitFor('Relayed');
  assert.deepEqual(post.envelope.to, [SUPPORT]);
  assert.deepEqual(post.envelope.helo, postfix.hostname);
  assert.deepEqual(post.auth, { spf: 'pass', dkim: 'pass', dmarc: 'pass', dkimDomains: [RECEIVER_DOMAIN] });
  await checkFiles(post.attachments);
  const received = post.rawHeaders.find(({ name }) => name === 'Received')?.value ?? '';
  assert.match(received, /with ESMTPS/);
  assert.match(
    await postfix.log(),
    /Untrusted TLS connection established to 127\.0\.0\.1\[127\.0\.0\.1\]:\d+: TLSv1\.3/,
  );
  checkSignature(webhook);
});

test('mail that swaks sends with commands in groups over TLS arrives; SPF alone makes DMARC pass', async () => {
  const options = ['--tls', '--pipeline', '--to', SUPPORT, '--header', 'Subject: Pipelined', ...attached()];
  const transcript = await swaks(smtpPort, options);
  for (const offer of [
    /250.PIPELINING/,
    /250.CHUNKING/,
    /250.LIMITS RCPTMAX=100/,
    /TLS started with cipher TLSv1\.3/,
  ])
    assert.match(transcript, offer);
  // Three commands leave before the first of their replies comes.
  assert.match(transcript, /~> MAIL FROM.*\n.*~> RCPT TO.*\n.*~> DATA\n<~/);
  const { webhook, post } = await routes.waitFor('Pipelined');
  assert.deepEqual(post.auth, { spf: 'pass', dkim: 'none', dmarc: 'pass', dkimDomains: [] });
  await checkFiles(post.attachments);
  checkSignature(webhook);
});

test('mail that Exim sends in chunks arrives as it was, also one that has more than one chunk', async () => {
  const exim = await unpackExim(`mx.${RECEIVER_DOMAIN}`);
  for (const lines of [10, 20_000]) {
    const subject = `Chunks of ${lines} lines`;
    const text = `${'.a line that begins with a dot\n'.repeat(lines)}.\n`;
    const message = `From: ${AUTHOR}\nTo: ${SUPPORT}\nSubject: ${subject}\n\n${text}`;
    const log = await exim.send({ port: smtpPort, from: AUTHOR, to: SUPPORT, message });
    // "K" says that the message was sent by BDAT (the Exim specification, chapter 53).
    assert.match(
      log,
      new RegExp(`=> ${SUPPORT} .* X=TLS1\\.3:\\S+ .*\\bK C="250-? ?2\\.0\\.0 .*queued as in_`),
    );
    assert.equal((await routes.waitFor(subject)).post.text.trimEnd(), text.trimEnd());
  }
});

test('Postfix hands over what its sender wants to be told, and brings the report of the delivery back to it', async () => {
  const client = createClient(connect({ host: '127.0.0.1', port: postfix.port, noDelay: true }));
  await client.reply();
  for (const line of [
    `EHLO mx.${RECEIVER_DOMAIN}`,
    `MAIL FROM:<${AUTHOR}> RET=HDRS ENVID=QQ314159`,
    `RCPT TO:<${SUPPORT}> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Old@${SENDER_DOMAIN}`,
    'DATA',
  ])
    assert.match(await client.ask(`${line}\r\n`), /^[23]/, line);
  assert.match(await client.ask(`From: ${AUTHOR}\r\nSubject: Reported\r\n\r\nHello\r\n.\r\n`), /^250 /);
  client.socket.destroy();
  await until('the sender has the report', async () => (await postfix.messages('ann')).length > 0);
  const [report = '', ...more] = await postfix.messages('ann');
  assert.deepEqual(more, [], 'Postfix leaves the report to us');
  assert.match(report, /^Original-Envelope-Id: QQ314159\r?$/m);
  assert.match(report, new RegExp(`^Original-Recipient: rfc822; ?Old@${SENDER_DOMAIN}\\r?$`, 'm'));
  assert.match(report, new RegExp(`^Final-Recipient: rfc822; ${SUPPORT}\\r?\\nAction: delivered\\r?$`, 'm'));
  assert.match(report, /^Subject: Reported\r?$/m);
});

test('a forged author is refused with a reason, and nothing is relayed', async () => {
  const forged = ['--tls', '--to', SUPPORT, '--from', `ann@elsewhere.example`, '--h-From', `Ann <${AUTHOR}>`];
  await assert.rejects(swaks(smtpPort, forged), /<[~*]\* 550 5\.7\.1 /);
  await assert.rejects(swaks(smtpPort, ['--to', 'someone@elsewhere.example']), /<\*\* 550 5\.1\.1 /);
});

test('Postfix divides a message for more recipients than one transaction has, and all of them get it', async () => {
  const to = Array.from({ length: MANY_RECIPIENTS }, (_, index) => `reader${index}@${SENDER_DOMAIN}`);
  await swaks(postfix.port, ['--to', to.join(','), '--header', 'Subject: Many']);
  const posts = () => {
    const all = routes.received.map(({ body }) => JSON.parse(body) as RoutePost);
    return all.filter(({ subject }) => subject === 'Many');
  };
  const reached = () => new Set(posts().flatMap(({ envelope }) => envelope.to));
  await until('all recipients got the message', async () => reached().size === to.length);
  assert.equal(posts().length, 2);
});

test('an email that Postfix accepts and returns later becomes bounced, and its address is suppressed', async () => {
  const to = `ghost@${RECEIVER_DOMAIN}`;
  const id = await sender.send(to);
  await waitForEvent(webhooks, id, 'email.delivered');
  const bounced = eventOf(await waitForEvent(webhooks, id, 'email.bounced'));
  const bounce = bounced.data['bounce'] as Record<string, unknown>;
  assert.deepEqual([bounce['source'], bounce['type'], bounce['enhancedCode']], ['dsn', 'permanent', '5.1.1']);
  const email = await sender.emailWithStatus(id, 'bounced');
  assert.equal(email.recipients[0]?.status, 'bounced');
  assert.match(email.recipients[0].diagnostic ?? '', /the mailbox has been removed/);
  const again = { from: `news@${SENDER_DOMAIN}`, to, subject: 'Again', text: 'Hello', type: 'transactional' };
  const refused = expectStatus<{ error: { type: string } }>(await sender.post('/v1/emails', again), 422);
  assert.equal(refused.error.type, 'suppressed_recipient');
  const listed = await sender.daemon.cli(['inbound', 'list', '--kind', 'bounce', '--state', 'done']);
  const { messages } = listed as { messages: { to: string[]; tenantId: string | null }[] };
  assert.equal(messages.length, 1);
  assert.match(messages[0]?.to[0] ?? '', new RegExp(`^b\\+[^@]+@bounce\\.${SENDER_HOSTNAME}$`));
});

/** A key for OpenDKIM; `publicKey` is the `p=` of its record. */
function newKey(): { key: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    key: String(privateKey.export({ type: 'pkcs1', format: 'pem' })),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

/** The DNS records that the author's side publishes. The name of the address leads back to it, as it does for servers of good standing. */
function authorZone(publicKey: string): string {
  return `
${RECEIVER_DOMAIN} TXT "v=spf1 ip4:127.0.0.1 -all"
s1._domainkey.${RECEIVER_DOMAIN} TXT "v=DKIM1; k=rsa; p=${publicKey}"
_dmarc.${RECEIVER_DOMAIN} TXT "v=DMARC1; p=reject"
1.0.0.127.in-addr.arpa PTR mx.${RECEIVER_DOMAIN}
${HOOKS} A 127.0.0.1
elsewhere.example TXT "v=spf1 ip4:127.0.0.1 -all"
`;
}

/** Writes three files of different kinds, one of them with every byte. */
async function writeFiles(): Promise<string[]> {
  const folder = temporaryDirectory('attachments');
  const contents = {
    'report.pdf': Buffer.from('%PDF-1.7\n'.repeat(500)),
    'list.csv': Buffer.from('name,city\r\nAnn,Zürich\r\n'),
    'every.bin': Buffer.from(Uint8Array.from({ length: 70_000 }, (_, index) => index % 256)),
  };
  for (const [name, bytes] of Object.entries(contents)) await writeFile(join(folder, name), bytes);
  return Object.keys(contents).map((name) => join(folder, name));
}

function attached(): string[] {
  return ['--body', 'Three files\n', ...files.flatMap((file) => ['--attach', `@${file}`])];
}

async function checkFiles(attachments: readonly { filename: string; content: string }[]): Promise<void> {
  assert.equal(attachments.length, files.length);
  for (const [index, file] of files.entries()) {
    const content = Buffer.from(attachments[index]?.content ?? '', 'base64');
    assert.ok(content.equals(await readFile(file)), `${file} has ${content.length} bytes`);
  }
}

/**
 * Runs swaks and returns its transcript.
 * @throws Error with the transcript, when the server refuses
 */
async function swaks(port: number, options: readonly string[]): Promise<string> {
  const server = ['--server', '127.0.0.1', '--port', String(port), '--helo', `mx.${RECEIVER_DOMAIN}`];
  try {
    return (await promisify(execFile)('swaks', [...server, '--from', AUTHOR, ...options])).stdout;
  } catch (error) {
    throw new Error(String((error as { stdout?: unknown }).stdout), { cause: error });
  }
}

/** Verifies a post by the four steps of the specification (section 6), without any code of ours. */
function checkSignature({ headers, body }: ReceivedWebhook): void {
  const header = String(headers['x-service-signature']);
  const [, t, v1 = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  assert.ok(t, header);
  assert.ok(Math.abs(Date.now() / 1_000 - Number(t)) <= SKEW_SECONDS);
  const expected = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  assert.ok(timingSafeEqual(Buffer.from(v1), Buffer.from(expected)));
}
