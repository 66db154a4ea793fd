import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { openApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config/config.ts';
import { advanceInstallation } from '../../src/db/installation/store.ts';
import { followClock, startInstallationWork } from '../../src/db/installation-worker.ts';
import { DOMAIN_CHECKS } from '../../src/domains/store.ts';
import { moveDueTimes, startDaemon } from '../../src/main.ts';
import { ClockWatch } from '../../src/system/clock-watch.ts';
import { findTask } from '../../src/tasks/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { FREE_PORTS } from '../support/free-ports.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';
import { temporaryDirectory } from './open.ts';

const NOW = Date.UTC(2030, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** This number of rows needs more than two writes. */
const MANY = 1_200;

/** Accepts mail without delivering it: the app has no workers. Its clock is an hour ahead of `NOW`. */
let open: TestApp;
before(async () => {
  open = await openTestApp({ system: { clock: createFakeClock(NOW + HOUR_MS) } });
});
after(() => open.close());

async function accept(subject: string, more: object = {}): Promise<string> {
  const body = {
    from: 'hello@sandbox.mx.postrider.example',
    to: 'delivered@simulator.mx.postrider.example',
    subject,
    text: subject,
    type: 'transactional',
    ...more,
  };
  const { status, body: answer } = await open.request('POST', '/v1/emails', { body });
  assert.equal(status, 200);
  return answer.id;
}

/** Makes a data directory as a kill leaves it. */
function image(edit: (database: Sqlite.Database) => void = () => {}): string {
  const directory = temporaryDirectory();
  cpSync(open.dataDir, directory, { recursive: true });
  const database = new Sqlite(join(directory, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  edit(database);
  // The WAL was not copied back.
  database.close();
  return directory;
}

function insert(database: Sqlite.Database, table: string, row: object): void {
  const names = Object.keys(row);
  const values = names.map((name) => `@${name}`);
  database.prepare(`INSERT INTO ${table} (${names}) VALUES (${values})`).run(row);
}

function configOf(directory: string) {
  const env = { POSTRIDER_HOSTNAME: 'mx.postrider.example', POSTRIDER_LOG_LEVEL: 'silent' };
  return loadConfig({
    env: {
      ...env,
      POSTRIDER_DATA_DIR: directory,
      ...FREE_PORTS,
    },
  });
}

test('after a start with the clock an hour back, mail that was due leaves at once, and scheduled mail does not', async () => {
  const due = await accept('due');
  const scheduled = await accept('scheduled', { scheduledAt: new Date(NOW + 1.5 * HOUR_MS).toISOString() });
  await open.app.db.commit(advanceInstallation, { now: NOW + HOUR_MS });
  const daemon = await startDaemon(configOf(image()), { clock: createFakeClock(NOW) });
  try {
    const { db, clockWatch } = daemon.app;
    assert.equal(clockWatch.behindMs, HOUR_MS);
    const statusOf = async (id: string) =>
      (await db.read.selectFrom('messages').select('status').where('id', '=', id).executeTakeFirst())?.status;
    await waitUntil(async () => (await statusOf(due)) === 'delivered');
    assert.equal(await statusOf(scheduled), 'queued');
    const { dueAt } = await db.read
      .selectFrom('recipients')
      .select('dueAt')
      .where('messageId', '=', scheduled)
      .executeTakeFirstOrThrow();
    assert.equal(dueAt, NOW + 1.5 * HOUR_MS);
  } finally {
    await daemon.stop();
  }
});

test('starts that fail after the clock was set back move the due times once', async () => {
  const id = await accept('deferred');
  await open.app.db.commit(advanceInstallation, { now: NOW + HOUR_MS });
  const directory = image((database) => {
    database
      .prepare("UPDATE recipients SET state = 'deferred', dueAt = ? WHERE messageId = ?")
      .run(NOW + 3 * HOUR_MS, id);
  });
  const busy = createServer();
  await once(busy.listen(0, '127.0.0.1'), 'listening');
  try {
    const config = configOf(directory);
    const { port } = busy.address() as AddressInfo;
    const inUse = { ...config, http: { ...config.http, port } };
    for (const _ of [1, 2])
      await assert.rejects(startDaemon(inUse, { clock: createFakeClock(NOW) }), { code: 'EADDRINUSE' });
  } finally {
    busy.close();
  }
  const database = new Sqlite(join(directory, 'postrider.db'), { readonly: true });
  const dueAt = database.prepare('SELECT dueAt FROM recipients WHERE messageId = ?').pluck().get(id);
  database.close();
  assert.equal(dueAt, NOW + 2 * HOUR_MS);
});

test('all due times that wait move with the clock, however many there are, and no others', async () => {
  const id = await accept('waits');
  const clock = createFakeClock(NOW);
  const setBack = { now: NOW, setBackMs: HOUR_MS };
  /** Due times before and after, in minutes from `NOW`. */
  const moved: [number, number][] = [
    [-5, -5],
    [0, 0],
    [30, 0],
    [60, 0],
    [65, 5],
  ];
  const directory = image((database) => {
    const recipient = database.prepare('SELECT * FROM recipients WHERE messageId = ?').get(id) as object;
    database.exec('DELETE FROM recipients');
    const { tenantId } = open;
    const task = { kind: 'webhooks', queueKey: 'wh_1', tenantId };
    for (const [minutes] of moved) {
      const dueAt = NOW + minutes * MINUTE_MS;
      insert(database, 'recipients', { ...recipient, id: `rcp_${minutes}`, dueAt, state: 'deferred' });
      insert(database, 'tasks', { ...task, reference: `whd_${minutes}`, dueAt });
    }
    // More rows with the same due time than one write moves.
    const dueAt = NOW + 10 * MINUTE_MS;
    for (let index = 0; index < MANY; index++) {
      insert(database, 'recipients', { ...recipient, id: `rcp_m${index}`, dueAt });
      insert(database, 'tasks', { ...task, reference: `whd_m${index}`, dueAt });
    }
    insert(database, 'recipients', { ...recipient, id: 'rcp_done', dueAt: null, state: 'delivered' });
    insert(database, 'recipients', {
      ...recipient,
      id: 'rcp_flight',
      dueAt: NOW + HOUR_MS,
      state: 'in_flight',
    });
  });
  const again = await openApp(configOf(directory), { clock });
  try {
    const { db } = again;
    const woken: string[] = [];
    for (const name of ['tasks', 'queue']) again.wakeups.listen(name, () => woken.push(name));
    await moveDueTimes(again, setBack);
    assert.deepEqual(woken, ['tasks', 'queue']);
    const minutesOf = (dueAt: number | null | undefined) => ((dueAt ?? Number.NaN) - NOW) / MINUTE_MS;
    for (const [before, expected] of moved) {
      const recipient = db.read.selectFrom('recipients').where('id', '=', `rcp_${before}`);
      const task = db.read.selectFrom('tasks').where('reference', '=', `whd_${before}`);
      for (const rows of [recipient.select('dueAt'), task.select('dueAt')])
        assert.equal(minutesOf((await rows.executeTakeFirst())?.dueAt), expected, `${before}`);
    }
    for (const [table, count] of [
      ['recipients', MANY + 4],
      ['tasks', MANY + 4],
    ] as const) {
      const due = await db.read.selectFrom(table).select('dueAt').where('dueAt', '<=', NOW).execute();
      assert.equal(due.length, count, table);
    }
    const flight = await db.read
      .selectFrom('recipients')
      .select('dueAt')
      .where('id', '=', 'rcp_flight')
      .executeTakeFirst();
    assert.equal(flight?.dueAt, NOW + HOUR_MS);
  } finally {
    await again[Symbol.asyncDispose]();
  }
});

test('a domain is checked at its planned time', async () => {
  const { body } = await open.request('POST', '/v1/domains', { body: { name: 'sender.example' } });
  const task = { kind: DOMAIN_CHECKS, reference: body.id };
  const at = async () => (await findTask(open.app.db.read, task))?.dueAt ?? 0;
  const before = await at();
  const setBack = { now: NOW, setBackMs: HOUR_MS };
  await moveDueTimes(open.app, setBack);
  assert.equal(await at(), before - HOUR_MS);
});

test('a clock that is set back while the daemon runs is noticed within a minute; the time is stored each minute and at the stop', async () => {
  const base = createFakeClock(NOW + HOUR_MS);
  let offsetMs = 0;
  const clock = { ...base, now: () => base.now() + offsetMs };
  const lines: string[] = [];
  const moves: object[] = [];
  const { db } = open.app;
  const app = {
    ...open.app,
    clock,
    clockWatch: new ClockWatch(clock, NOW + HOUR_MS),
    log: { ...open.app.log, error: (fields: object) => void lines.push(JSON.stringify(fields)) },
  } as unknown as Parameters<typeof startInstallationWork>[0];
  const move = async (setBack: object) => void moves.push(setBack);
  const stored = async () =>
    (await db.read.selectFrom('installation').select('wallAt').executeTakeFirstOrThrow()).wallAt;
  await followClock(app, move);
  assert.deepEqual([moves, lines], [[], []]);
  const work = startInstallationWork(app, move);
  await base.advance(MINUTE_MS);
  await waitUntil(async () => (await stored()) === NOW + HOUR_MS + MINUTE_MS);
  offsetMs = -HOUR_MS;
  await base.advance(MINUTE_MS);
  await waitUntil(async () => (await stored()) === NOW + 2 * MINUTE_MS);
  assert.deepEqual(moves, [{ now: NOW + 2 * MINUTE_MS, setBackMs: HOUR_MS }]);
  assert.deepEqual(lines, [`{"setBackMs":${HOUR_MS}}`]);
  offsetMs += 1_000;
  await work.stop(1_000);
  assert.equal(await stored(), NOW + 2 * MINUTE_MS + 1_000);
  assert.equal(moves.length, 1);
});
