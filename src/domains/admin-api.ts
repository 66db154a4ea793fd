/** Registers the operator's routes for the domains of all tenants. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { getOnlyTenant } from '../tenants/store.ts';
import { deleteDomain } from './api.ts';
import { createDomain } from './create.ts';
import { createKeyPairs } from './key-pairs.ts';
import { getNamedDomain, listDomainsOfAll } from './operator-store.ts';
import { rotateKeys } from './rotation/rotate.ts';
import { domainFilter, newDomainSchema, showDomain } from './schemas.ts';
import type { Domain } from './store.ts';
import { verifyDomain } from './verify.ts';

/** Maximum number of domains in one answer. */
const MAX_LISTED = 1_000;

/** `tenant` is an id or a name, everywhere. Without one, a new domain belongs to the only tenant. */
const tenant = Type.Optional(Type.String());
const newSchema = Type.Object({ ...newDomainSchema.properties, tenant });
const listQuery = Type.Object({ tenant, ...domainFilter });
const oneQuery = Type.Object({ tenant });

/** The id or the name of a domain. */
type ByName = { Params: { name: string }; Querystring: Static<typeof oneQuery> };

/** A domain as the operator sees it: as its tenant does, and whose it is. */
export type OperatorDomain = ReturnType<typeof showDomain> & { tenantId: Domain['tenantId'] };

const PATH = '/domains';
const ONE = `${PATH}/:name`;

/**
 * Registers `POST` and `GET /domains`, `GET` and `DELETE /domains/:name`, and `POST` to `/domains/:name/verify` and
 * `/domains/:name/rotate-dkim`.
 */
export function registerDomainsAdmin(server: FastifyInstance, app: App): void {
  const withKeys = { ...app, keyPairs: createKeyPairs() };
  const show = (domain: Domain): OperatorDomain => ({
    ...showDomain(app.config, domain),
    tenantId: domain.tenantId,
  });
  const find = ({ params, query }: Named) => getNamedDomain(app.db.read, params.name, query.tenant);
  const schema = { querystring: oneQuery };
  server.post<{ Body: Static<typeof newSchema> }>(PATH, { schema: { body: newSchema } }, async ({ body }) => {
    const { tenant: owner, ...wanted } = body;
    const { id } = await getOnlyTenant(app.db.read, owner);
    return show(await createDomain(withKeys, id, wanted));
  });
  server.get<{ Querystring: Static<typeof listQuery> }>(
    PATH,
    { schema: { querystring: listQuery } },
    async ({ query }) => (await listDomainsOfAll(app.db.read, { ...query, limit: MAX_LISTED })).map(show),
  );
  server.get<ByName>(ONE, { schema }, async (request) => show(await find(request)));
  server.post<ByName>(`${ONE}/verify`, { schema }, async (request) => {
    const { tenantId, id } = await find(request);
    return show(await verifyDomain(app, tenantId, id));
  });
  server.post<ByName>(`${ONE}/rotate-dkim`, { schema }, async (request) => {
    const { tenantId, id } = await find(request);
    return show(await rotateKeys(withKeys, { tenantId, id }));
  });
  server.delete<ByName>(ONE, { schema }, async (request) => {
    const domain = await find(request);
    await deleteDomain(app, domain.tenantId, domain.id);
    return show(domain);
  });
}

type Named = { params: ByName['Params']; query: ByName['Querystring'] };
