/**
 * Posts one signed sample to a route while the caller waits. A test is not stored and is never retried. Its result, even a
 * 410, does not change the route.
 */
import type { App } from '../app.ts';
import type { InboundRouteRow } from '../db/inbound-tables.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError } from '../system/errors.ts';
import { newId } from '../system/ids.ts';
import type { Reach } from '../tenants/authenticate.ts';
import { resultOf } from '../webhooks/posting/post.ts';
import type { TestResult } from '../webhooks/schemas.ts';
import type { RouteCalls } from './post/part.ts';
import { sampleBody } from './post/sample.ts';
import { getRoute } from './store.ts';

export type TestRoute = (reach: Reach, id: string) => Promise<TestResult>;

/** Maximum number of concurrent tests, shared among tenants: each may hold a connection for 15 seconds. */
const MAX_TESTS = 32;

/** Returns the function that posts tests, one of a route at a time. */
export function createTestRoute(app: Pick<App, 'db' | 'clock'>, { post }: RouteCalls): TestRoute {
  const underWay = new Set<string>();
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_TESTS, perFree: 1, maxWaiting: 0 });
  const run = async (route: InboundRouteRow): Promise<TestResult> => {
    const now = app.clock.now();
    const outcome = await post({ route, deliveryId: newId('tsk', now), body: sampleBody(route, now) });
    const { responseStatus, responseTimeMs, error } = resultOf(outcome);
    return { delivered: outcome.kind === 'delivered', responseStatus, responseTimeMs, error };
  };
  return async (reach, id) => {
    const route = await getRoute(app.db.read, reach, id);
    if (underWay.has(id)) throw tooSoon('A test of this route is still running; wait until it ends');
    const running = limiter.tryRun(() => run(route), { owner: reach.tenantId });
    if (running === undefined) throw tooSoon('Many tests of routes are running; wait until one of them ends');
    underWay.add(id);
    return running.finally(() => underWay.delete(id));
  };
}

function tooSoon(message: string): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
