/** Registers the operator's routes that suspend and resume tenants. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { BROADCAST_TASKS } from '../ledger/run-store.ts';
import { wakeTasks } from '../tasks/engine.ts';
import { showTenant } from '../tenants/admin-schemas.ts';
import { resumeTenant, suspendTenant } from './suspend.ts';

/** The id or the name of a tenant. */
type ByName = { Params: { tenant: string } };

type ControlApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

/** Registers `POST /tenants/:tenant/suspend` and `/resume`. */
export function registerTenantControl(server: FastifyInstance, app: ControlApp): void {
  const { db, clock } = app;
  server.post<ByName>('/tenants/:tenant/suspend', async ({ params: { tenant } }) =>
    announce(app, await db.commit(suspendTenant, { tenant })),
  );
  server.post<ByName>('/tenants/:tenant/resume', async ({ params: { tenant } }) =>
    announce(app, await db.commit(resumeTenant, { tenant, now: clock.now() })),
  );
}

/** Shows a tenant once its new status is in effect: keys in memory are forgotten, and broadcasts ask for their rules again. */
function announce(app: ControlApp, tenant: TenantRow) {
  app.wakeups.notify('tenants');
  wakeTasks(app, BROADCAST_TASKS);
  return showTenant(tenant);
}
