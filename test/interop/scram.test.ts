/** Logins by SCRAM of programs that others have written: mbsync and Python with Cyrus SASL, and msmtp and Python with GNU SASL. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { HOST, type MailboxServer, startMailboxServer } from './mailbox-server.ts';
import { until } from './until.ts';

const TIMEOUT_MS = 60_000;
const run = promisify(execFile);

let server: MailboxServer;
let appPassword: string;
before(async () => {
  server = await startMailboxServer();
  const made = await server.daemon.cli(['mailbox', 'app-password', 'create', server.address, '--name', 'a']);
  appPassword = (made as { password: string }).password;
});
after(() => server.stop());

/** Runs mbsync with this password, and returns what it lists, or what it says of a refusal. */
async function mbsync(password: string): Promise<string> {
  const { home, imapPort, address, certificate } = server;
  const settings = [
    ...['IMAPAccount a', `Host ${HOST}`, `Port ${imapPort}`, `User ${address}`, `Pass ${password}`],
    ...['AuthMechs SCRAM-SHA-256', 'SSLType IMAPS', 'SystemCertificates no'],
    ...[`CertificateFile ${certificate}`, '', 'IMAPStore far', 'Account a', ''],
    ...['MaildirStore near', `Path ${home}/mail/`, `Inbox ${home}/mail/INBOX`, ''],
    ...['Channel c', 'Far :far:', 'Near :near:', 'Patterns INBOX', ''],
  ];
  const file = join(home, 'mbsyncrc');
  await mkdir(join(home, 'mail'), { recursive: true });
  await writeFile(file, settings.join('\n'));
  const { stdout } = await run('mbsync', ['-c', file, '-l', 'c'], { timeout: TIMEOUT_MS }).catch(
    ({ stderr }: { stderr: string }) => ({ stdout: stderr }),
  );
  return stdout;
}

test('mbsync logs in with an app password and with one that the server has made, and with no other', async () => {
  assert.equal(await mbsync(appPassword), 'INBOX\n');
  assert.equal(await mbsync(appPassword.replaceAll('-', '')), 'INBOX\n');
  assert.equal(await mbsync(server.password), 'INBOX\n');
  assert.match(await mbsync('correct-horse'), /NO \[AUTHENTICATIONFAILED\]/);
});

test('msmtp sends a message after a login by SCRAM', async () => {
  const { home, address, submission } = server;
  const settings = [
    ...['account default', `host ${HOST}`, `port ${submission.tlsPort}`, 'tls on', 'tls_starttls off'],
    // GnuTLS does not trust a self-signed certificate that is no authority.
    ...['tls_certcheck off', 'auth scram-sha-256', `user ${address}`, `password ${appPassword}`],
    `from ${address}`,
  ];
  const file = join(home, 'msmtprc');
  await writeFile(file, `${settings.join('\n')}\n`, { mode: 0o600 });
  const sending = run('msmtp', ['-C', file, address], { timeout: TIMEOUT_MS });
  sending.child.stdin?.end(`From: ${address}\nTo: ${address}\nSubject: By SCRAM\n\nHello\n`);
  await sending;
  const arrived = async () => 'By SCRAM' in (await server.flagsIn('INBOX'));
  assert.ok(await until('the message arrives', arrived));
});

type BoundLogin = { script: string; port: number; password?: string; boundTo?: 'own' | 'another' };

/** Logs in with a program in Python, bound to its connection or to another one, and returns the last reply. */
async function logInBound({ script, port, password = appPassword, boundTo = 'own' }: BoundLogin) {
  const path = join(import.meta.dirname, script);
  const given = [path, String(port), server.address, password, boundTo];
  const { stdout } = await run('/usr/bin/python3', given, { timeout: TIMEOUT_MS });
  return stdout;
}

test('GNU SASL binds a login by SCRAM-SHA-256-PLUS to its connection, and to no other', async () => {
  const program = { script: 'scram-plus.py', port: server.submission.tlsPort };
  assert.match(await logInBound(program), /^235 2\.7\.0 /);
  const bound = await logInBound({ ...program, boundTo: 'another' });
  assert.match(bound, /^535 5\.7\.8 The login is bound to another connection/);
  assert.match(await logInBound({ ...program, password: 'correct-horse' }), /^535 5\.7\.8 /);
});

test('Cyrus SASL binds a login by SCRAM-SHA-256-PLUS to the certificate of its server, and to no other', async () => {
  const program = { script: 'scram-end-point.py', port: server.imapPort };
  assert.match(await logInBound(program), /^OK/);
  const bound = await logInBound({ ...program, boundTo: 'another' });
  assert.match(bound, /bound to another connection/);
  assert.match(await logInBound({ ...program, password: 'correct-horse' }), /AUTHENTICATIONFAILED/);
});
