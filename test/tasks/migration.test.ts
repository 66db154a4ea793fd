/** Background work of the version before the task engine: what waited or ran there is one task afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { MAIN_MIGRATIONS } from '../../src/db/main-migrations.ts';
import { migrate } from '../../src/db/migrate.ts';

const NOW = Date.UTC(2030, 0, 1);

function openBefore(id: string) {
  const database = new Sqlite(':memory:');
  database.pragma('foreign_keys = OFF');
  migrate(
    database,
    NOW,
    MAIN_MIGRATIONS.filter((migration) => migration.id < id),
  );
  const insert = (table: string, row: Record<string, unknown>) => {
    const columns = Object.keys(row);
    const values = columns.map((name) => `@${name}`);
    database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${values})`).run(row);
  };
  return { database, insert };
}

function tasksOf(database: Sqlite.Database): unknown[] {
  const columns = 'kind, reference, queueKey, tenantId, dueAt, attempts, runId';
  return database.prepare(`SELECT ${columns} FROM tasks ORDER BY reference`).raw().all();
}

test('imports, exports, removals and checks that waited or ran become tasks, and those that had ended do not', () => {
  const { database, insert } = openBefore('0072');
  const job = {
    tenantId: 'ten_a',
    kind: 'suppressions',
    options: '{}',
    rows: 0,
    progress: '{}',
    createdAt: 5,
  };
  insert('jobs', { ...job, id: 'imp_runs', type: 'import', status: 'running', dueAt: NOW, startedAt: 6 });
  insert('jobs', { ...job, id: 'exp_waits', type: 'export', status: 'queued', dueAt: 5 });
  insert('jobs', { ...job, id: 'imp_ended', type: 'import', status: 'failed', finishedAt: 9 });
  insert('mailboxRemovals', { mailboxId: 'mbx_gone', dueAt: NOW });
  const mail = { tenantId: 'ten_a', mailboxId: 'mbx_a', host: 'h', port: 993, security: 'tls', user: 'u' };
  const turn = { ...mail, progress: '{}', createdAt: 5 };
  insert('mailboxImports', { ...turn, id: 'mim_waits', status: 'running', failedTurns: 3, dueAt: NOW });
  insert('mailboxImports', { ...turn, id: 'mim_new', status: 'queued', failedTurns: 0, dueAt: 5 });
  insert('mailboxImports', { ...turn, id: 'mim_ended', status: 'completed', failedTurns: 0, finishedAt: 9 });
  migrate(database, NOW);
  assert.deepEqual(tasksOf(database), [
    ['exports', 'exp_waits', 'ten_a', 'ten_a', 5, 0, null],
    ['imports', 'imp_runs', 'ten_a', 'ten_a', 5, 0, null],
    ['mailbox-removals', 'mbx_gone', 'mailbox-removals', null, 0, 0, null],
    ['mailbox-imports', 'mim_new', 'ten_a', 'ten_a', 5, 0, null],
    ['mailbox-imports', 'mim_waits', 'ten_a', 'ten_a', NOW, 3, null],
  ]);
});

test('a broadcast that was due is a task, and one that was being sent or canceled passes through its copies once more', () => {
  const { database, insert } = openBefore('0071');
  const run = { tenantId: 'ten_a', mode: 'live' };
  insert('broadcastRuns', { ...run, broadcastId: 'brd_sending', dueAt: 5, startedAt: 5 });
  insert('broadcastRuns', { ...run, broadcastId: 'brd_paused', startedAt: 5 });
  insert('broadcastRuns', { ...run, broadcastId: 'brd_scheduled', dueAt: NOW, scheduleAt: NOW });
  migrate(database, NOW);
  const runs = database
    .prepare('SELECT broadcastId, passAfter FROM broadcastRuns ORDER BY broadcastId')
    .raw()
    .all();
  assert.deepEqual(runs, [
    ['brd_paused', null],
    ['brd_scheduled', null],
    ['brd_sending', ''],
  ]);
  assert.deepEqual(tasksOf(database), [
    ['broadcasts', 'brd_scheduled', 'ten_a', 'ten_a', NOW, 0, null],
    ['broadcasts', 'brd_sending', 'ten_a', 'ten_a', 5, 0, null],
  ]);
});

test('notifications and checks of what people have sent that were due become tasks', () => {
  const { database, insert } = openBefore('0076');
  const columns = database
    .prepare<[], { name: string; type: string }>(
      'SELECT name, type FROM pragma_table_info(\'messages\') WHERE "notnull" AND dflt_value IS NULL',
    )
    .all();
  const required = Object.fromEntries(columns.map(({ name, type }) => [name, type === 'INTEGER' ? 0 : '']));
  for (const id of ['em_failed', 'em_waits', 'em_sent', 'em_open'])
    insert('messages', { ...required, id, tenantId: 'ten_a', mailboxId: 'mbx_a' });
  const failure = { address: 'a@b.example', recipient: 'c@d.example' };
  insert('failureNotifications', { ...failure, messageId: 'em_failed', dueAt: NOW, attempts: 2 });
  insert('failureNotifications', { ...failure, messageId: 'em_waits', attempts: 0 });
  const submitted = { tenantId: 'ten_a', sizeBytes: 1, told: '{}', reports: 0 };
  insert('submittedMessages', { ...submitted, messageId: 'em_sent', dueAt: 5 });
  insert('submittedMessages', { ...submitted, messageId: 'em_open' });
  migrate(database, NOW);
  assert.deepEqual(tasksOf(database), [
    ['failure-notifications', 'em_failed', 'ten_a', 'ten_a', NOW, 2, null],
    ['submission-reports', 'em_sent', 'mbx_a', 'ten_a', 5, 0, null],
  ]);
});
