import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { backgroundWork } from '../../../src/doctor/checks/background-work.ts';
import { complaints } from '../../../src/doctor/checks/complaints.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { lines, openDoctorWorld } from '../support.ts';

const world = await openDoctorWorld();
const database = new Sqlite(join(world.dataDir, 'postrider.db'));
after(async () => {
  database.close();
  await world.close();
});

function count(
  provider: string,
  values: { delivered: number; complained: number; daysAgo?: number; mode?: string },
) {
  const { delivered, complained, daysAgo = 1, mode = 'live' } = values;
  const start = Date.now() - daysAgo * DAY_MS;
  database
    .prepare(
      `INSERT INTO counts (tenantId, mode, span, start, kind, domainId, broadcastId, provider, delivered, complained)
       VALUES (?, ?, 'day', ?, 'broadcast', '', '', ?, ?, ?)`,
    )
    .run(world.tenantId, mode, start, provider, delivered, complained);
}

test('complaints above the limits of the large receivers are found, for each provider', async () => {
  const find = async () => lines(await complaints.run(world.context));
  count('yahoo', { delivered: 10_000, complained: 1 });
  count('other', { delivered: 100, complained: 50 });
  count('apple', { delivered: 10_000, complained: 100, daysAgo: 9 });
  count('microsoft', { delivered: 10_000, complained: 100, mode: 'test' });
  assert.deepEqual(await find(), ['ok complaints: no tenant has too many at any provider']);
  count('gmail', { delivered: 10_000, complained: 40 });
  count('microsoft', { delivered: 10_000, complained: 15 });
  assert.deepEqual(await find(), [
    `fail ${world.tenantId} at gmail: 40 of 10000 readers complained (0.40 %)`,
    `warn ${world.tenantId} at microsoft: 15 of 10000 readers complained (0.15 %)`,
  ]);
});

test('background work that has failed for good is found', async () => {
  assert.deepEqual(lines(await backgroundWork.run(world.context)), ['ok tasks: none has failed']);
  database
    .prepare(
      "INSERT INTO tasks (kind, reference, queueKey, error) VALUES ('webhooks', 'whd_1', 'q', 'broken')",
    )
    .run();
  assert.deepEqual(lines(await backgroundWork.run(world.context)), ['warn webhooks: 1 tasks have failed']);
});
