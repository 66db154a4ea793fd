/**
 * Sieve from outside: sieve-connect manages the scripts of a mailbox, and a script answers and sends on mail once, wherever the daemon is
 * killed.
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { until } from './until.ts';

const DOMAIN = 'sandbox.localhost';
const OWNER = `owner@${DOMAIN}`;
const SENDER = `sender@${DOMAIN}`;
const COPY = `copy@${DOMAIN}`;
const PASSWORD = 'correct horse battery';

const run = promisify(execFile);
const home = temporaryDirectory('sieve');
let env: Record<string, string>;
let daemon: DaemonProcess;
let exports = 0;

before(async () => {
  env = {
    POSTRIDER_SMTP_PORT: String(await freePort()),
    POSTRIDER_MANAGESIEVE_PORT: String(await freePort()),
  };
  daemon = await startDaemonProcess({ dataDir: join(home, 'data'), env });
  for (const address of [OWNER, SENDER, COPY]) await daemon.cli(['mailbox', 'create', address]);
  await setPassword();
});

after(() => daemon?.stop());

/** Runs sieve-connect, and returns what it prints. */
async function sieveConnect(...args: string[]): Promise<{ code: number; output: string }> {
  const child = spawn(
    'sieve-connect',
    [
      ...['--server', '127.0.0.1', '--port', env['POSTRIDER_MANAGESIEVE_PORT'] ?? ''],
      ...['--user', OWNER, '--passwordfd', '0', '--notlsverify', '--authmech', 'PLAIN', ...args],
    ],
    { cwd: home, timeout: 60_000 },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  child.stdin.end(`${PASSWORD}\n`);
  const [code] = await once(child, 'close');
  return { code: Number(code), output };
}

async function upload(name: string, script: string): Promise<{ code: number; output: string }> {
  await writeFile(join(home, name), script);
  return sieveConnect('--upload', '--localsieve', name, '--remotesieve', name);
}

async function deliver(subject: string): Promise<void> {
  await run('swaks', [
    ...['--server', '127.0.0.1', '--port', env['POSTRIDER_SMTP_PORT'] ?? ''],
    ...['--from', SENDER, '--to', OWNER, '--header', `Subject: ${subject}`],
  ]);
}

/** Returns the messages of a mailbox whose subjects contain the text. */
async function messagesOf(address: string, subject: string): Promise<string[]> {
  const folder = join(home, `export-${++exports}`);
  await daemon.cli(['mailbox', 'export', address, folder]);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile() && /\/(?:cur|new)$/.test(entry.parentPath));
  const texts = await Promise.all(
    files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')),
  );
  return texts.filter((text) => new RegExp(`^Subject: .*${subject}`, 'm').test(text));
}

async function setPassword(): Promise<void> {
  const child = spawn('bin/postrider', ['mailbox', 'passwd', OWNER, '--password-stdin'], {
    env: { ...process.env, POSTRIDER_DATA_DIR: daemon.dataDir },
    timeout: 60_000,
  });
  child.stdin.end(PASSWORD);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
}

test('sieve-connect uploads, lists, activates, checks, reads and deletes scripts over TLS', async () => {
  const script = 'require "fileinto";\nif header :contains "subject" "list" {\n  fileinto "Archive";\n}\n';
  assert.deepEqual((await upload('rules', script)).code, 0);
  await upload('other', 'keep;\n');
  assert.equal((await sieveConnect('--activate', '--remotesieve', 'rules')).code, 0);
  assert.match((await sieveConnect('--list')).output, /"other"\s+"rules" ACTIVE/);
  const wrong = await upload('wrong', 'keep;\nnothing;\n');
  assert.notEqual(wrong.code, 0);
  assert.match(wrong.output, /line 2, column \d+/);
  assert.equal((await sieveConnect('--download', '--remotesieve', 'rules', '--localsieve', 'copy')).code, 0);
  assert.equal(await readFile(join(home, 'copy'), 'utf8'), script);
  assert.equal((await sieveConnect('--delete', '--remotesieve', 'other')).code, 0);
  assert.doesNotMatch((await sieveConnect('--list')).output, /other/);
  await deliver('a list');
  await until('the message is filed', async () => (await messagesOf(OWNER, 'a list')).length === 1);
});

test('a reply, a redirect and the folders of a message are there once, wherever the daemon is killed', async () => {
  const script = `require ["fileinto", "copy", "vacation"];
    fileinto "Archive"; redirect :copy "${COPY}"; vacation :handle "SUBJECT" :subject "Away SUBJECT" "Away."; keep;`;
  const points = [
    'script-plan-before-commit',
    'script-plan-after-commit',
    'script-settle-before-commit',
    'script-settle-after-commit',
  ];
  for (const point of points) {
    await upload('rules', script.replaceAll('SUBJECT', point));
    await sieveConnect('--activate', '--remotesieve', 'rules');
    await daemon.stop();
    daemon = await startDaemonProcess({ dataDir: daemon.dataDir, env, crashAt: point });
    const { exited } = daemon;
    await deliver(point);
    assert.equal((await exited).signal, 'SIGKILL', point);
    daemon = await startDaemonProcess({ dataDir: daemon.dataDir, env });
    const counts = async () => [
      (await messagesOf(OWNER, point)).length,
      (await messagesOf(COPY, point)).length,
      (await messagesOf(SENDER, `Away ${point}`)).length,
    ];
    await until(`everything of ${point} is there`, async () => (await counts()).join() === '2,1,1');
    await deliver(point);
    await until(`the second message of ${point} is there`, async () => (await counts()).join() === '4,2,1');
  }
});
