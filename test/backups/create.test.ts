import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { createBackup } from '../../src/backups/create.ts';
import { backupFolder, FACTS_FILE, listBackups, newestBackup, readFacts } from '../../src/backups/format.ts';
import { pruneBackups } from '../../src/backups/prune.ts';
import { hashFile } from '../../src/backups/sums.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { readInstallationFile, writeInstallationFile } from '../../src/db/installation/file.ts';
import type { System } from '../../src/system/system.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = Date.UTC(2026, 10, 29, 2, 30);
const LARGE = Buffer.alloc(600_000, 'large attachment ');

/** Opens an application that has accepted an email with a large attachment. */
async function openWithMail(t: TestContext, system: Partial<System> = {}) {
  const clock = createFakeClock(NOW);
  const opened = await openTestApp({ system: { clock, ...system } });
  t.after(opened.close);
  const { app, dataDir, request } = opened;
  const { status } = await request('POST', '/v1/emails', {
    body: {
      from: 'hello@sandbox.mx.postrider.example',
      to: ['delivered@simulator.mx.postrider.example'],
      subject: 'Backed up',
      text: 'Hello',
      type: 'transactional',
      attachments: [{ filename: 'a.bin', content: LARGE.toString('base64') }],
    },
  });
  assert.equal(status, 200);
  const backupApp = { ...app, copyAccount: copyClosed(dataDir) };
  return { ...opened, clock, backupApp, folder: backupFolder(app.config) };
}

test('a backup has the files that belong together, and verifies', async (t) => {
  const { backupApp, folder, dataDir } = await openWithMail(t);
  mkdirSync(join(dataDir, 'tls', 'own'), { recursive: true });
  writeFileSync(join(dataDir, 'tls', 'own', 'key.pem'), 'a key');
  const { path, facts } = await createBackup(backupApp, folder);
  assert.equal(path, join(folder, 'postrider-20261129T023000Z'));
  assert.deepEqual(await verifyBackup(path), { facts, findings: [], isOpened: true });
  assert.deepEqual(readdirSync(path).sort(), [
    'SHA256SUMS',
    'backup.json',
    'blobs',
    'installation.json',
    'mailboxes',
    'master.key',
    'postrider.db',
    'tls',
  ]);
  assert.ok(existsSync(join(path, 'tls', 'own', 'key.pem')));
  assert.equal(statSync(path).mode & 0o777, 0o700);
});

test('a folder of backups inside the data directory is not copied into a backup', async (t) => {
  const { backupApp, dataDir } = await openWithMail(t);
  mkdirSync(join(dataDir, 'own'));
  writeFileSync(join(dataDir, 'own', 'note'), 'kept');
  const { path } = await createBackup(backupApp, join(dataDir, 'own', 'backups'));
  assert.deepEqual(readdirSync(join(path, 'own')), ['note']);
});

test('a folder of backups inside the data directory is known under another path, too', async (t) => {
  const { backupApp, dataDir } = await openWithMail(t);
  mkdirSync(join(dataDir, 'own'));
  writeFileSync(join(dataDir, 'own', 'note'), 'kept');
  const link = join(temporaryDirectory('links'), 'data');
  symlinkSync(dataDir, link);
  const { path } = await createBackup(backupApp, join(link, 'own', 'backups'));
  assert.deepEqual(readdirSync(join(path, 'own')), ['note']);
});

test('the folder of the file system in a data directory that is a mount point is not read', async (t) => {
  const { backupApp, folder, dataDir } = await openWithMail(t);
  mkdirSync(join(dataDir, 'lost+found'));
  const { path } = await createBackup(backupApp, folder);
  assert.ok(!existsSync(join(path, 'lost+found')));
});

test('files of messages are linked', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const { path } = await createBackup(backupApp, folder);
  const [file = ''] = filesBelow(join(path, 'blobs'));
  assert.equal(statSync(file).nlink, 2);
});

test('a file that is discarded while a backup is made stays until a later sweep', async (t) => {
  const { app, dataDir } = await openWithMail(t);
  const row = await app.blobs.prepare([Buffer.alloc(500_000, 'x')]);
  await app.blobs.holds.during(() => app.blobs.discard(row));
  const file = join(dataDir, 'blobs', row.sha256.slice(0, 2), row.sha256);
  assert.ok(existsSync(file));
  await app.blobs.discard(row);
  assert.ok(!existsSync(file));
});

test('verify finds each kind of damage', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const problemOf = async (damage: (path: string) => void) => {
    rmSync(folder, { recursive: true, force: true });
    const { path } = await createBackup(backupApp, folder);
    damage(path);
    const { findings } = await verifyBackup(path);
    return findings.map(({ path: file, problem }) => `${file.split('/')[0]}: ${problem}`);
  };
  assert.deepEqual(await problemOf((path) => writeFileSync(join(path, 'master.key'), 'other')), [
    'master.key: its bytes were changed',
  ]);
  assert.deepEqual(await problemOf((path) => rmSync(join(path, 'installation.json'))), [
    'installation.json: it is missing',
  ]);
  const [unread = ''] = await problemOf((path) => rmSync(join(path, 'SHA256SUMS')));
  assert.match(unread, /^SHA256SUMS: it cannot be read \(ENOENT/);
  assert.deepEqual(await problemOf((path) => writeFileSync(join(path, 'SHA256SUMS'), '')), [
    'SHA256SUMS: it was changed',
  ]);
  assert.deepEqual(await problemOf((path) => truncateSync(join(path, 'postrider.db'), 8_192)), [
    'postrider.db: its bytes were changed',
    'postrider.db: it is missing or damaged',
  ]);
  const [missing] = await problemOf((path) => rmSync(filesBelow(join(path, 'blobs'))[0] ?? ''));
  assert.equal(missing, 'blobs: it is missing');
});

test('verify opens the databases, also when their hashes are right', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const { path, facts } = await createBackup(backupApp, folder);
  truncateSync(join(path, 'postrider.db'), 40_960);
  const sums = `${await hashFile(join(path, 'postrider.db'))}  postrider.db\n`;
  writeFileSync(join(path, 'SHA256SUMS'), sums);
  const changed = { ...facts, sums: await hashFile(join(path, 'SHA256SUMS')) };
  writeFileSync(join(path, FACTS_FILE), JSON.stringify(changed));
  const { findings } = await verifyBackup(path);
  assert.equal(findings[0]?.path, 'postrider.db');
});

test('a path that leaves the backup is not followed', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const { path, facts } = await createBackup(backupApp, folder);
  writeFileSync(join(path, 'SHA256SUMS'), `${'0'.repeat(64)}  ../../master.key\n`);
  const changed = { ...facts, sums: await hashFile(join(path, 'SHA256SUMS')) };
  writeFileSync(join(path, FACTS_FILE), JSON.stringify(changed));
  const { findings } = await verifyBackup(path);
  assert.equal(findings[0]?.problem, 'SHA256SUMS has a line that is none');
});

test('a folder that is not complete, or of a later form, is refused with the reason', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const { path, facts } = await createBackup(backupApp, folder);
  writeFileSync(join(path, FACTS_FILE), JSON.stringify({ ...facts, format: 3, version: '9.1.0' }));
  assert.throws(() => readFacts(path), /does not know: use 9\.1\.0 or a later version/);
  rmSync(join(path, FACTS_FILE));
  assert.throws(() => readFacts(path), /is not a complete backup/);
  assert.deepEqual(await listBackups(folder), []);
});

test('only the newest backups are kept, and unfinished ones are removed', async (t) => {
  const { app, backupApp, folder, clock } = await openWithMail(t);
  const { id } = app.db.installation;
  mkdirSync(join(folder, `partial-${id}-postrider-20200101T000000Z`), { recursive: true });
  for (let day = 0; day < 3; day++) {
    await createBackup(backupApp, folder);
    await clock.advance(86_400_000);
  }
  assert.equal((await pruneBackups({ folder, keep: 2, installation: id, now: clock.now() })).length, 1);
  assert.deepEqual(readdirSync(folder).sort(), ['postrider-20261130T023000Z', 'postrider-20261201T023000Z']);
});

test('installations that share a folder keep their own backups, and neither removes those of the other', async (t) => {
  const [ours, theirs] = [await openWithMail(t), await openWithMail(t)];
  const folder = temporaryDirectory('shared');
  const file = readInstallationFile(theirs.dataDir);
  assert.ok(file);
  // All applications of the tests are copies of one.
  writeInstallationFile(theirs.dataDir, { ...file, id: 'another' });
  const partial = join(folder, 'partial-another-postrider-20200101T000000Z');
  mkdirSync(partial);
  await createBackup(ours.backupApp, folder);
  assert.ok(existsSync(partial));
  await createBackup(theirs.backupApp, folder);
  // Both have begun in the same second.
  assert.deepEqual(readdirSync(folder), ['postrider-20261129T023000Z', 'postrider-20261129T023001Z']);
  await ours.clock.advance(60_000);
  await createBackup(ours.backupApp, folder);
  const { id: installation } = ours.app.db.installation;
  const removed = await pruneBackups({ folder, keep: 1, installation, now: ours.clock.now() });
  assert.deepEqual(
    removed.map(({ name }) => name),
    ['postrider-20261129T023000Z'],
  );
  const newest = (dataDir: string) => newestBackup(dataDir, folder);
  assert.equal(await newest(ours.dataDir), join(folder, 'postrider-20261129T023100Z'));
  assert.equal(await newest(theirs.dataDir), join(folder, 'postrider-20261129T023001Z'));
  await assert.rejects(newest('/missing'), /has backups of several installations: give the path of one/);
});

test('a backup that would fill the disk is refused before anything is written', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  const small = { ...backupApp, statDisk: async () => ({ freeBytes: 512 * 2 ** 20, totalBytes: 2 ** 40 }) };
  await assert.rejects(createBackup(small, folder), /A backup needs \d+ MB in .* leaves 512 MB free/);
  assert.deepEqual(readdirSync(folder), []);
});

test('a backup that fails leaves nothing, and the next one succeeds', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  let left = 1;
  const crashPoint = (point: string) => {
    if (point === 'backup-files' && left-- > 0) throw new Error('the disk is full');
  };
  await assert.rejects(createBackup({ ...backupApp, crashPoint }, folder), /the disk is full/);
  assert.deepEqual(readdirSync(folder), []);
  await createBackup({ ...backupApp, crashPoint }, folder);
});

test('a folder that no file system can make is refused at once', async (t) => {
  const { backupApp } = await openWithMail(t);
  await assert.rejects(createBackup(backupApp, '/proc/x/backups'), { code: 'ENOENT', syscall: 'mkdir' });
});

test('one backup is made at a time, and the age of the newest is a metric', async (t) => {
  const { backupApp, clock } = await openWithMail(t);
  const backups = createBackups(backupApp);
  const age = async () => /backup_age_seconds (-?\d+)$/m.exec((await backupApp.metrics.show()).text)?.[1];
  assert.equal(await age(), '-1');
  const first = backups.create();
  await assert.rejects(backups.create(), /Another backup is being made/);
  await first;
  await clock.advance(5_000);
  assert.equal(await age(), '5');
});

test('a folder of backups that cannot be read keeps no metric from being shown', async (t) => {
  const { backupApp, folder } = await openWithMail(t);
  writeFileSync(folder, 'no folder');
  createBackups(backupApp);
  assert.match((await backupApp.metrics.show()).text, /backup_age_seconds -1$/m);
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}
