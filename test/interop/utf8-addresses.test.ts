/**
 * Addresses with UTF-8 before the `@` (RFC 6531), with Postfix as the other mail server, Python's smtplib and poplib, and imapflow: mail
 * goes out by HTTP and by SMTP, comes in, and is read.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ImapFlow } from 'imapflow';
import { startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { expectStatus, RECEIVER_DOMAIN, SENDER_DOMAIN, type Sender, startSender } from './sender.ts';
import { until } from './until.ts';

const JÜRGEN = `jürgen@${SENDER_DOMAIN}`;
const USER = `用户@${RECEIVER_DOMAIN}`;
const PASSWORD = 'correct horse';

let postfix: Postfix;
let sender: Sender;
const ports = { smtp: 0, submission: 0, imap: 0, pop3: 0 };
const closers: (() => Promise<void>)[] = [];

before(async () => {
  const dns = await startDnsServer();
  closers.unshift(() => dns.close());
  for (const name of ['smtp', 'submission', 'imap', 'pop3'] as const) ports[name] = await freePort();
  postfix = await startPostfix({ domain: RECEIVER_DOMAIN, mailboxes: ['用户'], relayPort: ports.smtp });
  closers.unshift(() => postfix.stop());
  const env = {
    POSTRIDER_SMTP_PORT: String(ports.smtp),
    POSTRIDER_SUBMISSION_ENABLED: 'true',
    POSTRIDER_SUBMISSION_PORT: String(ports.submission),
    POSTRIDER_SUBMISSION_TLS_PORT: String(await freePort()),
    POSTRIDER_IMAP_PORT: String(ports.imap),
    POSTRIDER_POP3_PORT: String(ports.pop3),
    POSTRIDER_MANAGESIEVE_PORT: '0',
  };
  const otherZone = `${RECEIVER_DOMAIN} TXT "v=spf1 ip4:127.0.0.1 -all"`;
  sender = await startSender({ dns, receiver: postfix, env, otherZone });
  closers.unshift(() => sender.daemon.stop());
  const { data } = expectStatus<{ data: { id: string }[] }>(await sender.get('/v1/domains'), 200);
  const path = `/v1/domains/${data[0]?.id}`;
  await sender.daemon.request('PATCH', path, sender.key, { productType: 'both' });
  const mailbox = { address: `JU\u0308RGEN@${SENDER_DOMAIN}`, password: PASSWORD };
  const created = expectStatus<{ address: string }>(await sender.post('/v1/mailboxes', mailbox), 201);
  assert.equal(created.address, JÜRGEN);
});

after(async () => {
  for (const close of closers) await close();
});

const SEND = `
import base64, smtplib, ssl, sys
from email.message import EmailMessage
from email.policy import SMTPUTF8
port, user, password, sender, to, subject = sys.argv[1:]
client = smtplib.SMTP('127.0.0.1', int(port))
client.starttls(context=ssl._create_unverified_context())
client.ehlo()
if user:
    # login() of smtplib takes names in ASCII alone.
    code, text = client.docmd('AUTH', 'PLAIN ' + base64.b64encode(('\\0%s\\0%s' % (user, password)).encode()).decode())
    assert code == 235, text
message = EmailMessage(policy=SMTPUTF8)
message['From'], message['To'], message['Subject'] = sender, to, subject
message.set_content('Grüße')
client.send_message(message, sender, [to])
client.quit()
`;

const POP = `
import poplib, ssl, sys
port, user, password = sys.argv[1:]
client = poplib.POP3_SSL('127.0.0.1', int(port), context=ssl._create_unverified_context())
client.utf8()
client.user(user)
client.pass_(password)
sys.stdout.buffer.write(b'\\n'.join(client.retr(1)[1]))
client.quit()
`;

async function python(program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, PYTHONUTF8: '1' };
  const { stdout } = await promisify(execFile)('python3', ['-c', program, ...args], { env, timeout: 60_000 });
  return stdout;
}

function arrivedAtPostfix(subject: string): Promise<string> {
  return until(`${subject} is in the mailbox of Postfix`, async () =>
    (await postfix.messages('用户'))
      .map((message) => Buffer.from(message, 'latin1').toString())
      .find((message) => message.includes(`\nSubject: ${subject}\n`)),
  );
}

/** Logs in by IMAP with the address in another case, and returns the authors in the INBOX by subject. */
async function authors(): Promise<Record<string, string>> {
  const client = new ImapFlow({
    ...{ host: '127.0.0.1', port: ports.imap, secure: true, logger: false, disableAutoIdle: true },
    ...{ auth: { user: JÜRGEN.toUpperCase(), pass: PASSWORD }, tls: { rejectUnauthorized: false } },
  });
  await client.connect();
  await client.mailboxOpen('INBOX', { readOnly: true });
  const found: Record<string, string> = {};
  for (const { envelope } of await client.fetchAll('1:*', { envelope: true }))
    found[envelope?.subject ?? ''] = envelope?.from?.[0]?.address ?? '';
  await client.logout();
  return found;
}

test('an email of the API goes from and to addresses in UTF-8', async () => {
  const id = await sender.send(USER, { from: `Zoë <zoë@${SENDER_DOMAIN}>`, subject: 'By HTTP' });
  await sender.emailWithStatus(id, 'delivered');
  const message = await arrivedAtPostfix('By HTTP');
  assert.match(message, /\(Postfix\) with UTF8SMTPS id /);
  assert.ok(message.includes(`<zoë@${SENDER_DOMAIN}>`) && message.includes(`\nTo: ${USER}\n`), message);
});

test('the owner of a mailbox in UTF-8 sends, and is told what cannot be delivered', async () => {
  const send = (to: string, subject: string) =>
    python(SEND, [String(ports.submission), JÜRGEN, PASSWORD, JÜRGEN, to, subject]);
  await send(USER, 'Written');
  const message = await arrivedAtPostfix('Written');
  assert.ok(
    message.startsWith(`Return-Path: <${JÜRGEN}>\n`) && message.includes(`\nFrom: ${JÜRGEN}\n`),
    message,
  );
  await send(`niemand-ü@${RECEIVER_DOMAIN}`, 'To nobody');
  const subject = 'Your message could not be delivered';
  await until('the report has arrived', async () => subject in (await authors()));
});

test('mail that Postfix relays arrives in the mailbox, and is read by IMAP and POP3', async () => {
  await python(SEND, [String(postfix.port), '', '', USER, JÜRGEN, 'Relayed']);
  const found = await until('the mail has arrived', async () => {
    const list = await authors();
    return 'Relayed' in list && list;
  });
  assert.ok(
    [USER, 'invalid@internationalized-address.invalid'].includes(found['Relayed'] ?? ''),
    found['Relayed'],
  );
  const first = await python(POP, [String(ports.pop3), JÜRGEN, PASSWORD]);
  assert.match(first, new RegExp(`^Return-Path: <.*>\\r?\\nDelivered-To: ${JÜRGEN}`));
});
