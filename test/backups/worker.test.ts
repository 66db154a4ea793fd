import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Backups } from '../../src/backups/backups.ts';
import { backupName, FACTS_FILE, listBackups } from '../../src/backups/format.ts';
import { createDailyBackup } from '../../src/backups/worker.ts';
import { loadConfig } from '../../src/config/config.ts';
import { openToReload } from '../../src/reload.ts';
import { EgressGate } from '../../src/system/egress.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { recordLog } from '../support/record-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const HOUR_MS = 3_600_000;

/** Returns the daily backup at 02:30 of a daemon that has started at 2026-11-29 12:00, and the times at which backups were made. */
function openDaily({ fails = (): boolean => false, time = '02:30' } = {}) {
  const [dataDir, folder] = [temporaryDirectory('data'), temporaryDirectory('daily')];
  const env = {
    POSTRIDER_DATA_DIR: dataDir,
    POSTRIDER_BACKUP_FOLDER: folder,
    POSTRIDER_BACKUP_TIME: time,
    POSTRIDER_BACKUP_KEEP: '2',
  };
  const fake = createFakeClock(Date.UTC(2026, 10, 29, 12));
  let shiftMs = 0;
  const clock = { ...fake, now: () => fake.now() + shiftMs };
  const made: string[] = [];
  const backups: Pick<Backups, 'create'> = {
    async create() {
      if (fails()) throw new Error('the disk is full');
      const takenAt = clock.now();
      const name = backupName(takenAt);
      const path = join(folder, name);
      mkdirSync(path);
      const facts = {
        ...{ format: 1, version: '1', installation: 'i', takenAt, tookMs: 1, files: 1, bytes: 1 },
        ...{ mailboxes: 0, damagedMailboxes: [], sums: '0'.repeat(64) },
      };
      writeFileSync(join(path, FACTS_FILE), JSON.stringify(facts));
      made.push(new Date(takenAt).toISOString().slice(0, 16));
      return { name, path, facts, copyFailure: null };
    },
  };
  const egress = new EgressGate();
  const { log } = recordLog();
  const config = openToReload(loadConfig({ env }));
  const work = createDailyBackup({ clock, config, egress, log, backups });
  return {
    config,
    made,
    clock,
    /** Sets the wall clock alone. */
    setClock(byMs: number) {
      shiftMs += byMs;
    },
    egress,
    folder,
    /** Runs what is due, hour by hour. */
    async pass(hours: number) {
      for (let hour = 0; hour < hours; hour++) {
        for (const item of (await work.lease(1)).items) await work.run(item);
        await clock.advance(HOUR_MS);
      }
    },
    nextDueAt: async () => (await work.lease(1)).nextDueAt,
  };
}

test('a backup that was missed is made at once, and then one a day at its time', async () => {
  const daily = openDaily();
  await daily.pass(1);
  assert.equal(new Date((await daily.nextDueAt()) ?? 0).toISOString(), '2026-11-30T02:30:00.000Z');
  await daily.pass(39);
  assert.deepEqual(daily.made, ['2026-11-29T12:00', '2026-11-30T03:00', '2026-12-01T03:00']);
  assert.equal((await listBackups(daily.folder)).length, 2);
});

test('a time and a number that were read again count from the next backup on', async () => {
  const daily = openDaily();
  await daily.pass(24);
  Object.assign(daily.config.backup, { time: '06:00', keep: 1 });
  await daily.pass(24);
  assert.deepEqual(daily.made.slice(2), ['2026-11-30T12:00', '2026-12-01T06:00']);
  assert.equal((await listBackups(daily.folder)).length, 1);
});

test('a backup that fails is tried again an hour later', async () => {
  let failures = 2;
  const daily = openDaily({ fails: () => failures-- > 0 });
  await daily.pass(4);
  assert.deepEqual(daily.made, ['2026-11-29T14:00']);
});

test('a folder that cannot be read is tried again an hour later', async () => {
  const daily = openDaily({ fails: () => true });
  rmSync(daily.folder, { recursive: true });
  writeFileSync(daily.folder, 'no folder');
  await daily.pass(1);
  assert.equal(await daily.nextDueAt(), daily.clock.now() + HOUR_MS);
});

test('a clock that is set back or forward delays no backup, makes none twice, and keeps those that are made', async () => {
  const daily = openDaily();
  await daily.pass(48);
  daily.setClock(-10 * 24 * HOUR_MS);
  await daily.pass(48);
  daily.setClock(20 * 24 * HOUR_MS);
  await daily.pass(2);
  assert.deepEqual(daily.made, [
    ...['2026-11-29T12:00', '2026-11-30T03:00', '2026-12-01T03:00'],
    ...['2026-11-21T12:00', '2026-11-22T03:00', '2026-11-23T03:00'],
    '2026-12-13T12:00',
  ]);
  const kept = (await listBackups(daily.folder)).map(({ facts }) => new Date(facts.takenAt).toISOString());
  assert.deepEqual(kept, ['2026-11-23T03:00:00.000Z', '2026-12-13T12:00:00.000Z']);
});

test('a restored installation makes no backup by itself before it is released', async () => {
  const daily = openDaily();
  daily.egress.hold();
  await daily.pass(48);
  assert.deepEqual(daily.made, []);
  daily.egress.release();
  await daily.pass(1);
  assert.equal(daily.made.length, 1);
});

test('without a time no backup is made', async () => {
  const daily = openDaily({ time: '' });
  await daily.pass(48);
  assert.deepEqual(daily.made, []);
});
