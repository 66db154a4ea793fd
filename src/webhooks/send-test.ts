/**
 * Posts one signed sample to an endpoint while the caller waits (specification 4.12). A test is not in the log of
 * deliveries and is never retried. Its result, even a 410, does not change the endpoint.
 */
import type { App } from '../app.ts';
import type { WebhookEndpointRow } from '../db/webhook-tables.ts';
import type { EventType } from '../events/store.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { payloadFor } from './deliver.ts';
import type { WebhookCalls } from './part.ts';
import { errorOf } from './posting/post.ts';
import { sampleData } from './sample.ts';
import type { TestResult } from './schemas.ts';
import { getEndpoint, type Owner } from './store.ts';

export type SendTest = (owner: Owner, id: string, type: EventType) => Promise<TestResult>;

/** Maximum number of concurrent tests, shared among tenants: each may hold a connection for 15 seconds. */
const MAX_TESTS = 32;

/**
 * Returns the function that posts tests. It runs one test per endpoint at a time, because a test may hold a
 * connection for 15 s. The posts are made by the part of webhooks, which may run in another thread.
 */
export function createSendTest(app: Pick<App, 'db' | 'clock'>, { post }: WebhookCalls): SendTest {
  const underWay = new Set<string>();
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_TESTS, perFree: 1, maxWaiting: 0 });
  const run = async (endpoint: WebhookEndpointRow, type: EventType): Promise<TestResult> => {
    const now = app.clock.now();
    const data = JSON.stringify(sampleData(type, now));
    const event = { id: newId('evt', now), type, mode: endpoint.mode, createdAt: now, data };
    const body = payloadFor(endpoint, event, { test: true });
    const outcome = await post({ id: newId('whd', now), endpoint, event, body });
    const response = outcome.kind === 'unreachable' ? null : outcome.response;
    return {
      delivered: outcome.kind === 'delivered',
      responseStatus: response?.status ?? null,
      responseTimeMs: response?.timeMs ?? null,
      error: errorOf(outcome),
    };
  };
  return async (owner, id, type) => {
    const endpoint = await getEndpoint(app.db.read, owner, id);
    if (underWay.has(id)) throw tooSoon('A test of this endpoint is still running; wait until it ends');
    const running = limiter.tryRun(() => run(endpoint, type), { owner: owner.tenantId });
    if (running === undefined)
      throw tooSoon('Many tests of endpoints are running; wait until one of them ends');
    underWay.add(id);
    return running.finally(() => underWay.delete(id));
  };
}

function tooSoon(message: string): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
