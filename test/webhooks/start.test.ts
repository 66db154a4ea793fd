/** The thread of webhooks runs only where there is work for it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import { createWebhookStart, startWebhooksIfNeeded } from '../../src/webhooks/start.ts';
import { openTestApp } from '../support/test-app.ts';

const world = await openTestApp();
const side = openWriting(join(world.dataDir, 'postrider.db'), 'NORMAL');
after(async () => {
  side.close();
  await world.close();
});

/** Returns true when the start of the daemon, and the work that looks later, start the thread. */
async function isStarted(): Promise<boolean> {
  let starts = 0;
  const thread = { start: async () => void starts++ };
  await startWebhooksIfNeeded(world.app, thread);
  const work = createWebhookStart(world.app, thread);
  await work.lease(1);
  await work.lease(1);
  assert.ok(starts === 0 || starts === 2, `${starts} starts`);
  return starts === 2;
}

test('the thread starts once there is an endpoint, and for what a deleted one has left behind', async () => {
  assert.equal(await isStarted(), false);
  const created = await world.request('POST', '/v1/webhooks', {
    body: { url: 'https://hooks.example/in', events: ['email.delivered'] },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.equal(await isStarted(), true);
  const deleted = await world.request('DELETE', `/v1/webhooks/${created.body.id}`);
  assert.ok(deleted.status < 300);
  assert.equal(await isStarted(), false);
  for (const [add, remove] of [
    [
      `INSERT INTO events (id, tenantId, mode, type, data, createdAt, fannedOut) VALUES ('evt_1', '${world.tenantId}', 'test', 'email.sent', '{}', 1, 0)`,
      'DELETE FROM events',
    ],
    ...['webhooks', 'webhook-replays'].map(
      (kind) =>
        [
          `INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt, attempts) VALUES ('${kind}', 'a', 'b', '${world.tenantId}', 1, 0)`,
          'DELETE FROM tasks',
        ] as const,
    ),
  ] as const) {
    side.exec(add);
    assert.equal(await isStarted(), true, add);
    side.exec(remove);
    assert.equal(await isStarted(), false, remove);
  }
});
