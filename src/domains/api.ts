/** `/v1/domains` (specification 4.3): the resource, and the check of a domain on demand. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { callerOf, type Reach } from '../tenants/authenticate.ts';
import { createDomain } from './create.ts';
import { deleteDomain } from './delete.ts';
import { createKeyPairs } from './key-pairs.ts';
import { requireIdWithin } from './reach.ts';
import { domainChangeSchema, domainFilter, domainSchema, newDomainSchema, showDomain } from './schemas.ts';
import { type Domain, getDomain, listDomains } from './store.ts';
import { updateDomain } from './update.ts';
import { createVerify } from './verify-on-demand.ts';

type DomainApp = Pick<
  App,
  'db' | 'clock' | 'random' | 'wakeups' | 'config' | 'dns' | 'sealer' | 'log' | 'probeTls'
>;

/** Registers the routes of the domains resource. */
export function registerDomainsApi(server: FastifyInstance, app: DomainApp): void {
  const creating = { ...app, keyPairs: createKeyPairs() };
  const domains = resourceRoutes<Domain>(server, {
    name: 'domain',
    tag: 'Domains',
    path: '/domains',
    prefix: 'dom',
    schema: domainSchema,
    show: (domain) => showDomain(app.config, domain),
  });
  domains.create(
    {
      body: newDomainSchema,
      description: 'Returns the DNS records to publish. Mail can be sent once they are verified.',
      refuses: ['already_exists'],
    },
    (request) => createDomain(creating, callerOf(request).tenantId, request.body),
  );
  domains.list({ query: domainFilter }, (request, page) => {
    const { status, name } = request.query;
    return listDomains(app.db.read, callerOf(request), { ...page, status, name });
  });
  domains.get({}, (request) => {
    const { tenantId, id } = domainOf(request);
    return getDomain(app.db.read, tenantId, id);
  });
  domains.update({ body: domainChangeSchema }, (request) =>
    updateDomain(app, domainOf(request), request.body),
  );
  domains.delete(
    { description: 'Deletes a domain, unless mail is scheduled from it.', refuses: ['domain_in_use'] },
    (request) => {
      const { tenantId, id } = domainOf(request);
      return deleteDomain(app, tenantId, id);
    },
  );
  registerVerify(server, app);
}

/**
 * Returns the domain that a request names.
 * @throws AppError not_found when it is beyond the reach of the key
 */
function domainOf(
  request: FastifyRequest<{ Params: { id: string } }>,
): Pick<Reach, 'tenantId'> & { id: string } {
  const { tenantId, domainId } = callerOf(request);
  return { tenantId, id: requireIdWithin({ domainId }, request.params.id) };
}

function registerVerify(server: FastifyInstance, app: DomainApp): void {
  const verify = createVerify(app);
  const path = '/domains/:id/verify';
  const schema = {
    operationId: 'verifyDomain',
    summary: 'Verify a domain',
    description: 'Checks the DNS records of a domain now, and returns the domain with the result.',
    tags: ['Domains'],
    ...paramsOf(path),
    response: { 200: domainSchema },
  };
  server.post<{ Params: { id: string } }>(
    path,
    { config: { worksOnLowDisk: true }, schema },
    async (request) => {
      const { tenantId, id } = domainOf(request);
      return showDomain(app.config, await verify(tenantId, id));
    },
  );
}
