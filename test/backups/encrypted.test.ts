import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { packTar } from 'modern-tar';
import { copyClosed } from '../../src/accounts/copy.ts';
import { openApp } from '../../src/app.ts';
import { type BackupApp, createBackup } from '../../src/backups/create.ts';
import { ARCHIVE_FILE, backupFolder, listBackups } from '../../src/backups/format.ts';
import { readIdentities } from '../../src/backups/identities.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import { hashFile } from '../../src/backups/sums.ts';
import { unpackEncrypted } from '../../src/backups/unpack.ts';
import { verifyBackup } from '../../src/backups/verify.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/system/log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const SECRET_TEXT = 'nobody reads this without the key';

/** Opens an application that has accepted mail and encrypts its backups. */
async function openEncrypting(t: TestContext) {
  const identity = await generateX25519Identity();
  const opened = await openTestApp();
  t.after(opened.close);
  const { app, dataDir, request } = opened;
  const { status } = await request('POST', '/v1/emails', {
    body: {
      from: 'hello@sandbox.mx.postrider.example',
      to: ['delivered@simulator.mx.postrider.example'],
      subject: SECRET_TEXT,
      text: 'Hello',
      type: 'transactional',
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(600_000, 'x').toString('base64') }],
    },
  });
  assert.equal(status, 200);
  const recipients = [await identityToRecipient(identity)];
  const config = { ...app.config, backup: { ...app.config.backup, recipients } };
  const backupApp: BackupApp = { ...app, config, copyAccount: copyClosed(dataDir) };
  return {
    backupApp,
    dataDir,
    identity,
    folder: backupFolder(config),
    scratch: temporaryDirectory('scratch'),
  };
}

/** Returns the names of what was left in a directory for a while. */
const scratchIn = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('scratch-'));

test('an encrypted backup has nothing that can be read without the key, and verifies with it', async (t) => {
  const { backupApp, dataDir, folder, identity, scratch } = await openEncrypting(t);
  const { path, facts } = await createBackup(backupApp, folder);
  assert.deepEqual(readdirSync(path).sort(), ['SHA256SUMS', 'backup.json', ARCHIVE_FILE].sort());
  const archive = readFileSync(join(path, ARCHIVE_FILE));
  assert.match(archive.toString('latin1', 0, 30), /^age-encryption\.org\/v1\n/);
  for (const text of [SECRET_TEXT, 'SQLite format 3', 'master.key']) assert.ok(!archive.includes(text));
  assert.ok(archive.length > facts.bytes);
  assert.equal(statSync(join(path, ARCHIVE_FILE)).mode & 0o777, 0o600);
  const line = `${await hashFile(join(path, ARCHIVE_FILE))}  ${ARCHIVE_FILE}\n`;
  assert.equal(readFileSync(join(path, 'SHA256SUMS'), 'utf8'), line);
  assert.deepEqual(
    (await listBackups(folder)).map((one) => one.path),
    [path],
  );
  assert.deepEqual(await verifyBackup(path), { facts, findings: [], isOpened: false });
  const opened = await verifyBackup(path, { identities: [identity], directory: scratch });
  assert.deepEqual(opened, { facts, findings: [], isOpened: true });
  assert.deepEqual([scratchIn(dataDir), scratchIn(scratch)], [[], []]);
});

test('the archive has a backup that is not encrypted, and can be used as one', async (t) => {
  const { backupApp, folder, identity, scratch } = await openEncrypting(t);
  const { path, facts } = await createBackup(backupApp, folder);
  await unpackEncrypted(join(path, ARCHIVE_FILE), scratch, [identity]);
  const verified = await verifyBackup(scratch);
  assert.deepEqual(verified.findings, []);
  assert.equal(verified.facts.installation, facts.installation);
  assert.ok(existsSync(join(scratch, 'master.key')));
});

test('verify finds a changed archive, which cannot be unpacked either', async (t) => {
  const { backupApp, folder, identity, scratch } = await openEncrypting(t);
  const { path } = await createBackup(backupApp, folder);
  const archive = join(path, ARCHIVE_FILE);
  const bytes = readFileSync(archive);
  bytes[bytes.length - 1] = 1 + (bytes.at(-1) ?? 0);
  writeFileSync(archive, bytes);
  const { findings } = await verifyBackup(path, { identities: [identity], directory: scratch });
  assert.deepEqual(findings, [{ path: ARCHIVE_FILE, problem: 'its bytes were changed' }]);
  await assert.rejects(unpackEncrypted(archive, scratch, [identity]), { name: 'BackupError' });
});

test('an archive that was cut off is refused', async (t) => {
  const { backupApp, folder, identity, scratch } = await openEncrypting(t);
  const { path } = await createBackup(backupApp, folder);
  const archive = join(path, ARCHIVE_FILE);
  writeFileSync(archive, readFileSync(archive).subarray(0, -70_000));
  await assert.rejects(unpackEncrypted(archive, scratch, [identity]), { name: 'BackupError' });
});

test('an encrypted backup is restored with its key alone, and nothing unpacked stays', async (t) => {
  const { backupApp, folder, identity } = await openEncrypting(t);
  const { path: backup } = await createBackup(backupApp, folder);
  const dataDir = join(temporaryDirectory('restored'), 'data');
  const config = loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' } });
  const restore = (identities: string[]) =>
    restoreBackup({
      ...{ backup, identities, config, now: 0, crashPoint: () => {} },
      open: (staged: Config) => openApp(staged, { log: createLog('silent') }),
    });
  await assert.rejects(restore([]), /is encrypted: give the file of the secret key \(--identity\)/);
  await assert.rejects(restore([await generateX25519Identity()]), /cannot be opened: no identity matched/);
  await restore([identity]);
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => !name.startsWith('lock.db')),
    ['blobs', 'installation.json', 'master.key', 'postrider.db', 'restored.json'],
  );
  await using app = await openApp(config, { log: createLog('silent') });
  assert.ok(app.egress.isHeld);
});

test('an encrypted backup that fails leaves nothing, and the next one succeeds', async (t) => {
  const { backupApp, dataDir, folder } = await openEncrypting(t);
  const crashPoint = (point: string) => {
    if (point === 'backup-encrypting') throw new Error('the disk is full');
  };
  await assert.rejects(createBackup({ ...backupApp, crashPoint }, folder), /the disk is full/);
  assert.deepEqual([readdirSync(folder), scratchIn(dataDir)], [[], []]);
  await createBackup(backupApp, folder);
});

test('a backup keeps the recipients that it began with, also when a reload takes them away', async (t) => {
  const { backupApp, folder } = await openEncrypting(t);
  const settings = { ...backupApp.config.backup };
  const { recipients } = settings;
  const crashPoint = () => {
    settings.recipients = [];
  };
  const config = { ...backupApp.config, backup: settings };
  const { facts } = await createBackup({ ...backupApp, config, crashPoint }, folder);
  assert.deepEqual(facts.recipients, recipients);
});

test('an error of the thread that encrypts is the error of the backup', async (t) => {
  const { backupApp, folder, dataDir } = await openEncrypting(t);
  const backup = { ...backupApp.config.backup, recipients: ['age1nobody'] };
  const wrong = { ...backupApp, config: { ...backupApp.config, backup } };
  await assert.rejects(createBackup(wrong, folder), /the backup could not be encrypted: /);
  assert.deepEqual([readdirSync(folder), scratchIn(dataDir)], [[], []]);
});

test('an archive with links, or with paths that lead out of the folder, is refused', async () => {
  const identity = await generateX25519Identity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  const headers = [
    { name: 'backup/../../outside', size: 0 },
    { name: 'backup/', size: 0, type: 'directory' },
    { name: 'backup/link', size: 0, type: 'symlink', linkname: '/etc/passwd' },
    { name: 'backup/link', size: 0, type: 'link', linkname: 'backup/other' },
  ] as const;
  for (const header of headers) {
    const archive = join(temporaryDirectory('archive'), ARCHIVE_FILE);
    writeFileSync(archive, await encrypter.encrypt(await packTar([{ header }])));
    await assert.rejects(
      unpackEncrypted(archive, temporaryDirectory('unpacked'), [identity]),
      { name: 'BackupError', message: /has an entry that is no file of a backup/ },
      header.name,
    );
  }
});

test('a file of keys is read as age-keygen writes it, and its mistakes are named without showing them', async () => {
  const identity = await generateX25519Identity();
  const file = join(temporaryDirectory('keys'), 'key.txt');
  const read = (text: string) => {
    writeFileSync(file, text);
    return readIdentities(file);
  };
  assert.deepEqual(read(`# created: today\n# public key: age1…\n${identity}\n`), [identity]);
  assert.throws(() => read('# nothing\n'), /has no key/);
  assert.throws(() => read('age-encryption.org/v1\n-> scrypt'), /is protected by a passphrase/);
  const damaged = identity.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
  assert.throws(() => read(damaged), { name: 'BackupError', message: `${file} has a damaged key` });
  assert.throws(() => read('secret'), { message: `${file} has a line that is no key (AGE-SECRET-KEY-1…)` });
  assert.throws(() => readIdentities('/missing/key'), /cannot be read: ENOENT/);
});
