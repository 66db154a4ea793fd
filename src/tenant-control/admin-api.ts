/** Registers the operator's routes that suspend, resume and delete tenants. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { BROADCAST_TASKS } from '../ledger/run-store.ts';
import { wakeTasks } from '../tasks/engine.ts';
import { showTenant } from '../tenants/admin-schemas.ts';
import { findTenant } from '../tenants/store.ts';
import { beginDeletion } from './delete.ts';
import { countHoldings, type Holdings } from './holdings-store.ts';
import { resumeTenant, suspendTenant } from './suspend.ts';

/** `maximum` ends the counts: each is at most one more than it. */
const holdingsQuery = Type.Object({ maximum: Type.Optional(Type.Integer({ minimum: 1 })) });

/** The id or the name of a tenant. */
type ByName = { Params: { tenant: string } };

type ControlApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

/** The numbers of things that a tenant still owns. `isDeleted` is true once there is no tenant with this id or name. */
export type TenantHoldings = { isDeleted: boolean; holdings: Holdings | null };

/** Registers `POST /tenants/:tenant/suspend`, `/resume` and `/deletion`, and `GET /tenants/:tenant/holdings`. */
export function registerTenantControl(server: FastifyInstance, app: ControlApp): void {
  const { db, clock } = app;
  server.post<ByName>('/tenants/:tenant/suspend', async ({ params: { tenant } }) =>
    announce(app, await db.commit(suspendTenant, { tenant })),
  );
  server.post<ByName>('/tenants/:tenant/resume', async ({ params: { tenant } }) =>
    announce(app, await db.commit(resumeTenant, { tenant, now: clock.now() })),
  );
  server.post<ByName>('/tenants/:tenant/deletion', async ({ params: { tenant } }) => {
    const shown = announce(app, await db.commit(beginDeletion, { tenant, now: clock.now() }));
    // Sessions of mailboxes and keys are asked again whether their logins stand.
    app.wakeups.notify('logins');
    return shown;
  });
  server.get<ByName & { Querystring: Static<typeof holdingsQuery> }>(
    '/tenants/:tenant/holdings',
    { schema: { querystring: holdingsQuery } },
    async ({ params: { tenant }, query: { maximum } }): Promise<TenantHoldings> => {
      const row = await findTenant(db.read, tenant);
      const holdings = row ? await db.query(countHoldings, { tenantId: row.id, maximum }) : null;
      return { isDeleted: row === undefined, holdings };
    },
  );
}

/** Shows a tenant once its new status is in effect: keys in memory are forgotten, and broadcasts ask for their rules again. */
function announce(app: ControlApp, tenant: TenantRow) {
  app.wakeups.notify('tenants');
  wakeTasks(app, BROADCAST_TASKS);
  return showTenant(tenant);
}
