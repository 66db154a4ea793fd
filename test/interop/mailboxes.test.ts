/**
 * Mailboxes and programs that fetch mail: mail arrives by SMTP and is read with curl, fetchmail and getmail; mbsync and
 * offlineimap synchronise in both directions, also when they and the daemon are killed meanwhile.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { mbsyncSettings } from '../support/mbsync-settings.ts';
import { until } from './until.ts';

const ADDRESS = 'reader@sandbox.localhost';
/** The name in the certificate that the daemon makes for itself. */
const HOST = 'localhost';
const SYNCED_MESSAGES = 2_000;
/** Times after which mbsync is killed, in milliseconds. */
const KILLED_AFTER_MS = [150, 300, 600, 1_000] as const;
const TIMEOUT_MS = 120_000;

const run = promisify(execFile);

let daemon: DaemonProcess;
let home: string;
let password: string;
let ports: { imap: number; smtp: number };
let certificate: string;

before(async () => {
  home = temporaryDirectory('mailboxes');
  ports = { imap: await freePort(), smtp: await freePort() };
  daemon = await start(join(home, 'data'));
  const made = (await daemon.cli(['mailbox', 'create', ADDRESS])) as { password: string };
  password = made.password;
  certificate = join(home, 'certificate.pem');
  await copyFile(join(daemon.dataDir, 'tls', 'self-signed', 'ec.pem'), certificate);
  // The listener starts with the first mailbox.
  await until('the daemon listens for IMAP', () =>
    curl('INBOX', 'NOOP').then(
      () => true,
      () => false,
    ),
  );
});

after(() => daemon.stop());

test('curl, fetchmail and getmail read mail that arrived by SMTP', async () => {
  const smtp = ['--server', HOST, '--port', String(ports.smtp), '--from', 'ann@author.example'];
  await run('swaks', [...smtp, '--to', ADDRESS, '--h-Subject', 'First letter', '--body', 'Hello reader']);
  await until('the message is in the mailbox', async () =>
    (await curl('INBOX', 'SEARCH ALL')).includes(' 1'),
  );
  const { stdout: read } = await run('curl', [...curlLogin(), `${url('INBOX')};MAILINDEX=1`]);
  assert.match(read, /^Return-Path: <ann@author\.example>\r\nDelivered-To: reader@sandbox\.localhost\r\n/);
  assert.match(read, /Subject: First letter\r\n.*\r\n\r\nHello reader\r\n/s);

  assert.match(await fetchmail(), /Subject: First letter\n.*\n\nHello reader\n/s);
  assert.match(await getmail(), /Subject: First letter\n.*\n\nHello reader\n/s);
});

test('mbsync reaches a fixpoint with 2,000 messages in both directions, over kills of both sides', async () => {
  const folder = join(home, 'mbsync');
  const archive = join(folder, 'Archive');
  for (const part of ['cur', 'new', 'tmp']) await mkdir(join(archive, part), { recursive: true });
  for (let number = 0; number < SYNCED_MESSAGES; number++)
    await writeFile(join(archive, 'cur', `${number}.local:2,${number % 3 === 0 ? 'S' : ''}`), letter(number));
  const account = { host: HOST, port: ports.imap, user: ADDRESS, password, certificate };
  const channel = ['Create Both', 'Expunge Both'];
  await writeFile(
    join(home, 'mbsyncrc'),
    mbsyncSettings({ ...account, folder, pattern: 'Archive', channel }),
  );
  for (const killedAfterMs of KILLED_AFTER_MS) await mbsync({ killedAfterMs });
  const interrupted = mbsync({});
  await daemon.kill('SIGKILL');
  await interrupted;
  daemon = await start(daemon.dataDir);
  await reachFixpoint();
  assert.deepEqual(await exported('first'), numbered(SYNCED_MESSAGES));

  // Both sides change: the server flags and removes messages, the client reads some and writes new ones.
  await curl('Archive', 'STORE 1:100 +FLAGS (\\Flagged)');
  await curl('Archive', 'STORE 101:200 +FLAGS.SILENT (\\Deleted)');
  await curl('Archive', 'EXPUNGE');
  const names = (await readdir(join(archive, 'cur'))).filter((name) => name.endsWith(':2,')).slice(-100);
  for (const name of names) await rename(join(archive, 'cur', name), join(archive, 'cur', `${name}RS`));
  for (let number = SYNCED_MESSAGES; number < SYNCED_MESSAGES + 50; number++)
    await writeFile(join(archive, 'new', `${number}.local`), letter(number));
  await reachFixpoint();
  const server = await exported('second');
  assert.equal(Object.keys(server).length, SYNCED_MESSAGES - 100 + 50);
  assert.deepEqual(await flagsIn(archive), server);
  const count = (flag: string) => Object.values(server).filter((flags) => flags.includes(flag)).length;
  assert.deepEqual([count('F'), count('R')], [100, names.length]);
});

test('offlineimap makes a copy that equals the mailbox', async () => {
  const folder = join(home, 'offlineimap');
  await writeFile(join(home, 'offlineimaprc'), offlineimapSettings(folder));
  await run('offlineimap', ['-c', join(home, 'offlineimaprc'), '-o', '-u', 'quiet'], { timeout: TIMEOUT_MS });
  assert.deepEqual(await flagsIn(join(folder, 'Archive')), await exported('third'));
});

function start(dataDir: string): Promise<DaemonProcess> {
  const env = {
    POSTRIDER_IMAP_PORT: String(ports.imap),
    POSTRIDER_POP3_PORT: '0',
    POSTRIDER_MANAGESIEVE_PORT: '0',
    POSTRIDER_SMTP_PORT: String(ports.smtp),
    POSTRIDER_SUBMISSION_ENABLED: 'false',
  };
  return startDaemonProcess({ dataDir, env });
}

function letter(number: number): string {
  const header = `From: ann@author.example\nTo: ${ADDRESS}\nMessage-ID: <${number}@author.example>\n`;
  return `${header}Subject: Letter ${number}\n\n${`Line of letter ${number}.\n`.repeat(1 + (number % 40))}`;
}

/** The flags of the letters as they were written, by the number of the letter. */
function numbered(count: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, number) => [number, number % 3 === 0 ? 'S' : '']),
  );
}

/** Returns the flags of the letters of a maildir, by their numbers. Each letter is there once. */
async function flagsIn(maildir: string): Promise<Record<string, string>> {
  const flags: Record<string, string> = {};
  for (const part of ['cur', 'new'])
    for (const name of await readdir(join(maildir, part))) {
      const number = /^Message-ID: <(\d+)@/m.exec(await readFile(join(maildir, part, name), 'utf8'))?.[1];
      assert.ok(number !== undefined && !(number in flags), `letter ${number} is there once`);
      flags[number] = /:2,(\w*)$/.exec(name)?.[1] ?? '';
    }
  return flags;
}

/** Returns the flags of the letters on the server. */
async function exported(name: string): Promise<Record<string, string>> {
  const folder = join(home, `export-${name}`);
  await daemon.cli(['mailbox', 'export', ADDRESS, folder]);
  return flagsIn(join(folder, '.Archive'));
}

function url(folder: string): string {
  return `imaps://${HOST}:${ports.imap}/${folder}`;
}

function curlLogin(): string[] {
  return ['--silent', '--show-error', '--cacert', certificate, '--user', `${ADDRESS}:${password}`];
}

async function curl(folder: string, command: string): Promise<string> {
  const { stdout } = await run('curl', [...curlLogin(), url(folder), '--request', command]);
  return stdout;
}

async function fetchmail(): Promise<string> {
  const [settings, mail] = [join(home, 'fetchmailrc'), join(home, 'fetched')];
  const login = `user "${ADDRESS}" password "${password}"`;
  const tls = `ssl sslcertck sslcertfile ${certificate}`;
  const poll = `poll ${HOST} protocol IMAP port ${ports.imap} ${login} ${tls}`;
  await writeFile(settings, `${poll} mda "cat >> ${mail}" keep fetchall\n`, { mode: 0o600 });
  await run('fetchmail', ['--fetchmailrc', settings, '--pidfile', join(home, 'fetchmail.pid')], {
    timeout: TIMEOUT_MS,
    env: { ...process.env, HOME: home },
  });
  return readFile(mail, 'utf8');
}

async function getmail(): Promise<string> {
  const maildir = join(home, 'getmail/');
  for (const part of ['cur', 'new', 'tmp']) await mkdir(join(maildir, part), { recursive: true });
  const retriever = `type = SimpleIMAPSSLRetriever\nserver = ${HOST}\nport = ${ports.imap}`;
  const login = `username = ${ADDRESS}\npassword = ${password}\nca_certs = ${certificate}`;
  // It refuses to deliver as root, and its own settings name another user.
  const destination = `type = Maildir\npath = ${maildir}\nuser = nobody`;
  await writeFile(
    join(home, 'getmailrc'),
    `[retriever]\n${retriever}\n${login}\n[destination]\n${destination}\n`,
  );
  await run('chmod', ['a+rx', home]);
  await run('chown', ['-R', 'nobody', maildir]);
  await run('getmail', ['--rcfile=getmailrc', `--getmaildir=${home}`], { timeout: TIMEOUT_MS });
  const [name = ''] = await readdir(join(maildir, 'new'));
  return readFile(join(maildir, 'new', name), 'utf8');
}

/** Runs mbsync once, and kills it after a time if one is given. Returns what it said. */
async function mbsync({ killedAfterMs }: { killedAfterMs?: number }): Promise<string> {
  // The verbose form names what is done for each channel.
  const program = spawn('mbsync', ['-c', join(home, 'mbsyncrc'), '-V', '-a'], { timeout: TIMEOUT_MS });
  let said = '';
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const kill =
    killedAfterMs === undefined ? undefined : setTimeout(() => program.kill('SIGKILL'), killedAfterMs);
  const [code] = (await once(program, 'close')) as [number | null];
  clearTimeout(kill);
  return `${said}\nexit code ${code}`;
}

/** Runs mbsync until it has nothing to do: the second run transfers, flags and removes nothing. */
async function reachFixpoint(): Promise<void> {
  // mbsync does not trust a directory that has changed within the last seconds, and waits by itself.
  const first = await mbsync({});
  assert.match(first, /exit code 0$/);
  const before = await readFile(join(home, 'mbsync', 'Archive', '.mbsyncstate'), 'utf8');
  const second = await mbsync({});
  assert.match(second, /exit code 0$/);
  assert.equal(await readFile(join(home, 'mbsync', 'Archive', '.mbsyncstate'), 'utf8'), before);
}

function offlineimapSettings(folder: string): string {
  return `[general]
accounts = account
metadata = ${join(home, 'offlineimap-state')}

[Account account]
localrepository = here
remoterepository = server

[Repository here]
type = Maildir
localfolders = ${folder}

[Repository server]
type = IMAP
remotehost = ${HOST}
remoteport = ${ports.imap}
remoteuser = ${ADDRESS}
remotepass = ${password}
ssl = yes
sslcacertfile = ${certificate}
folderfilter = lambda name: name == 'Archive'
`;
}
