/**
 * kill -9 in each step of a backup and of a restoration. A backup that was killed is not listed, and the next one removes what it
 * left. After a kill of a restoration the data is the old or the restored one, and the next try succeeds.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CrashPointName } from '../../src/crash-points.ts';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import type { Result } from './part.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/postrider', import.meta.url));
const PLAIN: readonly CrashPointName[] = [
  'backup-database',
  'backup-files',
  'backup-mailbox',
  'backup-complete',
];
/** Steps of a restoration before the replacement is certain. */
const BEFORE_REPLACING: readonly CrashPointName[] = ['restore-copied', 'restore-marked'];
/** Public key of nobody. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** A data directory, the folder of its backups, and a key of its tenant. */
type Site = { dataDir: string; folder: string; key: string };

export async function killBackups(): Promise<Result> {
  const dataDir = temporaryDirectory('backups-data');
  const folder = temporaryDirectory('backups');
  const key = await fill(dataDir);
  const site = { dataDir, folder, key };
  const path = await killWhileBackingUp(site);
  await killWhileRestoring(site, path);
  return {
    lines: [`${PLAIN.length + 1} kills of a backup, ${BEFORE_REPLACING.length + 1} of a restoration`],
    faults: [],
  };
}

/** Gives the data directory an email and a mailbox with a message, so that a backup has an account to copy. Returns a key of the tenant. */
async function fill(dataDir: string): Promise<string> {
  const daemon = await startDaemonProcess({ dataDir });
  const key = daemon.testKey ?? '';
  await send(daemon, key, 'first');
  await daemon.cli(['mailbox', 'create', 'ann@sandbox.localhost']);
  const file = join(temporaryDirectory('mail'), 'old.mbox');
  writeFileSync(file, 'From ann@example.net Fri Nov 21 09:05:00 2025\nSubject: Tea\n\nAt five.\n');
  await daemon.cli(['mailbox', 'import', 'ann@sandbox.localhost', file]);
  await daemon.stop();
  return key;
}

/** Kills a backup in each of its steps, and returns the path of the one that is made afterwards. */
async function killWhileBackingUp({ dataDir, folder, key }: Site): Promise<string> {
  for (const crashAt of [...PLAIN, 'backup-encrypting'] as const) {
    const env = PLAIN.includes(crashAt) ? {} : { POSTRIDER_BACKUP_RECIPIENTS: RECIPIENT };
    const killed = await startDaemonProcess({ dataDir, crashAt, env });
    await assert.rejects(killed.cli(['backup', 'create', '--folder', folder]));
    assert.equal((await killed.exited).signal, 'SIGKILL', crashAt);
    assert.deepEqual(listBackups(dataDir, folder), [], crashAt);
  }
  const daemon = await startDaemonProcess({ dataDir });
  assert.deepEqual(await subjects(daemon, key), ['first']);
  assert.equal(scratchFolders(dataDir).length, 1, 'the encryption that was killed has left its files');
  const { path } = (await daemon.cli(['backup', 'create', '--folder', folder])) as { path: string };
  assert.deepEqual(readdirSync(folder), [path.slice(folder.length + 1)]);
  assert.deepEqual(scratchFolders(dataDir), []);
  const accounts = readdirSync(join(path, 'mailboxes')).filter((name) => name.startsWith('mbx_'));
  assert.equal(accounts.length, 1);
  await daemon.cli(['backup', 'verify', path]);
  await send(daemon, key, 'second');
  await daemon.stop();
  return path;
}

/** Kills a restoration in each of its steps. An email has been sent since the backup at `path`. */
async function killWhileRestoring({ dataDir, key }: Site, path: string): Promise<void> {
  for (const crashAt of BEFORE_REPLACING) {
    assert.equal(restoreUntil(crashAt, dataDir, path), 'SIGKILL', crashAt);
    const daemon = await startDaemonProcess({ dataDir });
    assert.deepEqual(await subjects(daemon, key), ['first', 'second'], crashAt);
    assert.equal(await restoredAt(daemon), null, crashAt);
    await daemon.stop();
  }
  assert.equal(restoreUntil('restore-replacing', dataDir, path), 'SIGKILL');
  const daemon = await startDaemonProcess({ dataDir });
  assert.deepEqual(await subjects(daemon, key), ['first']);
  assert.notEqual(await restoredAt(daemon), null);
  await daemon.cli(['restore', 'release', '--yes']);
  assert.equal(await restoredAt(daemon), null);
  await daemon.stop();
}

/** Restores a backup while no daemon runs, and is killed at the crash point. */
function restoreUntil(crashAt: CrashPointName, dataDir: string, path: string): NodeJS.Signals | null {
  const env = { PATH: process.env['PATH'], POSTRIDER_DATA_DIR: dataDir, POSTRIDER_CRASH_AT: crashAt };
  return spawnSync(PROGRAM, ['backup', 'restore', path], { env }).signal;
}

/** Returns the names of complete backups. No daemon runs. */
function listBackups(dataDir: string, folder: string): string[] {
  const { stdout } = spawnSync(PROGRAM, ['backup', 'list', '--folder', folder, '--json'], {
    env: { PATH: process.env['PATH'], POSTRIDER_DATA_DIR: dataDir },
    encoding: 'utf8',
  });
  return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
}

function scratchFolders(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.startsWith('scratch-'));
}

async function send(daemon: DaemonProcess, key: string, subject: string): Promise<void> {
  const { status } = await daemon.request('POST', '/v1/emails', key, {
    ...{ from: 'hello@sandbox.localhost', to: 'delivered@simulator.localhost', subject },
    ...{ text: 'Hi', type: 'transactional' },
  });
  assert.equal(status, 200);
}

async function subjects(daemon: DaemonProcess, key: string): Promise<string[]> {
  const { body } = await daemon.request('GET', '/v1/emails', key);
  return (body as { data: { subject: string }[] }).data.map(({ subject }) => subject).sort();
}

async function restoredAt(daemon: DaemonProcess): Promise<number | null> {
  return ((await daemon.cli(['restore', 'status'])) as { restoredAt: number | null }).restoredAt;
}
