import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Sqlite, { type Database } from 'better-sqlite3';
import { openWriting } from '../../src/db/connection.ts';
import { reportInstallation } from '../../src/db/installation/report.ts';
import { MAIN_MIGRATIONS } from '../../src/db/main-migrations.ts';
import { migrate, NewerSchemaError } from '../../src/db/migrate.ts';
import { initial } from '../../src/db/migrations/0001-initial.ts';
import { returnPath } from '../../src/db/migrations/0008-return-path.ts';
import { receiving } from '../../src/db/migrations/0033-receiving.ts';
import { forwarding } from '../../src/db/migrations/0034-forwarding.ts';
import { installationMail } from '../../src/db/migrations/0039-installation-mail.ts';
import { rowsOfReceivedMail } from '../../src/db/migrations/0042-rows-of-received-mail.ts';
import { reportsInPlans } from '../../src/db/migrations/0044-reports-in-plans.ts';
import { domainsOfEndpoints } from '../../src/db/migrations/0062-domains-of-endpoints.ts';
import { INSTALLATION_TENANT } from '../../src/tenants/installation.ts';
import { readRows } from '../support/database-rows.ts';
import { writePreviousVersion } from '../support/previous-version.ts';
import { openTestDatabase, temporaryDirectory } from './open.ts';

const NOW = Date.UTC(2030, 0, 1);
/** Distance between two statements that fail. No multiple of it is a common number of statements in a migration. */
const FAILURES_APART = 7;
const first = { id: '0001-a', sql: 'CREATE TABLE a (x INTEGER NOT NULL) STRICT' };
const second = { id: '0002-b', sql: 'ALTER TABLE a ADD COLUMN y TEXT; INSERT INTO a VALUES (1, NULL)' };

function openEmpty(): Database {
  return openWriting(join(temporaryDirectory(), 'test.db'), 'FULL');
}

function applied(database: Database): unknown[] {
  return database.prepare('SELECT * FROM migrations ORDER BY id').all();
}

test('each migration runs once, in order, and its time is kept', () => {
  const database = openEmpty();
  migrate(database, NOW, [first]);
  migrate(database, NOW + 1, [first, second]);
  migrate(database, NOW + 2, [first, second]);
  assert.deepEqual(applied(database), [
    { id: '0001-a', appliedAt: NOW },
    { id: '0002-b', appliedAt: NOW + 1 },
  ]);
  assert.deepEqual(database.prepare('SELECT * FROM a').all(), [{ x: 1, y: null }]);
  database.close();
});

test('a migration that fails leaves the database as the earlier program wrote it', () => {
  const database = openEmpty();
  const broken = { id: '0002-b', sql: 'CREATE TABLE b (x INTEGER) STRICT; CREATE TABLE a (x INTEGER)' };
  const before = { id: '0000-z', sql: 'CREATE TABLE z (x INTEGER) STRICT' };
  migrate(database, NOW, [before]);
  assert.throws(() => migrate(database, NOW, [before, first, broken]), /already exists/);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  assert.deepEqual(tables, [{ name: 'migrations' }, { name: 'z' }]);
  assert.deepEqual(applied(database), [{ id: '0000-z', appliedAt: NOW }]);
  migrate(database, NOW, [before, first, second]);
  database.close();
});

test('a migration that fails at any statement leaves a database of the previous version untouched', () => {
  const directory = temporaryDirectory();
  writePreviousVersion(directory);
  const file = join(directory, 'postrider.db');
  const untouched = openWriting(file, 'FULL');
  const before = readRows(untouched);
  untouched.pragma('wal_checkpoint(TRUNCATE)');
  untouched.close();
  const bytes = readFileSync(file);
  let failures = 0;
  let outside: unknown[] = [];
  // The statements before the failure run each time, so only some of the hundreds fail. Each of the others is proven to run in the same
  // transaction.
  for (let failAt = 1; ; failAt += failAt < 10 ? 1 : FAILURES_APART) {
    let statements = 0;
    outside = [];
    const database: Database = new Sqlite(file, {
      verbose: (sql) => {
        if (!database.inTransaction) outside.push(sql);
        if (++statements === failAt) throw new Error('no space');
      },
    });
    try {
      migrate(database, NOW);
      break;
    } catch (error) {
      assert.match(String(error), /no space/);
      failures++;
      assert.equal(database.inTransaction, false);
    } finally {
      database.close();
    }
    assert.ok(readFileSync(file).equals(bytes), `the database changed before statement ${failAt}`);
  }
  assert.ok(failures > 30, `only ${failures} statements`);
  assert.deepEqual(outside, ['BEGIN'], 'every statement runs in one transaction');
  const migrated = openWriting(file, 'FULL');
  const { migrations, tables } = readRows(migrated);
  assert.deepEqual([migrations.length, before.migrations.length], [MAIN_MIGRATIONS.length, 10]);
  const unchanged = Object.keys(before.tables).filter((name) => tables[name] === before.tables[name]);
  const changed = Object.keys(before.tables).filter((name) => !unchanged.includes(name));
  assert.deepEqual(changed.toSorted(), [
    'audiences',
    'contacts',
    'domains',
    'exports',
    'importErrors',
    'imports',
    'inboundRoutes',
    'messages',
    'plans',
    'recipients',
    'tenants',
    'webhookDeliveries',
    'webhookEndpoints',
  ]);
  migrated.close();
});

test('a database of a newer program is refused and left as it is', () => {
  const database = openEmpty();
  migrate(database, NOW, [first, second]);
  assert.throws(
    () => migrate(database, NOW, [first]),
    (error: unknown) => {
      return error instanceof NewerSchemaError && error.message.includes('"0002-b"');
    },
  );
  assert.equal(applied(database).length, 2);
  database.close();
});

test('opening a database of a newer program says so and leaves no lock', async (t) => {
  const directory = temporaryDirectory();
  const db = await openTestDatabase(t, { directory, readers: 0 });
  await db.close();
  const database = openWriting(join(directory, 'postrider.db'), 'FULL');
  database.prepare("INSERT INTO migrations VALUES ('9999-from-the-future', 0)").run();
  for (let round = 0; round < 2; round++) {
    await assert.rejects(openTestDatabase(t, { directory, readers: 0 }), /written by a newer version/);
  }
  database.prepare("DELETE FROM migrations WHERE id = '9999-from-the-future'").run();
  database.close();
  await openTestDatabase(t, { directory, readers: 0 });
});

test('domains from before return paths have an unchecked one, and keep their findings', () => {
  const database = openEmpty();
  migrate(database, NOW, [initial]);
  database.exec("INSERT INTO tenants VALUES ('ten_a', 'a', 'free', 0)");
  database
    .prepare(
      `INSERT INTO domains VALUES ('dom_a', 'ten_a', 'a.example', 'verified', 'api', 'sg', NULL, 0, 0,
        'pr', '', '', '{"SPF":{"status":"verified"},"TRACKING":null}', 0, 0, NULL, NULL, 0, NULL, NULL)`,
    )
    .run();
  migrate(database, NOW, [initial, returnPath]);
  const row = database.prepare('SELECT records, returnPathHost FROM domains').get() as Record<string, string>;
  assert.equal(row['returnPathHost'], null);
  assert.deepEqual(JSON.parse(row['records'] ?? ''), {
    SPF: { status: 'verified' },
    TRACKING: null,
    RETURN_PATH: { status: 'pending', lastCheckedAt: null, found: [], error: null },
  });
  database.close();
});

test('a domain that is verified before there is a record of its standing has stood since it was last found correct', () => {
  const database = openEmpty();
  const before = MAIN_MIGRATIONS.filter(({ id }) => id < receiving.id);
  migrate(database, NOW, before);
  database.exec("INSERT INTO tenants VALUES ('ten_a', 'a', 'free', 0)");
  const insert = database.prepare(
    `INSERT INTO domains (id, tenantId, name, status, productType, region, openTracking, clickTracking, selector, publicKey,
      privateKeySealed, records, createdAt, updatedAt, verifiedAt, failingSince, checksSince, deletedAt)
     VALUES (?, 'ten_a', 'a.example', ?, 'api', 'sg', 0, 0, 'pr', '', '', '{"TRACKING":null}', 0, 0, 7, NULL, 0, ?)`,
  );
  for (const status of ['verified', 'temporary_failure', 'failed', 'pending']) {
    insert.run(`dom_deleted_${status}`, status, 9);
    database.exec("UPDATE domains SET name = id WHERE name = 'a.example'");
    insert.run(`dom_${status}`, status, null);
    database.exec("UPDATE domains SET name = id WHERE name = 'a.example'");
  }
  migrate(database, NOW);
  const rows = database.prepare('SELECT id, verifiedSince, records FROM domains').all() as Record<
    string,
    unknown
  >[];
  const standing = rows.filter(({ verifiedSince }) => verifiedSince !== null);
  assert.deepEqual(
    standing.map(({ id, verifiedSince }) => [id, verifiedSince]),
    [
      ['dom_verified', 7],
      ['dom_temporary_failure', 7],
    ],
  );
  const unchecked = { status: 'pending', lastCheckedAt: null, found: [], error: null };
  for (const { records } of rows)
    assert.deepEqual(JSON.parse(String(records)), { TRACKING: null, MX: unchecked });
  database.close();
});

test('the tenant of the installation is added, and a tenant that has its name already keeps it', () => {
  for (const taken of [false, true]) {
    const database = openEmpty();
    migrate(
      database,
      NOW,
      MAIN_MIGRATIONS.filter(({ id }) => id < forwarding.id),
    );
    if (taken) database.exec("INSERT INTO tenants VALUES ('ten_a', 'installation', 'free', 0)");
    migrate(database, NOW);
    const names = database.prepare('SELECT id, name FROM tenants ORDER BY id').raw().all() as string[][];
    assert.equal(names[0]?.[0], INSTALLATION_TENANT);
    assert.match(names[0]?.[1] ?? '', taken ? /^installation [0-9a-f]{16}$/ : /^installation$/);
    assert.deepEqual(names.slice(1), taken ? [['ten_a', 'installation']] : []);
    database.close();
  }
});

test('mail that the installation has received before it was counted counts', () => {
  const database = openEmpty();
  migrate(
    database,
    NOW,
    MAIN_MIGRATIONS.filter(({ id }) => id < installationMail.id),
  );
  const columns =
    '(id, tenantId, sizeBytes, sender, remoteAddress, requireTls, utf8, trace, spamReasons, flagged, createdAt, contentDeletedAt)';
  for (const [id, sizeBytes, deletedAt] of [
    ['in_a', 10, null],
    ['in_b', 200, null],
    ['in_c', 3_000, NOW],
  ])
    database
      .prepare(`INSERT INTO receivedMessages ${columns} VALUES (?, NULL, ?, '', '', 0, 0, '', '[]', 0, 0, ?)`)
      .run(id, sizeBytes, deletedAt);
  migrate(database, NOW);
  assert.deepEqual(database.prepare('SELECT * FROM storedMail').raw().all(), [[INSTALLATION_TENANT, 210]]);
  database.close();
});

test('the rows of the mail that tenants have received count', () => {
  const database = openEmpty();
  migrate(
    database,
    NOW,
    MAIN_MIGRATIONS.filter(({ id }) => id < rowsOfReceivedMail.id),
  );
  database.exec(`INSERT INTO tenants VALUES ('ten_a', 'a', 'free', 0), ('ten_b', 'b', 'free', 0);
    INSERT INTO storedMail VALUES ('ten_a', 10);`);
  const columns =
    '(id, tenantId, sizeBytes, sender, remoteAddress, requireTls, utf8, trace, spamReasons, flagged, createdAt)';
  for (const [id, tenantId] of [
    ['in_a', 'ten_a'],
    ['in_b', 'ten_a'],
    ['in_c', 'ten_b'],
    ['in_d', null],
  ])
    database
      .prepare(`INSERT INTO receivedMessages ${columns} VALUES (?, ?, 5, '', '', 0, 0, '', '[]', 0, 0)`)
      .run(id, tenantId);
  migrate(database, NOW);
  const counted = database.prepare('SELECT * FROM storedMail ORDER BY tenantId').raw().all();
  assert.deepEqual(counted, [
    ['ten_a', 10 + 2 * 3_072],
    ['ten_b', 3_072],
  ]);
  database.close();
});

test('the reports that are stored count with their details, in bytes', () => {
  const database = openEmpty();
  migrate(
    database,
    NOW,
    MAIN_MIGRATIONS.filter(({ id }) => id < reportsInPlans.id),
  );
  database.exec(`INSERT INTO tenants VALUES ('ten_a', 'a', 'free', 0), ('ten_b', 'b', 'free', 0);
    INSERT INTO storedMail VALUES ('ten_a', 10);`);
  const columns =
    '(id, tenantId, domainId, type, reporter, organization, reportId, beginAt, endAt, passed, failed, details, createdAt)';
  for (const [id, tenantId, details] of [
    ['rep_a', 'ten_a', '{}'],
    ['rep_b', 'ten_a', '"ä"'],
    ['rep_c', 'ten_b', '{}'],
  ])
    database
      .prepare(
        `INSERT INTO receivedReports ${columns} VALUES (?, ?, 'dom_a', 'dmarc', 'r', '', ?, 0, 0, 0, 0, ?, 0)`,
      )
      .run(id, tenantId, id, details);
  migrate(database, NOW);
  const counted = database.prepare('SELECT * FROM storedMail ORDER BY tenantId').raw().all();
  assert.deepEqual(counted, [
    ['ten_a', 10 + 2 * 1_024 + 2 + 4],
    ['ten_b', 1_024 + 2],
  ]);
  database.close();
});

/** Migrations before the one that gives endpoints a domain. */
const BEFORE_DOMAINS = MAIN_MIGRATIONS.slice(0, MAIN_MIGRATIONS.indexOf(domainsOfEndpoints));

function openBeforeDomains(): Database {
  const database = openEmpty();
  migrate(database, NOW, BEFORE_DOMAINS);
  database.exec(`
    INSERT INTO tenants (id, name, plan, createdAt) VALUES ('ten_a', 'a', 'free', 0), ('ten_b', 'b', 'free', 0);
    INSERT INTO domains (id, tenantId, name, status, productType, region, openTracking, clickTracking, selector, publicKey,
        privateKeySealed, records, createdAt, updatedAt, checksSince)
      VALUES ('dom_a', 'ten_a', 'a.example', 'verified', 'api', 'sg', 0, 0, '', '', '', '{}', 0, 0, 0)`);
  return database;
}

test('the endpoints that a key of one domain may have made are told once, and keep their events', () => {
  const database = openBeforeDomains();
  const key = database.prepare(
    `INSERT INTO apiKeys (id, tenantId, name, mode, permission, hint, tokenHash, domainId, createdAt)
      VALUES (?, ?, '', ?, ?, '', ?, ?, 0)`,
  );
  for (const [id, tenantId, mode, permission, domainId] of [
    ['key_1', 'ten_a', 'live', 'full_access', 'dom_a'],
    ['key_2', 'ten_a', 'test', 'read_only', 'dom_a'],
    ['key_3', 'ten_b', 'live', 'full_access', null],
  ])
    key.run(id, tenantId, mode, permission, id, domainId);
  const endpoint = database.prepare(
    `INSERT INTO webhookEndpoints (id, tenantId, mode, url, events, status, secretSealed, createdAt, updatedAt)
      VALUES (?, ?, ?, '', '[]', 'enabled', '', 0, 0)`,
  );
  for (const [id, tenantId, mode] of [
    ['wh_1', 'ten_a', 'live'],
    ['wh_2', 'ten_a', 'test'],
    ['wh_3', 'ten_b', 'live'],
  ])
    endpoint.run(id, tenantId, mode);
  const notices = migrate(database, NOW);
  assert.deepEqual(
    notices.map(({ fields }) => ({ ...fields })),
    [{ endpointId: 'wh_1', tenantId: 'ten_a', mode: 'live' }],
  );
  assert.match(notices[0]?.message ?? '', /gets the events of all domains/);
  assert.deepEqual(migrate(database, NOW), [], 'the next start tells nothing');
  const limited = database.prepare('SELECT id FROM webhookEndpoints WHERE domainId IS NOT NULL').all();
  assert.deepEqual(limited, []);
  database.close();
});

test('what migrations tell the operator is logged', () => {
  const warnings: unknown[] = [];
  const warn = (...line: unknown[]) => void warnings.push(line);
  const notices = [{ message: 'look at this', fields: { endpointId: 'wh_1' } }];
  reportInstallation({ warn, error: () => assert.fail() }, { alarm: undefined, notices });
  assert.deepEqual(warnings, [[{ endpointId: 'wh_1' }, 'look at this']]);
});

test('broadcasts get the domain of their sender, and messages with a route are marked', () => {
  const database = openBeforeDomains();
  const broadcast = database.prepare(
    `INSERT INTO broadcasts (id, tenantId, mode, status, audienceId, fromHeader, subject, createdAt, updatedAt)
      VALUES (?, ?, 'live', 'draft', 'aud_1', ?, '', 0, 0)`,
  );
  for (const [id, tenantId, from] of [
    ['brd_1', 'ten_a', 'Ada <ada@A.example>'],
    ['brd_2', 'ten_a', 'ada@a.example'],
    ['brd_3', 'ten_a', 'ada@other-a.example'],
    ['brd_4', 'ten_b', 'ada@a.example'],
    ['brd_5', 'ten_a', 'ada@b.example'],
  ])
    broadcast.run(id, tenantId, from);
  database.exec(
    "INSERT INTO broadcastRuns (broadcastId, tenantId, mode, pace) VALUES ('brd_1', 'ten_a', 'live', '{}')",
  );
  const message = database.prepare(
    `INSERT INTO receivedMessages (id, tenantId, sizeBytes, sender, remoteAddress, requireTls, utf8, trace, spamReasons, flagged, createdAt)
      VALUES (?, 'ten_a', 1, '', '', 0, 0, '', '[]', 0, 0)`,
  );
  const recipient = database.prepare('INSERT INTO receivedRecipients VALUES (?, ?, ?, ?, ?)');
  for (const [id, kinds] of [
    ['in_1', ['mailbox']],
    ['in_2', ['mailbox', 'post']],
  ] as const) {
    message.run(id);
    for (const [position, kind] of kinds.entries()) recipient.run(id, position, 'a@a.example', kind, 'x');
  }
  migrate(database, NOW);
  const runs = database
    .prepare('SELECT broadcastId, domainId FROM broadcastRuns ORDER BY broadcastId')
    .raw()
    .all();
  assert.deepEqual(runs, [
    ['brd_1', 'dom_a'],
    ['brd_2', 'dom_a'],
    ['brd_3', null],
    ['brd_4', null],
    ['brd_5', null],
  ]);
  const marks = database.prepare('SELECT id, isForRoute FROM receivedMessages ORDER BY id').raw().all();
  assert.deepEqual(marks, [
    ['in_1', 0],
    ['in_2', 1],
  ]);
  database.close();
});
