/** What is left of the month, on the answers to requests that send (api.md 1.10). */
import type { FastifyInstance, RouteOptions } from 'fastify';
import type { App } from '../app.ts';
import { findPlannedCaller } from './authenticate.ts';
import { monthOf, secondsLeft } from './quota.ts';
import { getQuota } from './store.ts';

/** Whether answers of this route may say it. */
export function saysQuota({ config }: Pick<RouteOptions, 'config'>): boolean {
  return config?.needs === 'send';
}

/** For routes of `scope` that need `send`, of live keys whose plan has a limit: one short read each, after the send. */
export function showQuota(scope: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  scope.addHook('onSend', async (request, reply, payload) => {
    const known = findPlannedCaller(request);
    if (!known || known.plan.monthlyEmails === null || known.caller.mode === 'test') return payload;
    if (!saysQuota(request.routeOptions)) return payload;
    const now = app.clock.now();
    const { monthlyEmails, emails } = await getQuota(app.db.read, known.caller.tenantId, monthOf(now));
    if (monthlyEmails === null) return payload;
    reply.headers({
      'x-quota-limit': monthlyEmails,
      'x-quota-remaining': Math.max(0, monthlyEmails - emails),
      'x-quota-reset': secondsLeft(now),
    });
    return payload;
  });
}
