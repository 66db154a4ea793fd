/** `/v1/domains` (specification 4.3): the resource, and the check of a domain on demand. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createDomain } from './create.ts';
import { deleteDomain } from './delete.ts';
import { createKeyPairs } from './key-pairs.ts';
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
    return listDomains(app.db.read, callerOf(request).tenantId, { ...page, status, name });
  });
  domains.get({}, (request) => getDomain(app.db.read, callerOf(request).tenantId, request.params.id));
  domains.update({ body: domainChangeSchema }, (request) =>
    updateDomain(app, { tenantId: callerOf(request).tenantId, id: request.params.id }, request.body),
  );
  domains.delete(
    { description: 'Deletes a domain, unless mail is scheduled from it.', refuses: ['domain_in_use'] },
    (request) => deleteDomain(app, callerOf(request).tenantId, request.params.id),
  );
  registerVerify(server, app);
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
    async (request) => showDomain(app.config, await verify(callerOf(request).tenantId, request.params.id)),
  );
}
