/**
 * The application with a clock that is moved by hand and receivers that are functions, for the tests of webhooks.
 * Events are recorded through a connection of its own, as the features do it inside their writes.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { WebhookDeliveryRow } from '../../src/db/tables.ts';
import { type EventType, recordEvent } from '../../src/events/store.ts';
import type { Fetch, HttpRequest, HttpResponse } from '../../src/system/fetch.ts';
import { type Id, newId } from '../../src/system/ids.ts';
import type { System } from '../../src/system/system.ts';
import { type RunningWork, startWork } from '../../src/system/worker.ts';
import { createFanOutWork } from '../../src/webhooks/fan-out.ts';
import { createWebhookWork } from '../../src/webhooks/worker.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

/** 2027-01-15T08:00:00Z. */
export const START_MS = 1_800_000_000_000;

export type Answer = Partial<HttpResponse> | Error | Promise<Partial<HttpResponse>>;

export type WebhookWorld = {
  test: TestApp;
  clock: FakeClock;
  /** Every post made, oldest first. */
  posts: HttpRequest[];
  /** What receivers answer from now on; at first 200. */
  answer(give: (request: HttpRequest) => Answer): void;
  createEndpoint(options?: { url?: string; events?: EventType[]; key?: string }): Promise<Endpoint>;
  record(event?: Partial<RecordedEvent>): Promise<Id<'evt'>>;
  deliveries(): Promise<WebhookDeliveryRow[]>;
  /** Starts both workers. */
  start(): void;
  /** A connection that writes past the daemon's own writer. */
  side: Tx;
};

export type Endpoint = { id: Id<'wh'>; secret: string };
type RecordedEvent = { tenantId: Id<'ten'>; mode: 'live' | 'test'; type: EventType; data: object };

export type WorldOptions = { system?: Partial<System>; env?: Record<string, string> };

/** Runs the test in a world of its own and takes the world down after it, also when the test fails. */
export async function inWorld(
  run: (world: WebhookWorld) => Promise<void>,
  options: WorldOptions = {},
): Promise<void> {
  const clock = createFakeClock(START_MS);
  const posts: HttpRequest[] = [];
  let give: (request: HttpRequest) => Answer = () => ({});
  const fetch: Fetch = async (request) => {
    posts.push(request);
    const answer = await give(request);
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: {}, body: Buffer.alloc(0), ...answer };
  };
  const test = await openTestApp({
    system: { clock, fetch, random: () => 0.5, ...options.system },
    ...(options.env && { env: options.env }),
  });
  const database = openWriting(join(test.dataDir, 'postrider.db'), 'NORMAL');
  const side = kyselyOn(database);
  const works: RunningWork[] = [];
  try {
    await run({
      test,
      clock,
      posts,
      side,
      answer: (next) => {
        give = next;
      },
      createEndpoint: (endpoint) => createEndpoint(test, endpoint),
      record: (event) => record(test, side, clock, event),
      deliveries: () => test.app.db.read.selectFrom('webhookDeliveries').selectAll().orderBy('id').execute(),
      start: () => {
        works.push(startWork(test.app, createFanOutWork(test.app)));
        works.push(startWork(test.app, createWebhookWork(test.app)));
      },
    });
  } finally {
    give = () => new Error('the test is over');
    for (const work of works) await Promise.all([work.stop(0), clock.advance(0)]);
    database.close();
    await test.close();
  }
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
  test: TestApp,
  side: Tx,
  clock: FakeClock,
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
  test.app.notices.notify('events');
  return id;
}

export const DATA = { emailId: 'em_1', to: 'ann@example.org', from: 'shop@example.com' };

const PATIENCE_MS = 5_000;

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
  }
}
