/**
 * Programs that fetch mail by POP3: curl, fetchmail, getmail and mpop fetch what has arrived by SMTP, fetch nothing twice, and delete
 * on the server what they are told to. What is left there is looked up by IMAP.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { promisify } from 'node:util';
import { HOST, type MailboxServer, startMailboxServer } from './mailbox-server.ts';

const TIMEOUT_MS = 60_000;
/** Lines that a client must read as they were written. */
const LINES = ['.', '..', '.dot', '', 'From here', 'end'];
const SUBJECTS = ['first', 'second', 'third'];

const run = promisify(execFile);

let server: MailboxServer;
let home: string;

before(async () => {
  server = await startMailboxServer();
  home = server.home;
  await run('chmod', ['a+rx', home]);
});

after(() => server?.stop());

beforeEach(async () => {
  await server.client.mailboxOpen('INBOX');
  await server.client.messageDelete('1:*');
  for (const subject of SUBJECTS) await server.deliver(subject, `\n${LINES.join('\n')}`);
});

/** Returns the subjects of the messages on the server. */
async function left(): Promise<string[]> {
  return Object.keys(await server.flagsIn('INBOX')).sort();
}

/** Checks that a program has each message once, with its lines. */
function assertFetched(mail: string): void {
  const text = mail.replaceAll('\r\n', '\n').replaceAll('\n>From', '\nFrom');
  for (const subject of SUBJECTS)
    assert.equal(text.split(`\nSubject: ${subject}\n`).length, 2, `${subject} was fetched once`);
  assert.equal(text.split(`\n\n${LINES.join('\n')}\n`).length, SUBJECTS.length + 1);
}

test('curl lists, reads and deletes', async () => {
  const url = `pop3s://${HOST}:${server.pop3Port}/`;
  const login = [
    '--user',
    `${server.address}:${server.password}`,
    '--cacert',
    server.certificate,
    '--silent',
  ];
  const curl = async (...args: string[]) => (await run('curl', [...login, ...args])).stdout;
  assert.match(await curl(url), /^1 \d+\r\n2 \d+\r\n3 \d+\r\n$/);
  assert.match(await curl(url, '-X', 'UIDL'), /^1 \d+\.\d+\r\n2 \d+\.\d+\r\n3 \d+\.\d+\r\n$/);
  let mail = '\n';
  for (const number of [1, 2, 3]) mail += await curl(`${url}${number}`);
  assertFetched(mail);
  assert.match(await curl(url, '-X', 'TOP 1 0'), /\r\nSubject: first\r\n.*\r\n\r\n$/s);
  await curl(`${url}2`, '-X', 'DELE', '--head');
  assert.deepEqual(await left(), ['first', 'third']);
});

test('fetchmail fetches what is new, and then deletes', async () => {
  const [settings, mail] = [join(home, 'fetchmailrc'), join(home, 'fetched')];
  const login = `user "${server.address}" password "${server.password}"`;
  const tls = `ssl sslcertck sslcertfile ${server.certificate}`;
  const poll = `poll ${HOST} protocol POP3 uidl port ${server.pop3Port} ${login} ${tls}`;
  const fetch = async (options: string, allowed: readonly number[] = [0]): Promise<void> => {
    await writeFile(settings, `${poll} mda "cat >> ${mail}" ${options}\n`, { mode: 0o600 });
    const files = ['--idfile', join(home, 'fetchids'), '--pidfile', join(home, 'fetchmail.pid')];
    const limits = { timeout: TIMEOUT_MS, env: { ...process.env, HOME: home } };
    await run('fetchmail', ['--fetchmailrc', settings, ...files], limits).catch((error) => {
      if (!allowed.includes(error.code)) throw error;
    });
  };
  await fetch('keep');
  // It ends with 1 when there is nothing new.
  await fetch('keep', [1]);
  assertFetched(await readFile(mail, 'utf8'));
  assert.deepEqual(await left(), SUBJECTS.toSorted());
  await writeFile(mail, '');
  await fetch('nokeep fetchall');
  assertFetched(await readFile(mail, 'utf8'));
  assert.deepEqual(await left(), []);
});

test('getmail fetches what is new, and then deletes', async () => {
  const maildir = join(home, 'getmail/');
  for (const part of ['cur', 'new', 'tmp']) await mkdir(join(maildir, part), { recursive: true });
  await run('chown', ['-R', 'nobody', maildir]);
  const retriever = `type = SimplePOP3SSLRetriever\nserver = ${HOST}\nport = ${server.pop3Port}`;
  const login = `username = ${server.address}\npassword = ${server.password}\nca_certs = ${server.certificate}`;
  // It refuses to deliver as root, and its own settings name another user.
  const destination = `type = Maildir\npath = ${maildir}\nuser = nobody`;
  const fetch = async (options: string): Promise<void> => {
    const text = `[retriever]\n${retriever}\n${login}\n[destination]\n${destination}\n[options]\n${options}\n`;
    await writeFile(join(home, 'getmailrc'), text);
    await run('getmail', ['--rcfile=getmailrc', `--getmaildir=${home}`], { timeout: TIMEOUT_MS });
  };
  await fetch('read_all = false');
  await fetch('read_all = false');
  const names = await readdir(join(maildir, 'new'));
  const mail = await Promise.all(names.map((name) => readFile(join(maildir, 'new', name), 'utf8')));
  assertFetched(mail.map((text) => `\n${text}`).join(''));
  assert.deepEqual(await left(), SUBJECTS.toSorted());
  await fetch('read_all = true\ndelete = true');
  assert.deepEqual(await left(), []);
});

for (const pipelining of ['on', 'off'] as const) {
  test(`mpop fetches what is new, and then deletes, with pipelining ${pipelining}`, async () => {
    const mail = join(home, `mpop-${pipelining}`);
    await runMpop({ mail, pipelining, keep: 'on' });
    await runMpop({ mail, pipelining, keep: 'on' });
    assertFetched(await readFile(mail, 'utf8'));
    assert.deepEqual(await left(), SUBJECTS.toSorted());
    await runMpop({ mail, pipelining, keep: 'off' });
    assert.deepEqual(await left(), []);
    assertFetched(await readFile(mail, 'utf8'));
  });
}

async function runMpop({
  mail,
  pipelining,
  keep,
}: Record<'mail' | 'pipelining' | 'keep', string>): Promise<void> {
  // Its TLS library trusts no certificate that has signed itself, and asks for RSA.
  const certificate = await readFile(join(server.daemon.dataDir, 'tls', 'self-signed', 'rsa.pem'));
  const lines = [
    'account default',
    `host ${HOST}`,
    `port ${server.pop3Port}`,
    `user ${server.address}`,
    `password ${server.password}`,
    'tls on',
    'tls_starttls off',
    `tls_fingerprint ${new X509Certificate(certificate).fingerprint256}`,
    `pipelining ${pipelining}`,
    `keep ${keep}`,
    `uidls_file ${mail}.uidls`,
    `delivery mbox ${mail}`,
  ];
  const settings = join(home, 'mpoprc');
  await writeFile(settings, `${lines.join('\n')}\n`, { mode: 0o600 });
  await run('mpop', [`--file=${settings}`, '--quiet'], { timeout: TIMEOUT_MS });
}
