/**
 * Registers the operator's routes for tenants, plans and keys. They are served on the control socket alone, never on
 * a network port.
 */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { DomainRow } from '../db/tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import { listEnvelope, pageRequest } from '../http/json/page.ts';
import { notFound } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import {
  type KeyQuery,
  keyQuery,
  type NewKeyBody,
  type NewTenant,
  newKeySchema,
  newTenantSchema,
  type Plan,
  planSchema,
  showKey,
  showListedKey,
  showPlan,
  showTenant,
  type TenantChange,
  type TenantQuery,
  tenantChangeSchema,
  tenantQuery,
} from './admin-schemas.ts';
import { readKeyLimits } from './key-request.ts';
import { createApiKey, revokeKey } from './keys.ts';
import {
  getKeyDomain,
  getTenant,
  insertTenant,
  listApiKeys,
  listPlans,
  listTenantPage,
  listTenants,
  setTenantPlan,
  upsertPlan,
} from './store.ts';

/** Registers the routes of tenants, plans and keys on the server of the control socket. */
export function registerTenantAdmin(server: FastifyInstance, app: App): void {
  server.post<{ Body: NewTenant }>('/tenants', { schema: { body: newTenantSchema } }, async ({ body }) => {
    const now = app.clock.now();
    const { name, plan } = body;
    const tenant = { id: newId('ten', now), name, plan, createdAt: now };
    const row = await app.db.commit(insertTenant, tenant);
    tellOfPlans(app);
    return showTenant(row);
  });
  server.get<{ Querystring: TenantQuery }>(
    '/tenants',
    { schema: { querystring: tenantQuery } },
    async ({ query }) => {
      if (query.limit === undefined)
        return (await listTenants(app.db.read, query.ids?.split(','))).map(showTenant);
      const request = { ...pageRequest(query, 'ten'), name: query.name };
      return listEnvelope(query, await app.db.query(listTenantPage, request), showTenant);
    },
  );
  server.get<{ Params: { tenant: string } }>('/tenants/:tenant', async ({ params: { tenant } }) =>
    showTenant(await getTenant(app.db.read, tenant)),
  );
  server.patch<{ Params: { tenant: string }; Body: TenantChange }>(
    '/tenants/:tenant',
    { schema: { body: tenantChangeSchema } },
    async ({ params, body }) => {
      const row = await app.db.commit(setTenantPlan, { tenant: params.tenant, plan: body.plan });
      tellOfPlans(app);
      return showTenant(row);
    },
  );
  server.put<{ Body: Plan }>('/plans', { schema: { body: planSchema } }, async ({ body }) => {
    const { name, monthlyEmails, requestsPerSecond, storedMegabytes, weight } = body;
    const limits = { monthlyEmails, requestsPerSecond, storedMegabytes, weight };
    const row = await app.db.commit(upsertPlan, { name, ...limits, createdAt: app.clock.now() });
    tellOfPlans(app);
    return showPlan(row);
  });
  server.get('/plans', async () => (await listPlans(app.db.read)).map(showPlan));
  registerKeyAdmin(server, app);
}

/** Has the plans of tenants read again: the limits of their keys, and the weights of their mail. */
function tellOfPlans({ wakeups }: Pick<App, 'wakeups'>): void {
  wakeups.notify('tenants');
  wakeups.notify('plans');
}

function registerKeyAdmin(server: FastifyInstance, app: App): void {
  server.post<{ Body: NewKeyBody }>('/keys', { schema: { body: newKeySchema } }, async ({ body }) => {
    const tenant = await getTenant(app.db.read, body.tenant);
    const { key, token } = await createApiKey(app, {
      tenantId: tenant.id,
      name: body.name,
      mode: body.mode,
      permission: body.permission,
      ...(body.requiresApproval !== undefined && { requiresApproval: body.requiresApproval }),
      ...(body.domain !== undefined && { domainId: await findDomain(app, tenant.id, body.domain) }),
      ...readKeyLimits(body, app.clock.now()),
    });
    return { ...showKey(key), token };
  });
  server.get<{ Querystring: KeyQuery }>('/keys', { schema: { querystring: keyQuery } }, async ({ query }) => {
    const tenant = query.tenant === undefined ? undefined : await getTenant(app.db.read, query.tenant);
    return (await listApiKeys(app.db.read, tenant?.id)).map(showListedKey);
  });
  server.delete<{ Params: { id: string } }>('/keys/:id', async ({ params }) => {
    if (!isId('key', params.id)) throw notFound('API key');
    return showKey(await revokeKey(app, params.id));
  });
}

/**
 * Returns the id of the domain with this id or name.
 * @throws AppError validation_error
 */
function findDomain(app: Pick<App, 'db'>, tenantId: TenantRow['id'], text: string): Promise<DomainRow['id']> {
  const named = isId('dom', text) ? { id: text } : { name: text.toLowerCase() };
  return getKeyDomain(app.db.read, tenantId, { param: 'domain', ...named });
}
