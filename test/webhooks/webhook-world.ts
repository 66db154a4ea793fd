/**
 * The application with a clock that is moved by hand and receivers that are functions, for the tests of webhooks.
 * Events are recorded through a connection of its own, as the features do it inside their writes. Opening an
 * application takes a second, so the tests of a file share one and each finds it empty.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { pino } from 'pino';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { WebhookDeliveryRow } from '../../src/db/tables.ts';
import { type EventType, recordEvent } from '../../src/events/store.ts';
import type { CrashPoint } from '../../src/system/crash-point.ts';
import type { HttpResponse } from '../../src/system/fetch/answer.ts';
import type { Fetch, HttpRequest } from '../../src/system/fetch.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import { startWork } from '../../src/system/worker.ts';
import { createReplayWork } from '../../src/webhooks/deliveries/replay.ts';
import { createFanOutWork } from '../../src/webhooks/fan-out.ts';
import { createWebhookWork } from '../../src/webhooks/worker.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { pause } from '../support/pause.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

export type Answer = Partial<HttpResponse> | Error | Promise<Partial<HttpResponse>>;

/** What a test sets in the world while it runs. */
type Knobs = {
  posts: HttpRequest[];
  fetch: Fetch;
  random: number;
  crashPoint: CrashPoint;
  logged: LogLine[];
};

/** What the operator is told of, at level warn and above. */
export type LogLine = { msg: string; [field: string]: unknown };

type Opened = { test: TestApp; clock: FakeClock; side: Tx; knobs: Knobs; close(): Promise<void> };

export type WebhookWorld = Omit<Opened, 'close'> & {
  /** When this test began: a full second. */
  startMs: number;
  /** Every post made, oldest first. */
  posts: HttpRequest[];
  logged: LogLine[];
  /** What receivers answer from now on; at first 200. */
  answer(give: (request: HttpRequest) => Answer): void;
  createEndpoint(options?: { url?: string; events?: EventType[]; key?: string }): Promise<Endpoint>;
  record(event?: Partial<RecordedEvent>): Promise<Id<'evt'>>;
  deliveries(): Promise<WebhookDeliveryRow[]>;
  /** Starts the workers; they are stopped when the test ends. */
  start(): void;
};

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
  const knobs: Knobs = { posts: [], fetch: answering({}), random: 0.5, crashPoint: () => {}, logged: [] };
  const log = pino({ level: 'warn', base: null }, { write: (line) => knobs.logged.push(JSON.parse(line)) });
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
    side: kyselyOn(database),
    async close() {
      database.close();
      await test.close();
    },
  };
}

async function inOpened(opened: Opened, run: (world: WebhookWorld) => Promise<void>): Promise<void> {
  const { test, clock, side, knobs } = opened;
  await clock.advance(1_000 - (clock.now() % 1_000));
  knobs.posts.length = 0;
  knobs.logged.length = 0;
  Object.assign(knobs, { fetch: answering({}), random: 0.5, crashPoint: () => {} });
  const stops: (() => Promise<void>)[] = [];
  try {
    await run({
      ...opened,
      startMs: clock.now(),
      posts: knobs.posts,
      logged: knobs.logged,
      answer: (give) => {
        knobs.fetch = async (request) => await answering(await give(request))(request);
      },
      createEndpoint: (endpoint) => createEndpoint(test, endpoint),
      record: (event) => record(opened, event),
      deliveries: () => test.app.db.read.selectFrom('webhookDeliveries').selectAll().orderBy('id').execute(),
      start: () => {
        for (const work of [
          startWork(test.app, createFanOutWork(test.app)),
          startWork(test.app, createWebhookWork(test.app)),
          startWork(test.app, createReplayWork(test.app)),
        ]) {
          stops.push(async () => void (await Promise.all([work.stop(0), clock.advance(0)])));
        }
      },
    });
  } finally {
    for (const stop of stops) await stop();
    for (const table of ['webhookDeliveries', 'webhookReplays', 'webhookEndpoints', 'events'] as const) {
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
  test.app.wakeups.notify('events');
  return id;
}

const PATIENCE_MS = 30_000;

/** Lets the workers and the database go on, at a clock that stands still, until `check` holds. */
export async function until(
  { clock }: Pick<WebhookWorld, 'clock'>,
  what: string,
  check: () => boolean | Promise<boolean>,
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await check())) {
    assert.ok(performance.now() < giveUpAt, `waited in vain until ${what}`);
    await clock.advance(0);
    await pause();
  }
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
