/** `/v1/plan`: the limits of the tenant's plan, and their use. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../app.ts';
import { isoTime } from '../system/clock.ts';
import { callerOf } from './authenticate.ts';
import { endOfMonth, monthOf } from './quota.ts';
import { planUsageSchema } from './schemas.ts';
import { getPlanUsage, type PlanUsage } from './store.ts';

/** Registers `GET /plan`. */
export function registerPlanApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  server.get(
    '/plan',
    {
      schema: {
        operationId: 'getPlan',
        summary: 'Retrieve the plan and its use',
        description:
          'Returns the limits of the plan, the emails counted in this calendar month (UTC), and the size of the received mail and the reports that are stored.',
        tags: ['Plan'],
        response: { 200: planUsageSchema },
      },
    },
    async (request) => {
      const now = app.clock.now();
      return showPlanUsage(await getPlanUsage(app.db.read, callerOf(request).tenantId, monthOf(now)), now);
    },
  );
}

/**
 * Returns the plan with its use. Without a limit emails are not counted, so a count from an earlier plan is not
 * shown.
 */
function showPlanUsage(plan: PlanUsage, now: number): Static<typeof planUsageSchema> {
  const { name, monthlyEmails, requestsPerSecond, storedMegabytes, emails, storedBytes } = plan;
  const limited = monthlyEmails !== null;
  return {
    name,
    monthlyEmails,
    requestsPerSecond,
    storedMegabytes,
    usage: {
      month: monthOf(now),
      emails: limited ? emails : null,
      remaining: limited ? Math.max(0, monthlyEmails - emails) : null,
      resetsAt: isoTime(endOfMonth(now)),
      storedBytes,
    },
  };
}
