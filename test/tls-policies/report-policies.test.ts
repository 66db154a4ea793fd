import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import {
  TLS_POLICIES,
  TLS_REPORT_DESTINATIONS,
  TLS_REPORT_POLICIES,
} from '../../src/db/main-migrations-of-tls-policies.ts';
import { type Migration, migrate, migratedSchema } from '../../src/db/migrate.ts';

test('results of a database of the version before keep their policies, each of which is stored once', () => {
  const before: [Migration, ...Migration[]] = [
    { id: '0001-routes', sql: 'CREATE TABLE outboundRoutes (id TEXT PRIMARY KEY) STRICT' },
    TLS_POLICIES,
    TLS_REPORT_DESTINATIONS,
  ];
  const database = new Sqlite(':memory:');
  migrate(database, 0, migratedSchema(before));
  const rows = [
    [0, 'one.test', '{"type":"sts"}', '', 7],
    [0, 'one.test', '{"type":"sts"}', '{"type":"certificate-expired"}', 2],
    [0, 'one.test', '{"type":"tlsa"}', '', 1],
    [0, 'two.test', '{"type":"sts"}', '', 3],
    [86_400_000, 'one.test', '{"type":"sts"}', '', 4],
  ];
  const insert = database.prepare('INSERT INTO tlsSessions VALUES (?, ?, ?, ?, ?)');
  for (const row of rows) insert.run(row);
  migrate(database, 0, migratedSchema([...before, TLS_REPORT_POLICIES]));
  const joined = database.prepare(
    `SELECT day, domain, tlsReportPolicies.policy, failure, sessions FROM tlsSessions
       JOIN tlsReportPolicies USING (day, domain) WHERE number = tlsSessions.policy
       ORDER BY day, domain, 3, failure`,
  );
  assert.deepEqual(joined.raw().all(), rows);
  const policies = database.prepare('SELECT day, domain, number FROM tlsReportPolicies').raw().all();
  assert.deepEqual(policies, [
    [0, 'one.test', 1],
    [0, 'one.test', 2],
    [0, 'two.test', 1],
    [86_400_000, 'one.test', 1],
  ]);
  database.close();
});
