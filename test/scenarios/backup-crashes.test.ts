/** Backups and restorations that are killed in each of their steps, with real processes that end as with kill -9. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
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

/** Restores a backup while no daemon runs, and is killed at the crash point. */
function restoreUntil(crashAt: string, path: string): NodeJS.Signals | null {
  const env = { PATH: process.env['PATH'], POSTRIDER_DATA_DIR: dataDir, POSTRIDER_CRASH_AT: crashAt };
  return spawnSync(PROGRAM, ['backup', 'restore', path], { env }).signal;
}

test('whatever step kills a backup or a restoration, the data is the old or the restored one, and the next try succeeds', async () => {
  daemon = await startDaemonProcess({ dataDir });
  const key = daemon.testKey ?? '';
  await send(daemon, key, 'first');
  await daemon.stop();

  for (const crashAt of ['backup-database', 'backup-files', 'backup-complete']) {
    daemon = await startDaemonProcess({ dataDir, crashAt });
    await assert.rejects(daemon.cli(['backup', 'create', '--folder', folder]));
    assert.equal((await daemon.exited).signal, 'SIGKILL', crashAt);
    assert.deepEqual(await listed(), [], crashAt);
  }

  daemon = await startDaemonProcess({ dataDir });
  assert.deepEqual(await subjects(daemon, key), ['first']);
  const { path } = (await daemon.cli(['backup', 'create', '--folder', folder])) as Made;
  assert.deepEqual(readdirSync(folder), [path.slice(folder.length + 1)]);
  await daemon.cli(['backup', 'verify', path]);
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
