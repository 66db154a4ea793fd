/** Backups and restorations that are killed in each of their steps, with real processes that end as with kill -9. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));

let daemon: DaemonProcess | undefined;
after(() => daemon?.kill('SIGKILL'));

const dataDir = newDataDirectory();
const folder = temporaryDirectory('backups');

/** Public key of nobody. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

type Made = { path: string };
type Status = { restoredAt: number | null };

async function subjects(running: DaemonProcess, key: string): Promise<string[]> {
  const { body } = await running.request('GET', '/v1/emails', key);
  return (body as { data: { subject: string }[] }).data.map(({ subject }) => subject).sort();
}

async function send(running: DaemonProcess, key: string, subject: string): Promise<void> {
  const { status } = await running.request('POST', '/v1/emails', key, {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject },
    ...{ text: 'Hi', type: 'transactional' },
  });
  assert.equal(status, 200);
}

/** Makes a mailbox with one message, so that a backup has an account to copy. */
async function fillMailbox(running: DaemonProcess): Promise<void> {
  await running.cli(['mailbox', 'create', 'ann@sandbox.localhost']);
  const file = join(temporaryDirectory('mail'), 'old.mbox');
  writeFileSync(file, 'From ann@example.net Fri Nov 21 09:05:00 2025\nSubject: Tea\n\nAt five.\n');
  await running.cli(['mailbox', 'import', 'ann@sandbox.localhost', file]);
}

const mailboxesIn = (directory: string) =>
  readdirSync(join(directory, 'mailboxes')).filter((name) => name.startsWith('mbx_'));

const scratchFolders = () => readdirSync(dataDir).filter((name) => name.startsWith('scratch-'));

/** Restores a backup while no daemon runs, and is killed at the crash point. */
function restoreUntil(crashAt: string, path: string): NodeJS.Signals | null {
  const env = { PATH: process.env['PATH'], POSTRIDER_DATA_DIR: dataDir, POSTRIDER_CRASH_AT: crashAt };
  return spawnSync(PROGRAM, ['backup', 'restore', path], { env }).signal;
}

let key = '';
let path = '';

test('whatever step kills a backup, none is listed, and the next try succeeds', async () => {
  daemon = await startDaemonProcess({ dataDir });
  key = daemon.testKey ?? '';
  await send(daemon, key, 'first');
  await fillMailbox(daemon);
  await daemon.stop();

  const plain = ['backup-database', 'backup-files', 'backup-mailbox', 'backup-complete'];
  for (const crashAt of [...plain, 'backup-encrypting']) {
    const env = plain.includes(crashAt) ? {} : { POSTRIDER_BACKUP_RECIPIENTS: RECIPIENT };
    daemon = await startDaemonProcess({ dataDir, crashAt, env });
    await assert.rejects(daemon.cli(['backup', 'create', '--folder', folder]));
    assert.equal((await daemon.exited).signal, 'SIGKILL', crashAt);
    assert.deepEqual(await listed(), [], crashAt);
  }

  daemon = await startDaemonProcess({ dataDir });
  assert.deepEqual(await subjects(daemon, key), ['first']);
  assert.equal(scratchFolders().length, 1, 'the encryption that was killed has left its files');
  ({ path } = (await daemon.cli(['backup', 'create', '--folder', folder])) as Made);
  assert.deepEqual(readdirSync(folder), [path.slice(folder.length + 1)]);
  assert.deepEqual(scratchFolders(), []);
  assert.equal(mailboxesIn(path).length, 1);
  await daemon.cli(['backup', 'verify', path]);
  await daemon.stop();
});

test('whatever step kills a restoration, the data is the old or the restored one, and the next try succeeds', async () => {
  daemon = await startDaemonProcess({ dataDir });
  await send(daemon, key, 'second');
  await daemon.stop();

  for (const crashAt of ['restore-copied', 'restore-marked']) {
    assert.equal(restoreUntil(crashAt, path), 'SIGKILL', crashAt);
    daemon = await startDaemonProcess({ dataDir });
    assert.deepEqual(await subjects(daemon, key), ['first', 'second'], crashAt);
    assert.equal(((await daemon.cli(['restore', 'status'])) as Status).restoredAt, null, crashAt);
    await daemon.stop();
  }

  assert.equal(restoreUntil('restore-replacing', path), 'SIGKILL');
  daemon = await startDaemonProcess({ dataDir });
  assert.deepEqual(await subjects(daemon, key), ['first']);
  assert.ok(((await daemon.cli(['restore', 'status'])) as Status).restoredAt !== null);
  await daemon.cli(['restore', 'release', '--yes']);
  assert.equal(((await daemon.cli(['restore', 'status'])) as Status).restoredAt, null);
  await daemon.stop();
  daemon = undefined;
});

/** Returns the names of complete backups. */
async function listed(): Promise<string[]> {
  const { stdout } = spawnSync(PROGRAM, ['backup', 'list', '--folder', folder, '--json'], {
    env: { PATH: process.env['PATH'], POSTRIDER_DATA_DIR: join(dataDir) },
    encoding: 'utf8',
  });
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
}
