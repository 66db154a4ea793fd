/**
 * Posts one signed sample to an endpoint while the caller waits (specification 4.12, api.md 1.8). A test is not in
 * the log of deliveries and is never retried. Its result, even a 410, does not change the endpoint.
 */
import type { App } from '../app.ts';
import type { EventType } from '../events/store.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import { Shares } from '../system/shares.ts';
import { errorOf, eventPayload, type PostingApp, post } from './deliver.ts';
import { sampleData } from './sample.ts';
import type { TestResult } from './schemas.ts';
import { getEndpoint, type Owner } from './store.ts';

export type SendTest = (owner: Owner, id: string, type: EventType) => Promise<TestResult>;

/** Maximum number of concurrent tests, shared among tenants: each may hold a connection for 15 seconds. */
const MAX_TESTS = 32;

/**
 * Returns the function that posts tests. It runs one test per endpoint at a time, because a test may hold a
 * connection for 15 s.
 */
export function createSendTest(app: PostingApp & Pick<App, 'db'>): SendTest {
  const underWay = new Set<string>();
  const slots = new Shares<Owner['tenantId']>(MAX_TESTS);
  return async (owner, id, type) => {
    const endpoint = await getEndpoint(app.db.read, owner, id);
    if (underWay.has(id)) throw tooSoon('A test of this endpoint is still running; wait until it ends');
    if (!slots.take(owner.tenantId))
      throw tooSoon('Many tests of endpoints are running; wait until one of them ends');
    underWay.add(id);
    try {
      const now = app.clock.now();
      const data = JSON.stringify(sampleData(type, now));
      const event = { id: newId('evt', now), type, mode: endpoint.mode, createdAt: now, data };
      const body = eventPayload(event, { test: true });
      const outcome = await post(app, { id: newId('whd', now), endpoint, event, body });
      const response = outcome.kind === 'unreachable' ? null : outcome.response;
      return {
        delivered: outcome.kind === 'delivered',
        responseStatus: response?.status ?? null,
        responseTimeMs: response?.timeMs ?? null,
        error: errorOf(outcome),
      };
    } finally {
      underWay.delete(id);
      slots.release(owner.tenantId);
    }
  };
}

function tooSoon(message: string): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
