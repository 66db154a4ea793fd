/** Finds routes, those of the configuration before stored ones: the file of the operator has the last word. */
import type { App } from '../app.ts';
import { notFound } from '../system/errors.ts';
import type { PartApp } from '../thread-app.ts';
import { configuredRoutes } from './configured.ts';
import { isFor, mostSpecific, type OutboundRoute, type RoutedMail } from './route.ts';
import { findStoredRoute, findStoredRoutes, listStoredRoutes, type RouteList } from './store.ts';

type Routing = Pick<App, 'config' | 'db'>;

/** Returns the route of the mail, or undefined when it goes to the MX hosts of its domain because no route is for it. */
export async function findOutboundRoute(
  app: Pick<PartApp, 'config' | 'db'>,
  mail: RoutedMail,
): Promise<OutboundRoute | undefined> {
  const configured = configuredRoutes(app.config).filter((route) => isFor(route, mail));
  return mostSpecific([...configured, ...(await findStoredRoutes(app.db.read, mail))]);
}

/** Lists routes by name. A stored route with the name of a configured one is not in use, and left out. */
export async function listOutboundRoutes(
  { config, db }: Routing,
  { name, after, limit }: RouteList,
): Promise<OutboundRoute[]> {
  const configured = configuredRoutes(config);
  const names = new Set(configured.map((route) => route.name));
  const stored = await listStoredRoutes(db.read, { name, after, limit: limit + names.size });
  return [
    ...configured.filter((route) => route.name > after && route.name.includes(name)),
    ...stored.filter((route) => !names.has(route.name)),
  ]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, limit);
}

/**
 * Returns the route with this name.
 * @throws AppError not_found
 */
export async function getOutboundRoute(app: Routing, name: string): Promise<OutboundRoute> {
  const configured = configuredRoutes(app.config).find((one) => one.name === name);
  const route = configured ?? (await findStoredRoute(app.db.read, name));
  if (!route) throw notFound('Route');
  return route;
}
