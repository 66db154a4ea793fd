import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { copyClosed } from '../../src/accounts/copy.ts';
import { openApp } from '../../src/app.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { createBackup } from '../../src/backups/create.ts';
import { findRestoration, releaseRestored } from '../../src/backups/release.ts';
import { restoreBackup } from '../../src/backups/restore.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { findRestoredAt } from '../../src/db/installation/store.ts';
import { HeldEgressError } from '../../src/system/egress.ts';
import { createLog } from '../../src/system/log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { openTestApp } from '../support/test-app.ts';

const NOW = Date.UTC(2026, 10, 29);
const log = createLog('silent');

/** Makes a backup of an application with one email, and returns its path. */
async function makeBackup(t: TestContext): Promise<string> {
  const { app, dataDir, request, close } = await openTestApp();
  t.after(close);
  const { status } = await request('POST', '/v1/emails', {
    body: {
      from: 'hello@sandbox.mx.postrider.example',
      to: ['delivered@simulator.mx.postrider.example'],
      subject: 'Backed up',
      text: 'Hello',
      type: 'transactional',
      attachments: [{ filename: 'a.bin', content: Buffer.alloc(600_000, 'x').toString('base64') }],
    },
  });
  assert.equal(status, 200);
  const { path } = await createBackup(
    { ...app, copyAccount: copyClosed(dataDir) },
    temporaryDirectory('backups'),
  );
  return path;
}

function configOf(dataDir: string): Config {
  return loadConfig({ env: { POSTRIDER_DATA_DIR: dataDir, POSTRIDER_LOG_LEVEL: 'silent' } });
}

function restore(backup: string, dataDir: string, crashPoint: (point: string) => void = () => {}) {
  const open = (config: Config) => openApp(config, { log });
  return restoreBackup({ backup, identities: [], config: configOf(dataDir), now: NOW, open, crashPoint });
}

/** Opens a restored application. */
async function openRestored(t: TestContext, dataDir: string) {
  const app = await openApp(configOf(dataDir), { log });
  t.after(() => app[Symbol.asyncDispose]());
  return app;
}

test('a restored directory opens with the mail of the backup, and keeps back what would leave', async (t) => {
  const dataDir = join(temporaryDirectory('restore'), 'data');
  const restored = await restore(await makeBackup(t), dataDir);
  assert.partialDeepStrictEqual(restored, { dataDir, mailboxes: 0, replaced: null });
  assert.ok(!existsSync(join(dataDir, 'restore')) && !existsSync(join(dataDir, 'restore.json')));
  const app = await openRestored(t, dataDir);
  assert.equal(app.db.installation.alarm, undefined);
  assert.ok(app.egress.isHeld);
  await assert.rejects(app.dial({ address: '192.0.2.1', port: 25, timeoutMs: 1 }), HeldEgressError);
  const post = {
    method: 'POST',
    url: 'https://192.0.2.1/',
    headers: {},
    timeoutMs: 1,
    maxResponseBytes: 1,
  } as const;
  await assert.rejects(app.fetch(post), HeldEgressError);
  const { restoredAt, last, mail } = await findRestoration(app);
  assert.equal(restoredAt, NOW);
  const { takenAt, version } = restored.facts;
  assert.partialDeepStrictEqual(last, { restoredAt: NOW, takenAt, version, mailboxes: 0, replaced: null });
  assert.equal(mail.due, 1);
  await releaseRestored(app);
  assert.ok(!app.egress.isHeld);
  assert.equal(await findRestoredAt(app.db.read), null);
});

test('what begins with the release by the configuration is shown before it', async (t) => {
  const dataDir = join(temporaryDirectory('restore'), 'data');
  await restore(await makeBackup(t), dataDir);
  const app = await openRestored(t, dataDir);
  const none = await findRestoration({
    ...app,
    config: { ...app.config, backup: { ...app.config.backup, time: '' } },
  });
  assert.partialDeepStrictEqual(none, { dnsUpdates: null, dailyBackup: null, copyCommand: null });
  const update = { ...app.config.dns.update, server: '192.0.2.53', zones: ['zone.example'] };
  const backup = { ...app.config.backup, folder: '/shared', time: '03:00', command: ['copy', '{path}'] };
  const config = { ...app.config, backup, dns: { ...app.config.dns, update } };
  assert.partialDeepStrictEqual(await findRestoration({ ...app, config }), {
    dnsUpdates: { server: '192.0.2.53', zones: ['zone.example'] },
    dailyBackup: { time: '03:00', folder: '/shared' },
    copyCommand: ['copy', '{path}'],
  });
});

test('a restored installation makes no backup in the folder that it may share, and makes others', async (t) => {
  const dataDir = join(temporaryDirectory('restore'), 'data');
  await restore(await makeBackup(t), dataDir);
  const app = await openRestored(t, dataDir);
  const folder = temporaryDirectory('shared');
  const config = { ...app.config, backup: { ...app.config.backup, folder } };
  const backups = createBackups({ ...app, config, copyAccount: copyClosed(dataDir) });
  const link = join(temporaryDirectory('links'), 'shared');
  symlinkSync(folder, link);
  for (const path of [undefined, link])
    await assert.rejects(backups.create(path), /may be that of the one that it is a copy of/);
  await backups.create(temporaryDirectory('other'));
});

test('the data that was there is kept beside the restored one, and backups stay where they are', async (t) => {
  const backup = await makeBackup(t);
  const dataDir = temporaryDirectory('restore');
  await restore(backup, dataDir);
  writeFileSync(join(dataDir, 'note'), 'mine');
  mkdirSync(join(dataDir, 'backups'));
  const { replaced } = await restore(backup, dataDir);
  assert.equal(replaced, join(dataDir, `replaced-${NOW}`));
  assert.ok(existsSync(join(replaced ?? '', 'postrider.db')) && existsSync(join(replaced ?? '', 'note')));
  assert.deepEqual(
    readdirSync(dataDir)
      .filter((name) => !name.startsWith('lock.db'))
      .sort(),
    [
      'SHA256SUMS',
      'backups',
      'blobs',
      'installation.json',
      'master.key',
      'postrider.db',
      `replaced-${NOW}`,
      'restored.json',
    ].filter((name) => name !== 'SHA256SUMS'),
  );
});

for (const [what, damage] of [
  ['a changed file', (path: string) => writeFileSync(join(path, 'master.key'), 'other')],
  ['a missing file', (path: string) => rmSync(join(path, 'installation.json'))],
  ['a changed list', (path: string) => writeFileSync(join(path, 'SHA256SUMS'), '')],
  ['no facts', (path: string) => rmSync(join(path, 'backup.json'))],
] as const)
  test(`a backup with ${what} is refused, and the old data stays`, async (t) => {
    const backup = await makeBackup(t);
    const dataDir = temporaryDirectory('restore');
    await restore(backup, dataDir);
    const before = readFileSync(join(dataDir, 'installation.json'), 'utf8');
    damage(backup);
    await assert.rejects(restore(backup, dataDir), { name: 'BackupError' });
    assert.equal(readFileSync(join(dataDir, 'installation.json'), 'utf8'), before);
    assert.ok(!existsSync(join(dataDir, 'restore')));
    await openRestored(t, dataDir);
  });

test('a restoration is refused while the directory is in use', async (t) => {
  const backup = await makeBackup(t);
  const dataDir = temporaryDirectory('restore');
  await restore(backup, dataDir);
  await openRestored(t, dataDir);
  await assert.rejects(restore(backup, dataDir), { name: 'LockedError' });
});

test('a start completes a replacement that was interrupted after it was certain', async (t) => {
  const backup = await makeBackup(t);
  const dataDir = temporaryDirectory('restore');
  await restore(backup, dataDir);
  await (
    await openApp(configOf(dataDir), { log }).then(async (app) => {
      await releaseRestored(app);
      return app;
    })
  )[Symbol.asyncDispose]();
  const interrupt = (point: string) => {
    if (point === 'restore-replacing') throw new Error('killed');
  };
  await assert.rejects(restore(backup, dataDir, interrupt), /killed/);
  assert.ok(existsSync(join(dataDir, 'restore.json')));
  const app = await openRestored(t, dataDir);
  assert.ok(app.egress.isHeld);
  assert.ok(existsSync(join(dataDir, `replaced-${NOW}`, 'postrider.db')));
  assert.ok(!existsSync(join(dataDir, 'restore.json')));
});
