import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Db } from '../../../src/db/database.ts';
import { advanceInstallation } from '../../../src/db/installation/store.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { openTestDatabase, temporaryDirectory } from '../open.ts';
import { addPlan } from '../operations.ts';

const NOW = Date.UTC(2030, 0, 1);
const WEEK_MS = 7 * 86_400_000;

type Options = { newDatabase?: boolean; clock?: FakeClock };

function open(t: TestContext, directory: string, options: Options = {}) {
  return openTestDatabase(t, { directory, readers: 0, clock: createFakeClock(NOW), ...options });
}

/** Starts the database in this directory, closes it again, and returns the findings of the start. */
async function findings(
  t: TestContext,
  directory: string,
  options: Options = {},
): Promise<readonly string[]> {
  const db = await open(t, directory, options);
  await db.close();
  return foundBy(db);
}

function foundBy({ installation }: Db): readonly string[] {
  return installation.alarm?.findings ?? [];
}

/** Directories that the first test makes which needs them. Each test gets a copy, because a new database costs 200 ms of CPU time. */
let used: Promise<string> | undefined;
let killed: Promise<string> | undefined;

/** Makes a directory whose database was used and closed. */
async function usedDirectory(t: TestContext): Promise<string> {
  used ??= makeUsedDirectory(t);
  return copyOf(await used);
}

async function makeUsedDirectory(t: TestContext): Promise<string> {
  const directory = temporaryDirectory();
  const db = await open(t, directory);
  await db.commit(addPlan, 'first');
  await db.close();
  writeFileSync(join(directory, 'master.key'), 'anything');
  return directory;
}

/** Makes a directory with the files as a kill of the process leaves them. */
async function afterKill(t: TestContext): Promise<string> {
  killed ??= makeAfterKill(t);
  return copyOf(await killed);
}

async function makeAfterKill(t: TestContext): Promise<string> {
  const directory = temporaryDirectory();
  const db = await open(t, directory);
  await db.commit(addPlan, 'first');
  await db.commit(advanceInstallation, { now: NOW });
  await db.commit(addPlan, 'second');
  const image = temporaryDirectory();
  for (const name of ['postrider.db', 'postrider.db-wal', 'installation.json'])
    copyFileSync(join(directory, name), join(image, name));
  await db.close();
  return image;
}

function copyOf(directory: string): string {
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

function databaseOf(directory: string): string {
  return join(directory, 'postrider.db');
}

function edit(directory: string, sql: string): void {
  const database = new Sqlite(databaseOf(directory));
  database.exec(sql);
  database.close();
}

function mark(directory: string): { id: string; generation: number; walBytes: number | null } {
  return JSON.parse(readFileSync(join(directory, 'installation.json'), 'utf8'));
}

test('a database and its directory carry one id; a clean stop records that the WAL is empty', async (t) => {
  const directory = temporaryDirectory();
  const db = await open(t, directory);
  const { id } = db.installation;
  assert.deepEqual(foundBy(db), []);
  const started = mark(directory);
  assert.equal(started.id, id);
  assert.equal(started.walBytes, statSync(`${databaseOf(directory)}-wal`).size);
  await db.commit(advanceInstallation, { now: NOW });
  const advanced = mark(directory);
  assert.ok(advanced.generation > started.generation);
  assert.equal(advanced.walBytes, statSync(`${databaseOf(directory)}-wal`).size);
  await db.close();
  assert.equal(mark(directory).walBytes, null);
  assert.equal(statSync(join(directory, 'installation.json')).mode & 0o777, 0o600);
  const again = await open(t, directory);
  assert.deepEqual([again.installation.id, foundBy(again)], [id, []]);
});

test('a start knows when the database was in use here, across kills, and forgets it when it may be the wrong one', async (t) => {
  const HOUR_MS = 3_600_000;
  const image = await afterKill(t);
  const at = (hours: number) => createFakeClock(NOW + hours * HOUR_MS);
  await kill(await open(t, image, { clock: at(2) }), image);
  const db = await open(t, image, { clock: at(4) });
  const { uses } = db.installation;
  const starts = uses.map(({ from }) => (from - NOW) / HOUR_MS);
  assert.deepEqual(starts, [0, 2, 4]);
  assert.ok(uses.slice(0, -1).every(({ from, to }) => to >= from + 60_000 && to < from + HOUR_MS));
  assert.equal(uses.at(-1)?.to, Number.POSITIVE_INFINITY);
  await kill(db, image);
  rmSync(`${databaseOf(image)}-wal`);
  const suspicious = await open(t, image, { clock: at(6) });
  assert.deepEqual(suspicious.installation.uses, [{ from: NOW + 6 * HOUR_MS, to: Number.POSITIVE_INFINITY }]);
});

test('a database is accepted in a directory that has lost its installation file', async (t) => {
  const directory = await usedDirectory(t);
  const { id } = mark(directory);
  rmSync(join(directory, 'installation.json'));
  assert.deepEqual(await findings(t, directory), []);
  assert.equal(mark(directory).id, id);
});

test('after a kill nothing is reported, however often starts are killed', async (t) => {
  const image = await afterKill(t);
  const db = await open(t, image);
  assert.deepEqual(foundBy(db), []);
  const next = temporaryDirectory();
  cpSync(image, next, { recursive: true });
  await db.close();
  assert.deepEqual(await findings(t, next), []);
});

test('a WAL that is missing or cut after a kill is reported by every start for a week, in which files are kept', async (t) => {
  const wal = (directory: string) => `${databaseOf(directory)}-wal`;
  const damages: [string, (directory: string) => void][] = [
    ['wal-missing', (directory) => rmSync(wal(directory))],
    ['wal-cut', (directory) => truncateSync(wal(directory), 0)],
  ];
  for (const [expected, damage] of damages) {
    const image = await afterKill(t);
    damage(image);
    const db = await open(t, image);
    assert.deepEqual(foundBy(db), ['older-copy', expected]);
    assert.equal(db.installation.keepFilesUntil, NOW + WEEK_MS);
    await db.close();
    const again = await open(t, image);
    assert.deepEqual(again.installation.alarm, db.installation.alarm);
    assert.equal(again.installation.keepFilesUntil, NOW + WEEK_MS);
    await again.close();
    const later = await open(t, image, { clock: createFakeClock(NOW + WEEK_MS) });
    assert.deepEqual(foundBy(later), []);
  }
});

test('a WAL that has lost its last frames is reported', async (t) => {
  const image = await afterKill(t);
  truncateSync(`${databaseOf(image)}-wal`, (mark(image).walBytes ?? 0) - 1);
  assert.deepEqual(await findings(t, image), ['older-copy', 'wal-cut']);
});

test('a power cut may lose what was written after the last mark, and this is not reported', async (t) => {
  const image = await afterKill(t);
  truncateSync(`${databaseOf(image)}-wal`, mark(image).walBytes ?? 0);
  assert.deepEqual(await findings(t, image), []);
});

test('a start that was refused after a kill leaves nothing to report', async (t) => {
  const image = await afterKill(t);
  edit(image, "INSERT INTO migrations (id, appliedAt) VALUES ('9999-from-the-future', 0)");
  // The WAL is there, as a killed daemon leaves it.
  writeFileSync(`${databaseOf(image)}-wal`, Buffer.alloc(mark(image).walBytes ?? 0));
  await assert.rejects(open(t, image), /written by a newer version/);
  rmSync(`${databaseOf(image)}-wal`, { force: true });
  edit(image, "DELETE FROM migrations WHERE id = '9999-from-the-future'");
  assert.deepEqual(await findings(t, image), []);
});

test('a start that fails after it has found a missing WAL leaves the finding to the next one', async (t) => {
  const image = await afterKill(t);
  const { walBytes, ...rest } = mark(image);
  edit(image, "INSERT INTO migrations (id, appliedAt) VALUES ('9999-from-the-future', 0)");
  rmSync(`${databaseOf(image)}-wal`, { force: true });
  assert.ok(walBytes !== null);
  await assert.rejects(open(t, image), /written by a newer version/);
  edit(image, "DELETE FROM migrations WHERE id = '9999-from-the-future'");
  const db = await open(t, image);
  assert.deepEqual(foundBy(db), ['wal-missing']);
  assert.equal(db.installation.keepFilesUntil, NOW + WEEK_MS);
  assert.equal(db.installation.id, rest.id);
});

test('a stop while somebody reads is clean: its WAL may be copied back and removed by any tool', async (t) => {
  const directory = temporaryDirectory();
  const db = await open(t, directory);
  await db.commit(addPlan, 'first');
  const reader = new Sqlite(databaseOf(directory), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM plans').get();
  await db.commit(addPlan, 'second');
  await db.close();
  assert.ok(statSync(`${databaseOf(directory)}-wal`).size > 0);
  assert.equal(mark(directory).walBytes, null);
  reader.exec('COMMIT');
  reader.close();
  // Whoever writes and closes last copies the WAL back, and removes it.
  edit(directory, "DELETE FROM plans WHERE name = 'first'");
  assert.ok(!existsSync(`${databaseOf(directory)}-wal`));
  assert.deepEqual(await findings(t, directory), []);
});

test('a kill during a stop, after the WAL was copied back, is not taken for a lost WAL', async (t) => {
  const directory = temporaryDirectory();
  const db = await open(t, directory);
  await db.commit(addPlan, 'first');
  const reader = new Sqlite(databaseOf(directory), { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM plans').get();
  await db.close();
  reader.exec('COMMIT');
  // The stop was kept from its checkpoint; this one leaves the files as a kill right after it does.
  const writer = new Sqlite(databaseOf(directory));
  writer.pragma('wal_checkpoint(TRUNCATE)');
  const image = temporaryDirectory();
  for (const name of ['postrider.db', 'postrider.db-wal', 'installation.json'])
    copyFileSync(join(directory, name), join(image, name));
  writer.close();
  reader.close();
  assert.equal(statSync(`${databaseOf(image)}-wal`).size, 0);
  assert.deepEqual(await findings(t, image), []);
});

test('a restored database beside the WAL of a newer one is refused and left alone, until the WAL is moved away', async (t) => {
  const backups: Record<string, (directory: string, backup: string) => Promise<void>> = {
    async 'an earlier start'(directory, backup) {
      copyFileSync(databaseOf(directory), backup);
    },
    async 'the same start, before a checkpoint'(directory, backup) {
      const db = await open(t, directory);
      copyFileSync(databaseOf(directory), backup);
      for (let plan = 0; plan < 20; plan++) await db.commit(addPlan, `${plan} `.padEnd(1_000_000, 'x'));
      await db.commit(advanceInstallation, { now: NOW });
      await kill(db, directory);
    },
    async 'the same start, vacuumed'(directory, backup) {
      const db = await open(t, directory);
      const reader = new Sqlite(databaseOf(directory), { readonly: true });
      reader.prepare('VACUUM INTO ?').run(backup);
      reader.close();
      await db.commit(addPlan, 'second');
      await kill(db, directory);
    },
  };
  for (const [name, makeBackup] of Object.entries(backups)) {
    const directory = await usedDirectory(t);
    const backup = join(temporaryDirectory(), 'backup.db');
    await makeBackup(directory, backup);
    if (!existsSync(`${databaseOf(directory)}-wal`)) await kill(await open(t, directory), directory);
    copyFileSync(backup, databaseOf(directory));
    const wal = readFileSync(`${databaseOf(directory)}-wal`);
    await assert.rejects(open(t, directory), {
      name: 'DataDirectoryError',
      message: /postrider\.db-wal belongs to a newer database than .+ move .+-wal and .+-shm /,
    });
    assert.ok(readFileSync(databaseOf(directory)).equals(readFileSync(backup)), name);
    assert.ok(readFileSync(`${databaseOf(directory)}-wal`).equals(wal), name);
    rmSync(`${databaseOf(directory)}-wal`);
    assert.notDeepEqual(await findings(t, directory), [], name);
  }
});

/** Ends the database, and leaves its files as a kill at this moment does. */
async function kill(db: Db, directory: string): Promise<void> {
  const names = ['postrider.db', 'postrider.db-wal', 'installation.json'];
  const files = names.map((name) => [join(directory, name), readFileSync(join(directory, name))] as const);
  await db.close();
  for (const [path, content] of files) writeFileSync(path, content);
}

test('a start uses an older copy of the database, and reports it', async (t) => {
  const directory = await usedDirectory(t);
  const backup = join(temporaryDirectory(), 'backup.db');
  copyFileSync(databaseOf(directory), backup);
  assert.deepEqual(await findings(t, directory), []);
  copyFileSync(backup, databaseOf(directory));
  const db = await open(t, directory);
  assert.deepEqual(foundBy(db), ['older-copy']);
  assert.equal(db.installation.keepFilesUntil, NOW + WEEK_MS);
});

test('the database of another installation is refused, until the operator says that the two belong together', async (t) => {
  const [one, other] = [await usedDirectory(t), await makeUsedDirectory(t)];
  copyFileSync(databaseOf(other), databaseOf(one));
  const before = readFileSync(databaseOf(one));
  await assert.rejects(open(t, one), {
    name: 'DataDirectoryError',
    message:
      /postrider\.db belongs to another installation \(.+\) than .+installation\.json \(.+\): .+ remove /,
  });
  assert.deepEqual(readFileSync(databaseOf(one)), before);
  rmSync(join(one, 'installation.json'));
  assert.deepEqual(await findings(t, one), []);
});

test('a directory in use without its database, or with an emptied one, is refused and left alone', async (t) => {
  const empties: [RegExp, (directory: string) => void][] = [
    [
      /postrider\.db is missing, but .+ \(it has installation\.json, master\.key\): .+--new-database/,
      (directory) => rmSync(databaseOf(directory)),
    ],
    [/postrider\.db is empty/, (directory) => truncateSync(databaseOf(directory), 0)],
    [
      /postrider\.db-wal belongs to a newer database/,
      (directory) => {
        rmSync(databaseOf(directory));
        edit(directory, 'PRAGMA journal_mode = WAL');
      },
    ],
  ];
  for (const [message, empty] of empties) {
    const directory = await usedDirectory(t);
    empty(directory);
    writeFileSync(`${databaseOf(directory)}-wal`, 'of the database that was here');
    await assert.rejects(open(t, directory), { name: 'DataDirectoryError', message });
    rmSync(`${databaseOf(directory)}-wal`, { force: true });
    assert.deepEqual(await findings(t, directory, { newDatabase: true }), ['new-database']);
  }
});

test('blobs, a master key or self-signed certificates alone show that a directory is in use', async (t) => {
  for (const trace of ['blobs/ab', 'master.key', 'tls/self-signed']) {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, trace), { recursive: true });
    await assert.rejects(open(t, directory), /postrider\.db is missing/);
    assert.ok(!existsSync(databaseOf(directory)));
  }
});

test('a directory that an interrupted first start leaves is not in use', async (t) => {
  for (const contents of [undefined, '']) {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'lock.db'), '');
    mkdirSync(join(directory, 'blobs'));
    mkdirSync(join(directory, 'tls'));
    if (contents === undefined) edit(directory, 'PRAGMA journal_mode = WAL');
    else writeFileSync(databaseOf(directory), contents);
    assert.deepEqual(await findings(t, directory), []);
  }
});

test('a new database is made only when there is none; the old one can come back', async (t) => {
  const directory = await usedDirectory(t);
  await assert.rejects(open(t, directory, { newDatabase: true }), /--new-database never replaces one/);
  const away = join(temporaryDirectory(), 'away.db');
  copyFileSync(databaseOf(directory), away);
  rmSync(databaseOf(directory));
  writeFileSync(`${databaseOf(directory)}-wal`, 'of the database that was here');
  const db = await open(t, directory, { newDatabase: true });
  assert.equal(db.installation.keepFilesUntil, NOW + WEEK_MS);
  await db.close();
  const kept = readdirSync(directory).find((name) => name.startsWith('postrider.db-wal.kept-'));
  assert.equal(readFileSync(join(directory, kept ?? ''), 'utf8'), 'of the database that was here');
  copyFileSync(away, databaseOf(directory));
  const back = await open(t, directory);
  assert.deepEqual(foundBy(back), ['older-copy', 'new-database']);
  assert.equal(
    (await back.read.selectFrom('plans').select('name').where('name', '=', 'first').execute()).length,
    1,
  );
});

test('an installation file without valid content is refused, not overwritten', async (t) => {
  for (const text of ['', '{', '{"id":1}', 'null']) {
    const directory = await usedDirectory(t);
    writeFileSync(join(directory, 'installation.json'), text);
    await assert.rejects(open(t, directory), {
      name: 'DataDirectoryError',
      message: /installation\.json is damaged/,
    });
    assert.equal(readFileSync(join(directory, 'installation.json'), 'utf8'), text);
  }
});
