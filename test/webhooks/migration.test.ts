import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { kyselyOn } from '../../src/db/dialect.ts';
import { MAIN_MIGRATIONS as MIGRATIONS } from '../../src/db/main-migrations.ts';
import { listAbandoned } from '../../src/tasks/store.ts';

const NOW = 1_800_000_000_000;

test('posts that wait in a database of the previous version go on, each once, and those that have ended do not', async () => {
  const database = new Sqlite(':memory:');
  database.pragma('foreign_keys = OFF');
  for (const { id, sql } of MIGRATIONS) if (id < '0069') database.exec(sql);
  database.exec(`
    INSERT INTO webhookDeliveries (id, endpointId, tenantId, eventId, state, attempts, dueAt, runId, createdAt) VALUES
      ('whd_1', 'wh_1', 'ten_1', 'evt_1', 'pending', 2, ${NOW + 9}, NULL, ${NOW}),
      ('whd_2', 'wh_1', 'ten_1', 'evt_2', 'pending', 1, ${NOW + 60_000}, 'a run', ${NOW}),
      ('whd_3', 'wh_1', 'ten_1', 'evt_3', 'delivered', 1, NULL, NULL, ${NOW});
    INSERT INTO receivedTasks (id, messageId, position, tenantId, kind, targetId, queue, state, attempts, dueAt, runId, createdAt) VALUES
      ('tsk_1', 'in_1', 0, 'ten_1', 'post', 'rt_1', 'rt_1', 'pending', 0, ${NOW}, NULL, ${NOW}),
      ('tsk_2', 'in_1', 1, 'ten_1', 'post', 'rt_1', 'rt_1', 'failed', 8, NULL, NULL, ${NOW}),
      ('tsk_3', 'in_1', 2, 'ten_1', 'forward', 'x', 'ten_1', 'pending', 0, ${NOW}, NULL, ${NOW}),
      ('tsk_4', 'in_1', 3, NULL, 'report', '', '', 'pending', 2, ${NOW + 60_000}, 'a run', ${NOW});
    INSERT INTO webhookEndpoints (id, tenantId, mode, url, events, status, secretSealed, createdAt, updatedAt)
      VALUES ('wh_1', 'ten_1', 'live', '', '[]', 'enabled', '', 0, 0);
    INSERT INTO webhookReplays (endpointId, state, afterId, beforeId) VALUES
      ('wh_1', 'failed', 'whd_0', 'whd_z'), ('wh_1', 'skipped', 'whd_0', 'whd_z');`);
  for (const { id, sql } of MIGRATIONS) if (id >= '0069') database.exec(sql);
  const tasks = database.prepare('SELECT kind, reference, queueKey, dueAt, attempts FROM tasks').all();
  assert.deepEqual(tasks, [
    { kind: 'received-forward', reference: 'tsk_3', queueKey: 'ten_1', dueAt: NOW, attempts: 0 },
    { kind: 'received-report', reference: 'tsk_4', queueKey: 'installation', dueAt: NOW, attempts: 2 },
    { kind: 'route-posts', reference: 'tsk_1', queueKey: 'rt_1', dueAt: NOW, attempts: 0 },
    { kind: 'webhook-replays', reference: 'wh_1', queueKey: 'wh_1', dueAt: 0, attempts: 0 },
    { kind: 'webhooks', reference: 'whd_1', queueKey: 'wh_1', dueAt: NOW + 9, attempts: 2 },
    { kind: 'webhooks', reference: 'whd_2', queueKey: 'wh_1', dueAt: NOW, attempts: 1 },
  ]);
  assert.deepEqual(await listAbandoned(kyselyOn(database), { kind: 'webhooks', runId: 'x', limit: 9 }), []);
  const waiting = database.prepare(
    `SELECT id FROM receivedTasks WHERE state = 'pending' AND dueAt IS NOT NULL`,
  );
  assert.deepEqual(waiting.all(), []);
  database.close();
});
