/** Mail for mailboxes that swaks and a Postfix on the same machine hand over by LMTP. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { type Postfix, startPostfix } from './postfix.ts';
import { until } from './until.ts';

const DOMAIN = 'sandbox.localhost';
const SENDER = 'ann@author.example';

const run = promisify(execFile);

let daemon: DaemonProcess;
let postfix: Postfix;
let lmtpPort: number;
let exports = 0;

before(async () => {
  lmtpPort = await freePort();
  const env = { POSTRIDER_LMTP_ADDRESS: '127.0.0.1', POSTRIDER_LMTP_PORT: String(lmtpPort) };
  daemon = await startDaemonProcess({ env });
  for (const name of ['one', 'two', 'full', 'away'])
    await daemon.cli(['mailbox', 'create', `${name}@${DOMAIN}`]);
  await daemon.cli(['mailbox', 'set', `full@${DOMAIN}`, '--quota', '1']);
  await daemon.cli(['mailbox', 'set', `away@${DOMAIN}`, '--status', 'suspended']);
  postfix = await startPostfix({
    domain: DOMAIN,
    mailboxes: ['one', 'two', 'full', 'away', 'gone'],
    lmtpPort,
  });
});

after(async () => {
  await postfix?.stop();
  await daemon?.stop();
});

test('swaks delivers to each recipient by LMTP', async () => {
  const lmtp = ['--protocol', 'LMTP', '--port', String(lmtpPort)];
  const to = [`one@${DOMAIN}`, `two+lists@${DOMAIN}`];
  const delivered = await swaks(lmtp, { to, subject: 'By swaks' });
  assert.match(delivered, /LHLO /);
  assert.equal(delivered.match(/250 2\.0\.0 Ok: queued as in_/g)?.length, 2);
  const refused = await swaks(lmtp, { to: [`nobody@${DOMAIN}`], subject: 'By swaks' });
  assert.match(refused, /550 5\.1\.1 /);
  for (const name of ['one', 'two']) {
    const [message = ''] = await messagesOf(name, 'By swaks');
    assert.match(message, /^Return-Path: <ann@author\.example>\r?\nDelivered-To: /);
    assert.match(message, /with LMTP\r?\n/);
  }
});

test('Postfix delivers to mailboxes by LMTP, and tells senders what became of the rest', async () => {
  const to = ['one', 'two', 'away', 'gone'].map((name) => `${name}@${DOMAIN}`);
  await swaks(['--port', String(postfix.port)], { to, subject: 'By Postfix' });
  for (const name of ['one', 'two']) {
    const [message = ''] = await messagesOf(name, 'By Postfix');
    assert.match(message, /Received: from .*\(Postfix\)/s);
  }
  await assertLogged(
    /to=<one@sandbox\.localhost>, relay=127\.0\.0\.1.*dsn=2\.0\.0, status=sent \(250 2\.0\.0 Ok: queued/,
  );
  await assertLogged(/to=<gone@sandbox\.localhost>.*dsn=5\.1\.1, status=bounced/);
  await assertLogged(/to=<away@sandbox\.localhost>.*dsn=4\.2\.1, status=deferred/);
});

test('Postfix keeps mail for a mailbox that is full', async () => {
  const letter = join(temporaryDirectory('lmtp'), 'letter');
  await writeFile(letter, 'A line of a long letter.\n'.repeat(60_000));
  await swaks(['--port', String(postfix.port), '--body', letter], {
    to: [`full@${DOMAIN}`],
    subject: 'Large',
  });
  await assertLogged(/to=<full@sandbox\.localhost>.*dsn=4\.2\.2, status=deferred/);
});

/** Sends a message, and returns the session. A session in which a recipient is refused counts as a failure of the program. */
async function swaks(
  options: readonly string[],
  { to, subject }: { to: readonly string[]; subject: string },
): Promise<string> {
  const envelope = ['--suppress-data', '--from', SENDER, '--to', to.join(), '--h-Subject', subject];
  const session = await run('swaks', ['--server', '127.0.0.1', ...options, ...envelope]).catch(
    (error: { stdout: string }) => error,
  );
  return session.stdout;
}

/** Returns the messages of a mailbox with this subject, once there are some. */
async function messagesOf(name: string, subject: string): Promise<string[]> {
  return await until(`${name} has the message "${subject}"`, async () => {
    const folder = join(temporaryDirectory('lmtp'), `export-${++exports}`);
    await daemon.cli(['mailbox', 'export', `${name}@${DOMAIN}`, folder]);
    const files = await Promise.all(
      ['cur', 'new'].map(async (part) =>
        (await readdir(join(folder, part)).catch(() => [])).map((file) => join(folder, part, file)),
      ),
    );
    const messages = await Promise.all(files.flat().map((file) => readFile(file, 'latin1')));
    const found = messages.filter((message) => message.includes(`Subject: ${subject}`));
    return found.length > 0 && found;
  });
}

/** Waits for a line in the log of Postfix. */
async function assertLogged(line: RegExp): Promise<void> {
  const log = await until(`a line like ${line}`, async () => {
    const text = await postfix.log();
    return line.test(text) && text;
  }).catch(() => postfix.log());
  assert.match(log, line);
}
