import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { runCopyCommand } from '../../src/backups/copy-command.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

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

test('each backup is copied by the program of the operator, and the copy verifies', async (t) => {
  const target = temporaryDirectory('elsewhere');
  const { app, dataDir, close } = await openTestApp();
  t.after(close);
  const config = { ...app.config, backup: { ...app.config.backup, command: [exampleScript(target)] } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  const { name, copyFailure } = await backups.create();
  assert.equal(copyFailure, null);
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
  assert.equal(await runCopyCommand(['/bin/sh', '-c', script, 'sh', '$(id)'], '/a backup'), null);
  const seen = readFileSync(file, 'utf8');
  assert.match(seen, /^BACKUP_PATH=\/a backup$/m);
  assert.match(seen, /^\$\(id\)$/m);
  assert.doesNotMatch(seen, /^(?:HOME|NODE_|POSTRIDER_)/m);
});

test('a program that does not exist is named', async () => {
  assert.match((await runCopyCommand(['/missing/program'], '/a')) ?? '', /\/missing\/program ENOENT/);
});
