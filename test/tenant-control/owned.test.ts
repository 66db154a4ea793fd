/** Everything that a tenant owns is deleted, and nothing else is. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Table } from '../../src/db/table.ts';
import { TABLES } from '../../src/db/tables.ts';
import { DOMAIN_KEYS } from '../../src/domains/keys/task.ts';
import { purgeDomains } from '../../src/domains/store.ts';
import { REMOVALS } from '../../src/mailboxes/store.ts';
import { beginDeletion, createDeletionKind } from '../../src/tenant-control/delete.ts';
import { OWNED } from '../../src/tenant-control/owned.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { runDueTasks } from '../support/tasks.ts';
import { openTestApp } from '../support/test-app.ts';

/** Tables of the installation, each with the reason why a deleted tenant leaves nothing in it. */
const OF_INSTALLATION: Readonly<Record<string, string>> = {
  acmeAccounts: 'the account of the operator with an authority',
  auditEntries: 'what people have changed, which the operator keeps',
  dmarcObservations: 'mail of other domains, until a report of the day is sent',
  dmarcReports: 'reports to other domains',
  doctorChecks: 'checks of the operator',
  doctorFindings: 'checks of the operator, which forget a domain when they run again',
  domainSites: 'sites of the domains of recipients',
  drafts: 'forms that people have not sent',
  greylistEntries: 'networks of clients',
  installation: 'the installation itself',
  stsPolicies: 'policies of other domains',
  tlsReports: 'reports to other domains',
  tlsReportPolicies: 'policies of other servers, until a report of the day is sent',
  tlsSessions: 'sessions with other servers, until a report of the day is sent',
  installationKeys: 'keys of the installation',
  issuerSubjects: 'accounts of people elsewhere',
  passkeys: 'passkeys of people',
  people: 'people, who may belong to several tenants',
  plans: 'plans of the operator',
  recoveryCodes: 'codes of people',
  sentForms: 'forms that people have sent',
  operatorSuspensions: 'addresses that mail leaves from',
  sourceSuspensions: 'addresses that mail leaves from',
  sourceWarmUps: 'addresses that mail leaves from',
  sourceWarmUpCounts: 'addresses that mail leaves from',
  starts: 'starts of the daemon',
  tenants: 'the last row that goes',
  writtenRecords: 'records in the zone of the operator, which follow the domains',
  zoneTexts: 'records of the name server for an hour',
};

const clock = createFakeClock(Date.UTC(2030, 0, 1));
const testApp = await openTestApp({ system: { clock } });
const { app, tenantId } = testApp;
const stranger = await testApp.addTenant('stranger');
after(() => testApp.close());

const tables = Object.entries(TABLES) as [keyof typeof TABLES, Table][];
const owned = new Set(OWNED.flatMap((step) => step.tables));

test('every table belongs to tenants or to the installation, and each one of tenants is deleted', () => {
  for (const [name, { columns }] of tables) {
    assert.notEqual(owned.has(name), name in OF_INSTALLATION, `${name} must be in one of the lists`);
    if ('tenantId' in columns && name !== 'auditEntries')
      assert.ok(owned.has(name), `${name} has a tenant, and is never deleted`);
  }
  for (const name of Object.keys(OF_INSTALLATION)) assert.ok(name in TABLES, name);
});

function open() {
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  return database;
}

/** Columns that stay empty, because a row with a value in them is hidden from its tenant. */
const EMPTY = ['deletedAt', 'contentDeletedAt', 'memberId'];

/**
 * Gives a tenant a row in each table. All texts of the rows, ids among them, are the id of the tenant, so that the rows name each other; all
 * numbers are `number`.
 */
function fill(database: Sqlite.Database, id: string, number: number): void {
  for (const [name, { columns }] of tables) {
    if (name in OF_INSTALLATION) continue;
    const values = Object.entries(columns).map(([column, { type, isNullable }]) => {
      if (isNullable && EMPTY.includes(column)) return null;
      if (type === 'text') return column === 'data' || column === 'tags' ? '{}' : id;
      return type === 'bytes' ? Buffer.from(id) : number;
    });
    const names = Object.keys(columns).map((column) => `"${column}"`);
    database.prepare(`INSERT INTO "${name}" (${names}) VALUES (${names.map(() => '?')})`).run(...values);
  }
  database
    .prepare(
      `INSERT INTO events (id, tenantId, mode, type, emailId, data, createdAt, fannedOut)
       VALUES (?, ?, 'live', 'domain.verified', NULL, '{}', 1, 1)`,
    )
    .run(`evt_${id}`, id);
}

/** Returns the number of rows that name a tenant, by the table. */
function rowsOf(database: Sqlite.Database, id: string): Record<string, number> {
  const counts = tables.map(([name, { columns }]) => {
    const texts = Object.keys(columns).filter((column) => columns[column]?.type === 'text');
    const isNamed = texts.map((column) => `"${column}" = @id`).join(' OR ') || '0';
    const isTask = name === 'tasks' ? `AND kind <> '${REMOVALS}'` : '';
    const query = `SELECT count(*) FROM "${name}" WHERE (${isNamed}) ${isTask}`;
    return [name, database.prepare<object, number>(query).pluck().get({ id }) ?? 0] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

test('a deletion removes the rows of its tenant from every table, and those of no other', async () => {
  const database = open();
  fill(database, tenantId, 1);
  fill(database, stranger.tenantId, 2);
  const before = rowsOf(database, stranger.tenantId);
  assert.equal(Object.keys(before).length, owned.size + 1, 'each table has a row of the tenant');
  await app.db.commit(beginDeletion, { tenant: tenantId, now: clock.now() });
  const kind = createDeletionKind(app);
  for (let slices = 0; (await runDueTasks(app, kind)).length > 0; slices++) {
    assert.ok(slices < 200, JSON.stringify(rowsOf(database, tenantId)));
    await clock.advance(5_000);
  }
  // The installation keeps the keys of domains for as long as mail may need them.
  assert.deepEqual(rowsOf(database, tenantId), { domains: 1, tasks: 1 });
  await app.db.commit(purgeDomains, { ids: [tenantId as unknown as `dom_${string}`] });
  database.prepare(`DELETE FROM tasks WHERE kind = '${DOMAIN_KEYS}'`).run();
  assert.deepEqual(rowsOf(database, tenantId), {});
  assert.deepEqual(rowsOf(database, stranger.tenantId), before);
  assert.deepEqual(database.pragma('foreign_key_check(messages)'), []);
  database.close();
});
