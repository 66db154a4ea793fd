/** Says in the words of the schedule where a route leads: to a site with its limits and rests, or nowhere until a time. */
import type { DeliveryApp } from './delivery-app.ts';
import type { Destination } from './schedule/events.ts';
import { MESSAGES_PER_CONNECTION, type SiteLimits } from './schedule/limits.ts';
import { shapedSite } from './shaping/shaped-site.ts';
import type { Route, Waiting } from './site/route.ts';

/**
 * Minimum lifetime of a route to hosts, whatever the TTL of its DNS records. It is also the lifetime of a route
 * without hosts.
 */
const MIN_ROUTE_MS = 30_000;

type DestinationApp = Pick<DeliveryApp, 'clock' | 'config' | 'shaping'>;

/** Returns the destination of a route. One that is not current any more is looked up again at once. */
export function destinationOf(
  app: DestinationApp,
  route: Route | Waiting,
  { isCurrent }: { isCurrent: boolean },
): Destination {
  const now = app.clock.elapsed();
  if (route.kind === 'wait') {
    const { forMs, reason } = route;
    return { kind: 'wait', until: isCurrent ? now + forMs : now, reason };
  }
  const ttlMs = route.kind === 'hosts' ? Math.max(route.ttlMs, MIN_ROUTE_MS) : MIN_ROUTE_MS;
  const routedUntil = isCurrent ? now + ttlMs : 0;
  const { site } = route;
  if (route.kind !== 'hosts') {
    const limits = localLimits(app);
    return { kind: 'site', site, pool: 'local', limits, routedUntil, rests: [], fullWarmUp: null };
  }
  const shaped = shapedSite(route);
  const { shaping } = app;
  return {
    kind: 'site',
    site,
    pool: 'remote',
    limits: shaping.limitsOf(shaped),
    routedUntil,
    rests: shaping.restsOf(shaped),
    fullWarmUp: route.fullWarmUp && { until: now + route.fullWarmUp.forMs, reason: route.fullWarmUp.reason },
  };
}

/** Mail that needs no connection is limited by the number of local sessions alone. */
function localLimits({ config }: Pick<DestinationApp, 'config'>): SiteLimits {
  return {
    connections: config.delivery.connectionsPerSite,
    connectionsPerMinute: null,
    recipientsPerMinute: null,
    messagesPerConnection: MESSAGES_PER_CONNECTION,
    group: null,
  };
}
