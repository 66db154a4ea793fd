/**
 * The files that a process leaves which ends in the middle of a backup or of a restoration: a copy of them is made at each step.
 * test/faults/backups.ts ends real processes there.
 */
import assert from 'node:assert/strict';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { accountFolder } from '../../src/accounts/folder.ts';
import { openApp } from '../../src/app.ts';
import { type BackupApp, createBackup } from '../../src/backups/create.ts';
import { listBackups } from '../../src/backups/format.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import type { CrashPointName } from '../../src/crash-points.ts';
import { createLog } from '../../src/system/log.ts';
import { addMailbox } from '../mailboxes/fixtures.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { createAccountApp, openTestAccount } from '../support/test-account.ts';
import { openTestApp } from '../support/test-app.ts';

const PLAIN: readonly CrashPointName[] = [
  'backup-database',
  'backup-files',
  'backup-mailbox',
  'backup-complete',
];
const ENCRYPTED: readonly CrashPointName[] = [...PLAIN.slice(0, -1), 'backup-encrypting', 'backup-complete'];
/** Public key of nobody. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** Opens an application with a mailbox that has an account, and returns what backups of it are made with. */
async function openWithAccount(t: TestContext, recipients: string[] = []): Promise<BackupApp> {
  const testApp = await openTestApp();
  t.after(testApp.close);
  const { app, dataDir } = testApp;
  const { id } = await addMailbox(testApp, { address: 'ann@sandbox.mx.postrider.example' });
  await (await openTestAccount(createAccountApp(), accountFolder(dataDir, id))).close();
  const config = { ...app.config, backup: { ...app.config.backup, recipients } };
  return { ...app, config, copyAccount: copyClosed(dataDir) };
}

/** Copies what is in a folder into another one, except the names that begin with `except`. */
function copyInto(from: string, to: string, except = '/'): void {
  const names = readdirSync(from).filter((name) => !name.startsWith(except));
  for (const name of names) cpSync(join(from, name), join(to, name), { recursive: true });
}

const scratchIn = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('scratch-'));

for (const [what, recipients, steps] of [
  ['a backup', [], PLAIN],
  ['an encrypted backup', [RECIPIENT], ENCRYPTED],
] as const)
  test(`whatever step ${what} ends in, it is not listed, and the next one removes what it left`, async (t) => {
    const app = await openWithAccount(t, [...recipients]);
    const { dataDir } = app.config;
    const folder = temporaryDirectory('backups');
    const left = new Map<string, { folder: string; scratch: string }>();
    const crashPoint = (point: string) => {
      const copy = { folder: temporaryDirectory('killed'), scratch: temporaryDirectory('killed') };
      copyInto(folder, copy.folder);
      for (const name of scratchIn(dataDir))
        cpSync(join(dataDir, name), join(copy.scratch, name), { recursive: true });
      left.set(point, copy);
    };
    await createBackup({ ...app, crashPoint }, folder);
    assert.deepEqual([...left.keys()], steps);
    for (const [point, copy] of left) {
      assert.equal(readdirSync(copy.folder).length, 1, point);
      assert.equal(
        scratchIn(copy.scratch).length,
        recipients.length > 0 && point !== 'backup-complete' ? 1 : 0,
      );
      assert.deepEqual(await listBackups(copy.folder), [], point);
      copyInto(copy.scratch, dataDir);
      const { path } = await createBackup(app, copy.folder);
      assert.deepEqual(
        [join(copy.folder, ...readdirSync(copy.folder)), scratchIn(dataDir)],
        [path, []],
        point,
      );
      assert.deepEqual((await verifyBackup(path)).findings, [], point);
    }
  });

test('until the replacement is certain, a restoration that ends leaves the old data, and the next one succeeds', async (t) => {
  const app = await openWithAccount(t);
  const { path: backup } = await createBackup(app, temporaryDirectory('backups'));
  const log = createLog('silent');
  const configOf = (dataDir: string) =>
    loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' } });
  const restore = (dataDir: string, crashPoint: (point: string) => void) =>
    restoreBackup({
      ...{ backup, identities: [], config: configOf(dataDir), now: Date.UTC(2026, 10, 29), crashPoint },
      open: (config: Config) => openApp(config, { log }),
    });
  const dataDir = temporaryDirectory('restore');
  await (await openApp(configOf(dataDir), { log }))[Symbol.asyncDispose]();
  const left = new Map<string, string>();
  await restore(dataDir, (point) => {
    const copy = temporaryDirectory('killed');
    copyInto(dataDir, copy, 'lock.db');
    left.set(point, copy);
  });
  assert.deepEqual([...left.keys()], ['restore-copied', 'restore-marked', 'restore-replacing']);
  for (const [point, copy] of left) {
    await using started = await openApp(configOf(copy), { log });
    assert.equal(started.egress.isHeld, point === 'restore-replacing', point);
    const mailboxes = await started.db.read.selectFrom('mailboxes').select('id').execute();
    assert.equal(mailboxes.length, point === 'restore-replacing' ? 1 : 0, point);
  }
  for (const copy of left.values()) await restore(copy, () => {});
});
