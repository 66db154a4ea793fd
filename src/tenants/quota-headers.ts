/** Adds the rest of the monthly quota to the answers of requests that send. */
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify';
import type { App } from '../app.ts';
import { type Caller, findPlannedCaller } from './authenticate.ts';
import { monthOf, secondsLeft } from './quota.ts';
import { getQuota } from './store.ts';

/** Returns true when answers of this route may have the quota headers. */
export function saysQuota({ config }: Pick<RouteOptions, 'config'>): boolean {
  return config?.needs === 'send';
}

/**
 * Adds the headers to routes of `scope` that need `send`, for live keys whose plan has a limit. Each answer costs one
 * short read.
 */
export function showQuota(scope: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  const addHeaders = async (reply: FastifyReply, tenantId: Caller['tenantId']): Promise<void> => {
    const now = app.clock.now();
    const { monthlyEmails, emails } = await getQuota(app.db.read, tenantId, monthOf(now));
    if (monthlyEmails === null) return;
    reply.headers({
      'x-quota-limit': monthlyEmails,
      'x-quota-remaining': Math.max(0, monthlyEmails - emails),
      'x-quota-reset': secondsLeft(now),
    });
  };
  scope.addHook('onSend', (request, reply, payload, done) => {
    const known = findPlannedCaller(request);
    const isLimited = known && known.plan.monthlyEmails !== null && known.caller.mode !== 'test';
    if (!isLimited || !saysQuota(request.routeOptions)) return done(null, payload);
    addHeaders(reply, known.caller.tenantId).then(() => done(null, payload), done);
  });
}
