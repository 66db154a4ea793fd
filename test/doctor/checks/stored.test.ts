import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { backupName, FACTS_FILE, FORMAT } from '../../../src/backups/format.ts';
import { writeLastCopy } from '../../../src/backups/last-copy.ts';
import { backgroundWork } from '../../../src/doctor/checks/background-work.ts';
import { backup } from '../../../src/doctor/checks/backup.ts';
import { complaints } from '../../../src/doctor/checks/complaints.ts';
import { queueAge } from '../../../src/doctor/checks/queue-age.ts';
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

test('mail that is due and not tried is found', async () => {
  const { clock } = world.app;
  const find = async (now: number) =>
    lines(await queueAge.run({ ...world.context, clock: { ...clock, now: () => now } })).join();
  assert.match(await find(clock.now()), /^ok queue: /);
  await world.request('POST', '/v1/emails', {
    body: {
      from: 'a@sandbox.mx.postrider.example',
      to: 'b@rcpt.example',
      subject: 's',
      text: 't',
      type: 'transactional',
    },
  });
  const now = clock.now();
  assert.match(await find(now), /^ok queue: /);
  assert.match(await find(now + 40 * 60_000), /^warn queue: mail has been due since /);
  assert.match(await find(now + 5 * 3_600_000), /^fail queue: /);
  assert.match(await find(now - 3_600_000), /^ok queue: /);
});

test('a backup that is missing or old is found', async () => {
  const folder = join(world.dataDir, 'backups');
  const find = async () => lines(await backup.run(world.context)).join();
  assert.equal(await find(), `warn ${folder}: there is no backup`);
  const take = (daysAgo: number, damagedMailboxes: string[] = []) => {
    const takenAt = world.app.clock.now() - daysAgo * DAY_MS;
    const path = join(folder, backupName(takenAt));
    mkdirSync(path, { recursive: true });
    const counts = { tookMs: 1, files: 1, bytes: 1, mailboxes: 0 };
    const facts = {
      format: FORMAT,
      version: '0.1.0',
      installation: world.app.db.installation.id,
      takenAt,
      ...counts,
      damagedMailboxes,
    };
    writeFileSync(join(path, FACTS_FILE), JSON.stringify({ ...facts, sums: '0'.repeat(64) }));
  };
  take(8);
  assert.match(await find(), /^fail .*: the newest backup is of /);
  take(3);
  assert.match(await find(), /^warn .*: the newest backup is of /);
  take(0.5, ['mbx_1']);
  assert.match(await find(), /^warn .* 1 mailboxes in it are damaged$/);
  take(0.1);
  assert.match(await find(), /^ok /);
});

test('a copy off this host that has failed, or does not end, is found', async () => {
  const command = ['/etc/postrider/backup-copy'];
  const config = { ...world.context.config, backup: { ...world.context.config.backup, command } };
  const find = async () => lines(await backup.run({ ...world.context, config })).slice(1);
  assert.deepEqual(await find(), []);
  const now = world.app.clock.now();
  const copy = { backup: 'postrider-1', startedAt: now - 60_000, endedAt: now, failure: null };
  writeLastCopy(world.dataDir, copy);
  assert.deepEqual(await find(), [`ok ${command}: postrider-1 was copied off this host`]);
  writeLastCopy(world.dataDir, { ...copy, failure: 'no route' });
  assert.deepEqual(await find(), [`warn ${command}: postrider-1 was not copied off this host: no route`]);
  writeLastCopy(world.dataDir, { ...copy, endedAt: null });
  assert.match((await find()).join(), /^ok .*: postrider-1 is being copied off this host since /);
  writeLastCopy(world.dataDir, { ...copy, startedAt: now - DAY_MS, endedAt: null });
  assert.deepEqual(await find(), [`warn ${command}: the copy of postrider-1 has not ended`]);
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
