/**
 * The application with a clock that is moved by hand and receivers that are functions, for the tests of webhooks.
 * Events are recorded through a connection of its own, as the features do it inside their writes. Opening an
 * application takes a second, so the tests of a file share one and each finds it empty.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { TaskRow } from '../../src/db/own-tables.ts';
import type { WebhookDeliveryRow, WebhookEndpointRow } from '../../src/db/webhook-tables.ts';
import { type EventType, recordEvent } from '../../src/events/store.ts';
import type { CrashPoint } from '../../src/system/crash-point.ts';
import type { HttpResponse } from '../../src/system/fetch/answer.ts';
import type { Fetch, HttpRequest } from '../../src/system/fetch.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { startWork } from '../../src/system/worker.ts';
import { startTasks } from '../../src/tasks/engine.ts';
import { scheduleTask } from '../../src/tasks/store.ts';
import { createFanOutWork } from '../../src/webhooks/fan-out.ts';
import { createReplayKind } from '../../src/webhooks/log/replay.ts';
import { createWebhookKind } from '../../src/webhooks/posts.ts';
import { countedSide } from '../support/counted-side.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { type LogLine, recordLog } from '../support/record-log.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

export type Answer = Partial<HttpResponse> | Error | Promise<Partial<HttpResponse>>;

/** What a test sets in the world while it runs. */
type Knobs = {
  posts: HttpRequest[];
  fetch: Fetch;
  random: number;
  crashPoint: CrashPoint;
};

/** `logged` is what the operator is told of, at level warn and above. */
type Opened = {
  test: TestApp;
  clock: FakeClock;
  side: Tx;
  knobs: Knobs;
  logged: LogLine[];
  close(): Promise<void>;
};

export type WebhookWorld = Omit<Opened, 'close'> & {
  /** When this test began: a full second. */
  startMs: number;
  /** Every post made, oldest first. */
  posts: HttpRequest[];
  /** Answer of all receivers from now on; 200 until a test sets it. */
  answer(give: (request: HttpRequest) => Answer): void;
  createEndpoint(options?: { url?: string; events?: EventType[]; key?: string }): Promise<Endpoint>;
  record(event?: Partial<RecordedEvent>): Promise<Id<'evt'>>;
  /** The deliveries, each with its task. */
  deliveries(): Promise<Delivery[]>;
  /** Adds deliveries without the fan-out: pending, without a time when they are due, unless the row says otherwise. */
  addDeliveries(...rows: AddedDelivery[]): Promise<Id<'whd'>[]>;
  /** The row of the only endpoint, and a change to it behind the back of the daemon. */
  endpoint(): Promise<WebhookEndpointRow>;
  setEndpoint(change: Partial<WebhookEndpointRow>): Promise<void>;
  /** Starts the workers; they are stopped when the test ends. */
  start(): void;
  /** Creates an endpoint, records an event for it and starts the workers. */
  begin(options?: { url?: string }): Promise<Endpoint>;
};

export type Delivery = WebhookDeliveryRow & Pick<TaskRow, 'dueAt' | 'runId'>;
export type AddedDelivery = Pick<WebhookDeliveryRow, 'endpointId' | 'eventId'> & Partial<Delivery>;

export type Endpoint = { id: Id<'wh'>; secret: string };
type RecordedEvent = { tenantId: Id<'ten'>; mode: 'live' | 'test'; type: EventType; data: object };

export const DATA = { emailId: 'em_1', to: 'ann@example.org', from: 'shop@example.com' };

/** 2027-01-15T08:00:00Z. */
const FIRST_START_MS = 1_800_000_000_000;

/** Runs a test in a world. With `env` the world has an application of its own. */
export type InWorld = (
  run: (world: WebhookWorld) => Promise<void>,
  options?: { env?: Record<string, string> },
) => Promise<void>;

/** Returns how the tests of the calling file find their world; the application that they share is closed after them. */
export function shareWorld(): InWorld {
  let shared: Promise<Opened> | undefined;
  after(async () => {
    await (await shared)?.close();
  });
  return async (run, options = {}) => {
    if (options.env === undefined) {
      shared ??= openWorld({});
      await inOpened(await shared, run);
      return;
    }
    const own = await openWorld(options.env);
    try {
      await inOpened(own, run);
    } finally {
      await own.close();
    }
  };
}

async function openWorld(env: Record<string, string>): Promise<Opened> {
  const clock = createFakeClock(FIRST_START_MS);
  const knobs: Knobs = { posts: [], fetch: answering({}), random: 0.5, crashPoint: () => {} };
  const { log, lines: logged } = recordLog();
  const test = await openTestApp({
    env: { POSTRIDER_WEBHOOKS_ALLOW_HTTP: 'true', ...env },
    system: {
      clock,
      log,
      random: () => knobs.random,
      crashPoint: (name) => knobs.crashPoint(name),
      async fetch(request) {
        knobs.posts.push(request);
        return await knobs.fetch(request);
      },
    },
  });
  const database = openWriting(join(test.dataDir, 'postrider.db'), 'NORMAL');
  return {
    test,
    clock,
    knobs,
    logged,
    side: countedSide(database, test.app.db.changes),
    async close() {
      database.close();
      await test.close();
    },
  };
}

async function inOpened(opened: Opened, run: (world: WebhookWorld) => Promise<void>): Promise<void> {
  const { test, clock, side, knobs, logged } = opened;
  await clock.advance(1_000 - (clock.now() % 1_000));
  knobs.posts.length = 0;
  logged.length = 0;
  Object.assign(knobs, { fetch: answering({}), random: 0.5, crashPoint: () => {} });
  const stops: (() => Promise<void>)[] = [];
  function start(): void {
    for (const work of [
      startWork(test.app, createFanOutWork(test.app)),
      startTasks(test.app, [createWebhookKind(test.app), createReplayKind(test.app)]),
    ]) {
      stops.push(async () => void (await Promise.all([work.stop(0), clock.advance(0)])));
    }
  }
  try {
    await run({
      ...opened,
      startMs: clock.now(),
      posts: knobs.posts,
      answer: (give) => {
        knobs.fetch = async (request) => await answering(await give(request))(request);
      },
      createEndpoint: (endpoint) => createEndpoint(test, endpoint),
      record: (event) => record(opened, event),
      deliveries: () =>
        test.app.db.read
          .selectFrom('webhookDeliveries as delivery')
          .leftJoin('tasks', (join) =>
            join.onRef('reference', '=', 'delivery.id').on('kind', '=', 'webhooks'),
          )
          .selectAll('delivery')
          .select(['dueAt', 'runId'])
          .select(({ fn }) => fn.coalesce('tasks.attempts', 'delivery.attempts').as('attempts'))
          .orderBy('delivery.id')
          .execute(),
      addDeliveries: (...rows) => addDeliveries(opened, rows),
      endpoint: () => side.selectFrom('webhookEndpoints').selectAll().executeTakeFirstOrThrow(),
      async setEndpoint(change) {
        await side.updateTable('webhookEndpoints').set(change).execute();
      },
      start,
      async begin(endpoint) {
        const created = await createEndpoint(test, endpoint);
        await record(opened);
        start();
        return created;
      },
    });
  } finally {
    for (const stop of stops) await stop();
    for (const table of [
      ...(['webhookDeliveries', 'webhookReplays', 'webhookEndpoints'] as const),
      ...(['events', 'tasks'] as const),
    ]) {
      await side.deleteFrom(table).execute();
    }
  }
}

function answering(answer: Partial<HttpResponse> | Error): Fetch {
  return async () => {
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false, ...answer };
  };
}

async function createEndpoint(
  test: TestApp,
  {
    url = 'https://receiver.example/hook',
    events = ['email.delivered'],
    key = test.testKey,
  }: { url?: string; events?: EventType[]; key?: string } = {},
): Promise<Endpoint> {
  const { status, body } = await test.request('POST', '/v1/webhooks', { key, body: { url, events } });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function record(
  { test, clock, side }: Opened,
  {
    tenantId = test.tenantId,
    mode = 'test',
    type = 'email.delivered',
    data = DATA,
  }: Partial<RecordedEvent> = {},
): Promise<Id<'evt'>> {
  const createdAt = clock.now();
  const id = newId('evt', createdAt);
  await recordEvent(side, { id, tenantId, mode, type, emailId: 'em_1', data, createdAt });
  // The event was recorded beside the writer, which otherwise asks for the wake-up.
  test.app.wakeups.notify('events');
  return id;
}

const ROWS_PER_INSERT = 1_000;

async function addDeliveries({ test, clock, side }: Opened, added: AddedDelivery[]): Promise<Id<'whd'>[]> {
  const { tenantId } = test;
  const due = new Map<Id<'whd'>, number>();
  const rows = added.map(({ createdAt = clock.now(), dueAt, runId: _, ...row }) => {
    const id = newId('whd', createdAt);
    if (dueAt) due.set(id, dueAt);
    return { id, tenantId, state: 'pending' as const, attempts: 0, createdAt, ...row };
  });
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) {
    await side
      .insertInto('webhookDeliveries')
      .values(rows.slice(at, at + ROWS_PER_INSERT))
      .execute();
  }
  for (const { id, endpointId: queueKey } of rows) {
    const dueAt = due.get(id);
    if (dueAt !== undefined)
      await scheduleTask(side, { kind: 'webhooks', reference: id, queueKey, tenantId, dueAt });
  }
  return rows.map(({ id }) => id);
}

/** Lets the workers and the database go on, at a clock that stands still, until `check` holds. */
export async function until(
  { clock }: Pick<WebhookWorld, 'clock'>,
  what: string,
  check: () => boolean | Promise<boolean>,
): Promise<void> {
  await waitUntil(async () => {
    await clock.advance(0);
    return check();
  }, what);
}

/** The one delivery there is. */
export const only = async (world: WebhookWorld) => {
  const [row, ...more] = await world.deliveries();
  assert.ok(row && more.length === 0);
  return row;
};
export const ended = (world: WebhookWorld) =>
  until(world, 'every delivery has ended', async () => {
    const rows = await world.deliveries();
    return rows.length > 0 && rows.every((row) => row.state !== 'pending' && row.dueAt === null);
  });
