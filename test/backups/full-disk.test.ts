/** The disk of the backups is full while one is made. The disk is a small one in memory, which needs root. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { type BackupApp, createBackup } from '../../src/backups/create.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

/** Public key of nobody. */
const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** Returns a folder on a disk of its own; undefined when this user may not mount one. */
function mountDisk(t: TestContext, kilobytes: number): { folder: string; enlarge(): void } | undefined {
  const folder = temporaryDirectory('disk');
  const options = (size: number) => ['-t', 'tmpfs', '-o', `size=${size}k`, 'tmpfs', folder];
  if (spawnSync('mount', options(kilobytes)).status !== 0) return undefined;
  t.after(() => execFileSync('umount', [folder]));
  return { folder, enlarge: () => execFileSync('mount', ['-o', 'remount,size=64m', folder]) };
}

const email = (subject: string) => ({
  body: {
    from: 'hello@sandbox.mx.postrider.example',
    to: ['delivered@simulator.mx.postrider.example'],
    ...{ subject, text: 'Hello', type: 'transactional' },
    attachments: [{ filename: 'a.bin', content: Buffer.alloc(2_000_000, 'x').toString('base64') }],
  },
});

for (const { what, kilobytes, recipients, error } of [
  { what: 'the copy of the database', kilobytes: 128, recipients: [], error: /full|ENOSPC/ },
  { what: 'the copies of files', kilobytes: 2_048, recipients: [], error: /ENOSPC/ },
  { what: 'the archive', kilobytes: 2_048, recipients: [RECIPIENT], error: /could not be encrypted: ENOSPC/ },
])
  test(`${what} that the disk cannot hold leaves nothing, mail is accepted, and the next backup succeeds`, async (t) => {
    const disk = mountDisk(t, kilobytes);
    if (!disk) return t.skip('only root can mount a disk');
    const { app, dataDir, request, close } = await openTestApp();
    t.after(close);
    assert.equal((await request('POST', '/v1/emails', email('before'))).status, 200);
    const backupApp: BackupApp = {
      ...app,
      config: { ...app.config, backup: { ...app.config.backup, recipients } },
      copyAccount: copyClosed(dataDir),
      // The space was there when the backup began.
      statDisk: async () => ({ freeBytes: 2 ** 40, totalBytes: 2 ** 41 }),
    };
    await assert.rejects(createBackup(backupApp, disk.folder), error);
    assert.deepEqual(readdirSync(disk.folder), []);
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.startsWith('scratch-')),
      [],
    );
    assert.equal((await request('POST', '/v1/emails', email('after'))).status, 200);
    disk.enlarge();
    const { path } = await createBackup(backupApp, disk.folder);
    assert.deepEqual((await verifyBackup(path)).findings, []);
  });
