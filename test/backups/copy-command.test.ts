import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { runCopyCommand } from '../../src/backups/copy-command.ts';
import { readLastCopy } from '../../src/backups/last-copy.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { realClock } from '../../src/system/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

type Copy = Parameters<typeof runCopyCommand>[0];

/** The example of docs/backup.md, with a copy to another folder in the place of one to another host. */
function exampleScript(target: string): string {
  const page = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
  const [, script = ''] = /```text\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(page) ?? [];
  assert.match(script, /^rsync .*\$BACKUP_PATH/m);
  const path = join(temporaryDirectory('script'), 'backup-copy');
  const copying = script.replace(/^rsync .*$/m, `cp -a "$BACKUP_PATH" '${target}'`);
  writeFileSync(path, copying, { mode: 0o755 });
  return path;
}

/** Runs a program as the copy of a backup. */
function run(
  command: string[],
  backup = '/a',
  { clock = realClock, signal = new AbortController().signal }: Partial<Pick<Copy, 'clock' | 'signal'>> = {},
): Promise<string | null> {
  return runCopyCommand({ clock, command, backup, timeoutMs: 60_000, signal });
}

/** Starts a program that ignores SIGTERM, with another one beside it, and returns the ids of both. */
async function startStubborn(options: Partial<Pick<Copy, 'clock' | 'signal'>>) {
  const file = join(temporaryDirectory('command'), 'pids');
  const script = `trap '' TERM; sleep 600 & echo "$$ $!" > ${file}.new; mv ${file}.new ${file}; wait; wait; sleep 600`;
  const ended = run(['/bin/sh', '-c', script], '/a', options);
  await waitUntil(() => existsSync(file), 'the program runs');
  return { ended, pids: readFileSync(file, 'utf8').trim().split(' ').map(Number) };
}

function isRunning(pid: number): boolean {
  try {
    // A process that has ended and was not waited for is in state Z.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test('each backup is copied by the program of the operator, and the copy verifies', async (t) => {
  const target = temporaryDirectory('elsewhere');
  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const config = { ...app.config, backup: { ...app.config.backup, command: [exampleScript(target)] } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  const { name, copyFailure } = await backups.create();
  assert.equal(copyFailure, null);
  assert.partialDeepStrictEqual(readLastCopy(dataDir), { backup: name, failure: null });
  assert.ok((readLastCopy(dataDir)?.endedAt ?? 0) > 0);
  assert.deepEqual((await verifyBackup(join(target, name))).findings, []);
});

test('a copy that fails leaves the backup, and says why', async (t) => {
  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const command = ['/bin/sh', '-c', 'echo no route to host >&2; exit 3'];
  const config = { ...app.config, backup: { ...app.config.backup, command } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  const { path, copyFailure } = await backups.create();
  assert.equal(copyFailure, '/bin/sh has ended with 3: no route to host');
  assert.ok(existsSync(path));
  assert.equal(readLastCopy(dataDir)?.failure, copyFailure);
});

test('a restored installation copies no backup off this host, and makes none in the shared folder', async (t) => {
  const marker = join(temporaryDirectory('elsewhere'), 'copied');
  const shared = temporaryDirectory('shared');
  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const createIn = (folder: string) => {
    const command = ['/bin/sh', '-c', `touch '${marker}'`];
    const config = { ...app.config, backup: { ...app.config.backup, command, folder } };
    return createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  };
  app.egress.hold();
  assert.match((await createIn('').create()).copyFailure ?? '', /^nothing leaves this restored installation/);
  assert.ok(!existsSync(marker));
  await assert.rejects(createIn(`${shared}/`).create(shared), { code: 'invalid_state' });
});

test('a backup in another folder is not copied', async (t) => {
  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const config = { ...app.config, backup: { ...app.config.backup, command: ['/bin/false'] } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  assert.equal((await backups.create(temporaryDirectory('other'))).copyFailure, null);
});

test('the program gets the path alone, and neither a shell nor the variables of the daemon', async () => {
  const file = join(temporaryDirectory('command'), 'seen');
  const script = `env > ${file}; echo "$1" >> ${file}`;
  assert.equal(await run(['/bin/sh', '-c', script, 'sh', '$(id)'], '/a backup'), null);
  const seen = readFileSync(file, 'utf8');
  assert.match(seen, /^BACKUP_PATH=\/a backup$/m);
  assert.match(seen, /^\$\(id\)$/m);
  assert.doesNotMatch(seen, /^(?:HOME|NODE_|POSTRIDER_)/m);
});

test('a program that does not exist is named', async () => {
  assert.match((await run(['/missing/program'])) ?? '', /\/missing\/program ENOENT/);
});

test('a program that takes too long is ended with everything that it has started', async () => {
  const clock = createFakeClock(0);
  const { ended, pids } = await startStubborn({ clock });
  assert.ok(pids.length === 2 && pids.every(isRunning));
  await clock.advance(60_000);
  await clock.advance(10_000);
  assert.equal(await ended, '/bin/sh was ended, because it took longer than 1 minutes');
  await waitUntil(() => !pids.some(isRunning), 'both have ended');
});

test('a program is ended when the daemon stops', async () => {
  const stopping = new AbortController();
  const clock = createFakeClock(0);
  const { ended, pids } = await startStubborn({ clock, signal: stopping.signal });
  stopping.abort();
  await clock.advance(10_000);
  assert.equal(await ended, 'the daemon has stopped');
  assert.equal(await run(['/bin/false'], '/a', { signal: stopping.signal }), 'the daemon has stopped');
  await waitUntil(() => !pids.some(isRunning), 'both have ended');
});

test('a program that leaves another one behind with its output open has ended', async () => {
  assert.equal(await run(['/bin/sh', '-c', 'sleep 600 & exit 0']), null);
});
