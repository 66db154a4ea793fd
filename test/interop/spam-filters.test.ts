/**
 * Checks how SpamAssassin and rspamd judge mail that went from the daemon through Postfix into a mailbox, and whether
 * Python's email package reads it correctly.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { type Rspamd, startRspamd } from './rspamd.ts';
import {
  expectStatus,
  RECEIVER_DOMAIN,
  SENDER_DOMAIN,
  SENDER_HOSTNAME,
  type Sender,
  startSender,
} from './sender.ts';
import { spamassassinRules } from './spamassassin.ts';
import { until } from './until.ts';

type OptionalRecord = { type: string; name: string; value: string; status: string };
type Domain = { id: string; status: string; records: unknown[]; optionalRecords: OptionalRecord[] };

const AUTHOR = `news@${SENDER_DOMAIN}`;
const FILES = {
  'lf.txt': ['text/plain', 'name,plan\nann,pro \nFrom here,"=on"\n'],
  'crlf.txt': ['text/plain', 'a line = a line\r\n\r\nthe last one'],
  'Größe – 名前.txt': [
    'text/plain; charset=utf-8',
    'Viele Grüße, und überhaupt: alles Gute zum neuen Jahr.\n',
  ],
} as const;

let dns: DnsServer;
let postfix: Postfix;
let rspamd: Rspamd;
let sender: Sender;
/** Messages sent before and after the domain had its own return path. */
let plain: string;
let aligned: string;
const closers: (() => Promise<void>)[] = [];

before(async () => {
  dns = await startDnsServer();
  closers.unshift(() => dns.close());
  rspamd = await startRspamd({ dnsServer: dns.address });
  closers.unshift(() => rspamd.stop());
  postfix = await startPostfix({ domain: RECEIVER_DOMAIN, mailboxes: ['plain', 'aligned', 'files'] });
  closers.unshift(() => postfix.stop());
  sender = await startSender({ dns, receiver: postfix });
  closers.unshift(() => sender.daemon.stop());
  plain = await sendAndRead('plain');
  await publishReturnPath();
  aligned = await sendAndRead('aligned');
});

after(async () => {
  for (const close of closers) await close();
});

test('mail leaves with the return path of this installation, and with that of its domain once it is verified', () => {
  assert.match(mailFromOf(plain), new RegExp(`^b\\+[0-9a-z]{54}@bounce\\.${SENDER_HOSTNAME}$`));
  assert.match(mailFromOf(aligned), new RegExp(`^b\\+[0-9a-z]{54}@bounce\\.${SENDER_DOMAIN}$`));
});

test('SpamAssassin finds two different senders without the return path of the domain, and one with it', async () => {
  assert.ok((await spamassassinRules(plain)).has('HEADER_FROM_DIFFERENT_DOMAINS'));
  assert.ok(!(await spamassassinRules(aligned)).has('HEADER_FROM_DIFFERENT_DOMAINS'));
});

test('rspamd passes SPF and DMARC by the return path alone where a relay has broken the signature', async () => {
  for (const [message, dmarc] of [
    [plain, false],
    [aligned, true],
  ] as const) {
    const whole = await symbolsOf(message);
    assert.ok(
      whole.has('R_DKIM_ALLOW') && whole.has('R_SPF_ALLOW') && whole.has('DMARC_POLICY_ALLOW'),
      [...whole].join(),
    );
    const broken = await symbolsOf(message.replace('Hello there', 'Hallo there'));
    assert.ok(broken.has('R_DKIM_REJECT') && broken.has('R_SPF_ALLOW'), [...broken].join());
    assert.equal(broken.has('DMARC_POLICY_ALLOW'), dmarc, [...broken].join());
  }
});

// FORGED_SENDER compares addresses, not domains, so every return path that receives bounces has it. It adds 0.3 to the
// score; rspamd rejects at 15.
test('rspamd reports FORGED_SENDER for every return path except the address of the author', async () => {
  for (const mailFrom of [mailFromOf(plain), mailFromOf(aligned), `bounces@${SENDER_DOMAIN}`]) {
    assert.ok((await symbolsOf(aligned, mailFrom)).has('FORGED_SENDER'), mailFrom);
  }
  assert.ok(!(await symbolsOf(aligned, AUTHOR)).has('FORGED_SENDER'));
});

test('rspamd finds no text disguised in base64, and reports it where it is sent', async () => {
  const message = await filesMessage();
  assert.ok(!(await symbolsOf(message)).has('MIME_BASE64_TEXT_BOGUS'));
  const [lines] = /^name,plan=0A=.*?(?=\r\n--=_)/ms.exec(message) ?? [];
  assert.ok(lines, message);
  const disguised = message
    .replace(lines, Buffer.from(FILES['lf.txt'][1]).toString('base64'))
    .replace(/(name="lf\.txt".*?Content-Transfer-Encoding: )quoted-printable/s, '$1base64');
  assert.ok((await symbolsOf(disguised)).has('MIME_BASE64_TEXT_BOGUS'));
});

test('Python reads the names and the exact bytes of text attachments, with its old parser and its new one', async () => {
  const program = `
import email, email.policy, json, sys
data = sys.stdin.buffer.read()
print(json.dumps([[[part.get_filename(), part['Content-Transfer-Encoding'], part.get_payload(decode=True).hex()]
  for part in email.message_from_bytes(data, policy=policy).walk() if part.get_filename()]
  for policy in (email.policy.compat32, email.policy.default)]))`;
  const output = execFileSync('/usr/bin/python3', ['-c', program], {
    input: Buffer.from(await filesMessage(), 'latin1'),
    encoding: 'utf8',
  });
  const hex = (name: keyof typeof FILES) => Buffer.from(FILES[name][1]).toString('hex');
  const expected = [
    ['lf.txt', 'quoted-printable', hex('lf.txt')],
    ['crlf.txt', '7bit', hex('crlf.txt')],
    ['Größe – 名前.txt', 'quoted-printable', hex('Größe – 名前.txt')],
  ];
  assert.deepEqual(JSON.parse(output), [expected, expected]);
});

async function publishReturnPath(): Promise<void> {
  const listed = expectStatus<{ data: Domain[] }>(
    await sender.daemon.request('GET', '/v1/domains', sender.key),
    200,
  );
  const [domain] = listed.data;
  const [record] = domain?.optionalRecords ?? [];
  assert.ok(domain && record);
  dns.setZone(`${sender.zone}\n${record.name} ${record.type} ${record.value}`);
  const verified = expectStatus<Domain>(await sender.post(`/v1/domains/${domain.id}/verify`, undefined), 200);
  assert.deepEqual([verified.status, verified.optionalRecords[0]?.status], ['verified', 'verified']);
}

let files: Promise<string> | undefined;

function filesMessage(): Promise<string> {
  const attachments = Object.entries(FILES).map(([filename, [contentType, content]]) => ({
    ...{ filename, contentType, content: Buffer.from(content).toString('base64') },
  }));
  files ??= sendAndRead('files', { attachments });
  return files;
}

/** Returns the message in the mailbox, with the line ends it had on the wire. */
async function sendAndRead(mailbox: string, fields: Record<string, unknown> = {}): Promise<string> {
  const id = await sender.send(`${mailbox}@${RECEIVER_DOMAIN}`, fields);
  await sender.emailWithStatus(id, 'delivered');
  const message = await until(`mail for ${mailbox}`, async () => (await postfix.messages(mailbox))[0]);
  return message.replace(/\r?\n/g, '\r\n');
}

function symbolsOf(message: string, mailFrom = mailFromOf(message)): Promise<Set<string>> {
  const recipient = /^To: (\S+)\r$/m.exec(message)?.[1] ?? '';
  return rspamd.symbols(message, { ip: '127.0.0.1', helo: SENDER_HOSTNAME, mailFrom, recipient });
}

function mailFromOf(message: string): string {
  return /^Return-Path: <([^>]+)>/m.exec(message)?.[1] ?? '';
}
