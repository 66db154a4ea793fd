/** Sets a route of outgoing mail for the operator. The password is sealed before it is stored. */
import type { App } from '../app.ts';
import { routeDomain } from '../config/fields.ts';
import { findRouteFault } from '../config/outbound.ts';
import type { OutboundRouteRow } from '../db/outbound-tables.ts';
import { AppError, invalid } from '../system/errors.ts';
import { getTenant } from '../tenants/store.ts';
import type { NewRoute } from './admin-schemas.ts';
import { configuredRoutes } from './configured.ts';
import { passwordContext, requireCertificate } from './relay.ts';
import { DEFAULT_PORTS } from './route.ts';
import { type Removed, removeRoute, saveRoute } from './store.ts';

type Saving = Pick<App, 'db' | 'clock' | 'config' | 'sealer' | 'wakeups'>;

/**
 * Stores a route in place of the one with its name. Mail that is not claimed yet takes it at once.
 * @throws AppError validation_error, not_found for an unknown tenant, already_exists
 */
export async function saveOutboundRoute(app: Saving, name: string, route: NewRoute): Promise<void> {
  requireNotConfigured(app, name);
  const { password, ca, tenant, ...settings } = route;
  const fault = findRouteFault({
    ...settings,
    hasPassword: password !== undefined,
    hasAuthorities: ca !== undefined,
  });
  if (fault !== undefined) throw invalid('route', `The route is not valid: ${fault}`);
  if (ca !== undefined) requirePem(ca);
  const tenantId = tenant === undefined ? null : (await getTenant(app.db.read, tenant)).id;
  await app.db.commit(saveRoute, rowOf(app, { name, tenantId, route }));
  app.wakeups.notify('outbound-routes');
}

/**
 * Removes a stored route. Mail that is not claimed yet takes the next one that is for it.
 * @throws AppError not_found; already_exists for a route of the configuration
 */
export async function removeOutboundRoute(app: Saving, name: string): Promise<Removed> {
  requireNotConfigured(app, name);
  const removed = await app.db.commit(removeRoute, { name });
  app.wakeups.notify('outbound-routes');
  return removed;
}

function requireNotConfigured(app: Saving, name: string): void {
  if (configuredRoutes(app.config).some((route) => route.name === name))
    throw new AppError(
      'already_exists',
      `The route "${name}" is set in the configuration file; change it there`,
    );
}

function requirePem(ca: string): void {
  try {
    requireCertificate(ca);
  } catch (error) {
    throw new AppError('validation_error', '`ca` must be a certificate in PEM', {
      param: 'ca',
      cause: error,
    });
  }
}

type Saved = { name: string; tenantId: OutboundRouteRow['tenantId']; route: NewRoute };

function rowOf({ sealer, clock }: Saving, { name, tenantId, route }: Saved): OutboundRouteRow {
  const { domain, hosts, tls = 'starttls', user, password } = route;
  const now = clock.now();
  return {
    name,
    tenantId,
    domain: domain === undefined ? null : routeDomain(domain),
    hosts: hosts === undefined ? null : JSON.stringify(hosts.map((host) => host.toLowerCase())),
    port: route.port ?? DEFAULT_PORTS[tls],
    tls,
    tlsName: route.tlsName ?? null,
    authorities: route.ca ?? null,
    isPrivate: route.private === true ? 1 : 0,
    user: user ?? null,
    passwordSealed: password === undefined ? null : sealer.seal(password, passwordContext(name)),
    connections: route.connections ?? null,
    recipientsPerMinute: route.recipientsPerMinute ?? null,
    createdAt: now,
    updatedAt: now,
    tlsPolicy: route.tlsPolicy ?? null,
  };
}
