/** `/v1/domains` (specification 4.3): the resource, and the check of a domain on demand. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { AppError } from '../system/errors.ts';
import { callerOf, type Reach } from '../tenants/authenticate.ts';
import { createDomain, readRegion } from './create.ts';
import { createKeyPairs, type KeyPairs } from './key-pairs.ts';
import { readTrackingHost } from './name.ts';
import { requireIdWithin } from './reach.ts';
import { prepareEd25519, rotateKeys } from './rotation/rotate.ts';
import {
  type DomainChange,
  domainChangeSchema,
  domainFilter,
  domainSchema,
  newDomainSchema,
  showDomain,
} from './schemas.ts';
import { countScheduled } from './spool-store.ts';
import { type Domain, endDomain, getDomain, listDomains } from './store.ts';
import { createVerify } from './verify.ts';
import { updateDomain } from './writes.ts';

/** Registers the routes of the domains resource. */
export function registerDomainsApi(server: FastifyInstance, app: App): void {
  const withKeys = { ...app, keyPairs: createKeyPairs() };
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
    (request) => createDomain(withKeys, callerOf(request).tenantId, request.body),
  );
  domains.list({ query: domainFilter }, (request, page) => {
    const { status, name } = request.query;
    return listDomains(app.db.read, callerOf(request), { ...page, status, name });
  });
  domains.get({}, (request) => {
    const { tenantId, id } = domainOf(request);
    return getDomain(app.db.read, tenantId, id);
  });
  domains.update({ body: domainChangeSchema, refuses: ['invalid_state'] }, (request) =>
    changeDomain(app, domainOf(request), request.body),
  );
  domains.delete(
    { description: 'Deletes a domain, unless mail is scheduled from it.', refuses: ['domain_in_use'] },
    (request) => {
      const { tenantId, id } = domainOf(request);
      return deleteDomain(app, tenantId, id);
    },
  );
  registerVerify(server, app);
  registerRotation(server, withKeys);
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

function registerVerify(server: FastifyInstance, app: App): void {
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

function registerRotation(server: FastifyInstance, app: App & { keyPairs: KeyPairs }): void {
  const path = '/domains/:id/rotate-dkim';
  const schema = {
    operationId: 'rotateDomainDkim',
    summary: 'Rotate the DKIM keys of a domain',
    description:
      'Makes the next DKIM keys, and returns the domain. A key signs once it is found in DNS at the name of the optional record `DKIM_NEXT`; the one before stays published for at least 7 days, until the last mail signed with it has ended. While a key waits, the request changes nothing.',
    tags: ['Domains'],
    ...paramsOf(path),
    response: { 200: domainSchema },
  };
  server.post<{ Params: { id: string } }>(
    path,
    { config: { refuses: ['invalid_state'] }, schema },
    async (request) => showDomain(app.config, await rotateKeys(app, domainOf(request))),
  );
}

/**
 * Deletes a domain.
 * @throws AppError not_found, domain_in_use with `details.scheduledEmails` and `details.scheduledBroadcasts`
 */
export async function deleteDomain(
  app: Pick<App, 'db' | 'clock'>,
  tenantId: Domain['tenantId'],
  id: string,
): Promise<void> {
  const now = app.clock.now();
  const outcome = await app.db.commit(endDomain, { id, tenantId, now });
  if (outcome.kind === 'ended') return;
  const { domainId, scheduledBroadcasts } = outcome;
  const counted = await app.db.query(countScheduled, { domainId, now });
  // The scheduled mail that the write has seen may have been sent since.
  const scheduledEmails = outcome.hasScheduledMail ? Math.max(counted, 1) : counted;
  const parts = [
    ...(scheduledEmails > 0 ? [plural(scheduledEmails, 'scheduled email')] : []),
    ...(scheduledBroadcasts > 0
      ? [`${plural(scheduledBroadcasts, 'broadcast')} scheduled or not completely sent`]
      : []),
  ];
  const remedy =
    scheduledEmails + scheduledBroadcasts === 1
      ? 'cancel it or wait until it is sent'
      : 'cancel them or wait until they are sent';
  throw new AppError('domain_in_use', `Domain has ${parts.join(', and ')}; ${remedy}`, {
    details: { scheduledEmails, scheduledBroadcasts },
  });
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/**
 * Changes what the request names and returns the domain. A refusal changes nothing.
 * @throws AppError not_found, validation_error, invalid_state, unavailable
 */
async function changeDomain(
  app: Pick<App, 'db' | 'clock' | 'egress' | 'random' | 'config' | 'sealer'>,
  { tenantId, id }: { tenantId: Domain['tenantId']; id: string },
  wanted: DomainChange,
): Promise<Domain> {
  const domain = await getDomain(app.db.read, tenantId, id);
  const { trackingSubdomain: host, openTracking, clickTracking, productType, region } = wanted;
  const change = {
    ...(host !== undefined && {
      trackingSubdomain: host === null ? null : readTrackingHost(app.config, domain.name, host),
    }),
    ...(openTracking !== undefined && { openTracking: toFlag(openTracking) }),
    ...(clickTracking !== undefined && { clickTracking: toFlag(clickTracking) }),
    ...(productType !== undefined && { productType }),
    ...(region !== undefined && { region: readRegion(app.config.regions, region) }),
  };
  const { ed25519 } = wanted;
  return app.db.commit(updateDomain, {
    id: domain.id,
    tenantId,
    change,
    ed25519: ed25519 === undefined ? undefined : await prepareEd25519(app, domain, ed25519),
    now: app.clock.now(),
    spread: app.random(),
  });
}

function toFlag(value: boolean): 0 | 1 {
  return value ? 1 : 0;
}
