/** Background work of the version before the task engine: what waited or ran there is one task afterwards. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPreviousDatabase, previousVersion } from '../support/previous-version.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const { ids, writtenAt } = previousVersion();
const database = openPreviousDatabase();
const read = (sql: string) => database.prepare<[], unknown[]>(sql).raw().all();

// The fixture has no leased posts, because its answers show when each is due.
const lease = `SET runId = 'a run', dueAt = ${writtenAt + MINUTE_MS} WHERE id = `;
database.exec(`UPDATE receivedTasks ${lease} '${ids['leasedPost']}'`);
database.exec(
  `UPDATE webhookDeliveries ${lease} (SELECT min(id) FROM webhookDeliveries WHERE state = 'pending')`,
);
const pending = read(
  "SELECT id, createdAt, dueAt, attempts, runId FROM webhookDeliveries WHERE state = 'pending'",
);
const checks = read('SELECT id, nextCheckAt FROM domains');
migrate(database, 0, MAIN_SCHEMA);

function tasksOf(kinds: string): unknown[] {
  return read(
    `SELECT kind, reference, dueAt, attempts FROM tasks WHERE kind IN (${kinds}) AND runId IS NULL ORDER BY kind, reference`,
  );
}

test('jobs, imports of mail, removals and confirmations become tasks, and those that had ended do not', () => {
  assert.deepEqual(
    tasksOf("'imports', 'exports', 'mailbox-imports', 'mailbox-removals', 'confirmations'"),
    [
      ['confirmations', '1', writtenAt, 0],
      ['confirmations', '2', writtenAt, 0],
      ['exports', ids['queuedExport'], writtenAt, 0],
      ['imports', ids['queuedImport'], writtenAt, 0],
      ['imports', ids['runningImport'], writtenAt, 0],
      ['mailbox-imports', ids['newMailImport'], writtenAt, 0],
      ['mailbox-imports', ids['waitingMailImport'], writtenAt + MINUTE_MS, 2],
      ['mailbox-removals', ids['gone'], 0, 0],
    ].toSorted((one, other) => (String(one) < String(other) ? -1 : 1)),
  );
});

test('tasks of received messages wait as long as before, and what was leased is due at once', () => {
  assert.deepEqual(
    tasksOf("'route-posts', 'received-mailbox', 'received-forward', 'received-report'").toSorted(),
    [
      ['received-forward', ids['forward'], writtenAt + MINUTE_MS, 3],
      ['received-mailbox', ids['toMailbox'], writtenAt, 0],
      ['received-report', ids['leasedReport'], writtenAt, 1],
      ['route-posts', ids['leasedPost'], writtenAt, 1],
      ['route-posts', ids['waitingPost'], writtenAt + 2 * MINUTE_MS, 2],
    ].toSorted(),
  );
  assert.deepEqual(read("SELECT id FROM receivedTasks WHERE state = 'pending' AND dueAt IS NOT NULL"), []);
  assert.deepEqual(read("SELECT reference FROM tasks WHERE queueKey = 'installation'"), [
    [ids['leasedReport']],
  ]);
});

test('posts of webhooks that wait become tasks, with the rest of a replay, and what was leased is due at once', () => {
  const expected = pending.map(([id, createdAt, dueAt, attempts, runId]) => [
    ...['webhooks', id, runId === null ? dueAt : createdAt, attempts],
  ]);
  assert.deepEqual([expected.length, pending.filter((post) => post[4] !== null).length], [7, 1]);
  assert.deepEqual(tasksOf("'webhooks'"), expected.toSorted());
  assert.deepEqual(tasksOf("'webhook-replays'"), [['webhook-replays', ids['webhook'], 0, 0]]);
});

test('checks of domains become tasks', () => {
  assert.equal(checks.length, 2);
  assert.deepEqual(
    tasksOf("'domain-checks'"),
    checks.map(([id, dueAt]) => ['domain-checks', id, dueAt, 0]).toSorted(),
  );
});

test('a broadcast that was due is a task, and one that was being sent passes through its copies once more', () => {
  const runs = read('SELECT broadcastId, passAfter FROM broadcastRuns ORDER BY broadcastId');
  assert.deepEqual(
    runs,
    [
      [ids['broadcast'], null],
      [ids['sending'], ''],
      [ids['later'], null],
    ].toSorted(),
  );
  assert.deepEqual(
    tasksOf("'broadcasts'").toSorted(),
    [
      ['broadcasts', ids['sending'], writtenAt, 0],
      ['broadcasts', ids['later'], writtenAt + DAY_MS, 0],
    ].toSorted(),
  );
});

test('notifications and checks of what people have sent that were due become tasks', () => {
  assert.deepEqual(tasksOf("'failure-notifications', 'submission-reports'"), [
    ['failure-notifications', ids['failedForward'], writtenAt + MINUTE_MS, 2],
    ['submission-reports', ids['checkedSubmission'], writtenAt, 0],
  ]);
  assert.deepEqual(read("SELECT queueKey FROM tasks WHERE kind = 'submission-reports'"), [[ids['mailbox']]]);
});
