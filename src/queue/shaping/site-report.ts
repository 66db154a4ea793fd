/** Says for the operator how a site is spoken to: its limits with their origins, the one that binds, its connections, and the restrictions in force. */

import { providerOfSite } from '../../providers/provider-of-site.ts';
import type { Clock } from '../../system/clock.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
import type { Connection } from '../connection.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { SessionExplanation, SiteExplanation } from '../schedule/explain.ts';
import type { LearnedState } from '../schedule/learned.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { isSite } from '../site-name.ts';
import type { ResolvedLimits, ShapedSite } from './limits-of.ts';
import type { Restriction } from './restriction.ts';
import type { Shaping } from './shaping.ts';

/** Maximum number of sites in one answer. Sources and TLS policies make several sites of the same hosts. */
const MAX_REPORTED = 100;
/** Operations (system/steps.ts) that a look at one of many sites counts as. It takes some microseconds. */
export const OPERATIONS_PER_SITE = 16;

/**
 * The name by which the operator asks for sites: a key, a host or a domain. `siteOfDomain` is the site at which mail for a domain of this name was
 * last deferred; undefined when it is not known.
 */
export type NamedSite = { name: string; siteOfDomain: string | undefined };

/** A connection of a site. `id` names it until the daemon stops. */
export type ConnectionReport = {
  id: number;
  state: 'connecting' | 'sending' | 'idle' | 'ending';
  /** Null before anything was dialled. */
  host: string | null;
  address: string | null;
  tls: string | null;
  /** Time at which it was dialled, in Unix milliseconds. */
  since: number | null;
  messages: number;
  /** The tenant whose mail it sends; null while it waits for mail. */
  tenantId: string | null;
};

/** Times are in Unix milliseconds; `source` and `provider` are null where there is none. */
export type SiteReport = Omit<SiteExplanation, 'kind' | 'limits' | 'connections' | 'learned'> & {
  provider: string | null;
  source: string | null;
  limits: ResolvedLimits;
  learned: Pick<LearnedState, 'connections' | 'ceilingUntil' | 'failures'>;
  connections: readonly ConnectionReport[];
  restrictions: readonly Restriction[];
};

export type Reporting = {
  clock: Pick<Clock, 'now' | 'elapsed'>;
  shaping: Pick<Shaping, 'sites' | 'resolve' | 'restrictionsAt' | 'restrictions'>;
  schedule: Pick<Schedule, 'explain' | 'queuesAt' | 'queues'>;
  /** Claims that are not settled. */
  claims: ReadonlyMap<number, { site: string; recipients: readonly { domain: string }[] }>;
  /** Returns the connection of a session; null when it has none. */
  connectionOf(session: number): Connection | null;
};

/** Reports on the sites that the operator names. All reports are made in the last step, so they are of one moment. */
export function* reportSites(app: Reporting, named: NamedSite): Steps<SiteReport[]> {
  const sites = yield* sitesNamed(app, named);
  return sites.flatMap((site) => reportSite(app, site) ?? []);
}

/** Returns the sites that the operator names, and those where mail for a domain of this name is or is sent to. */
function* sitesNamed(
  app: Pick<Reporting, 'shaping' | 'schedule' | 'claims'>,
  { name, siteOfDomain }: NamedSite,
): Steps<ShapedSite[]> {
  const isDue = createStepCounter();
  const ofDomain = new Set<string>();
  for (const { queue, site } of app.schedule.queues()) {
    if (queue.includes(name) && parseQueueKey(queue).domain === name) ofDomain.add(site);
    if (isDue(1)) yield;
  }
  for (const { site, recipients } of app.claims.values())
    if (recipients.some(({ domain }) => domain === name)) ofDomain.add(site);
  if (siteOfDomain !== undefined) ofDomain.add(siteOfDomain);
  const named: ShapedSite[] = [];
  for (const site of app.shaping.sites) {
    if (ofDomain.has(site.key) || isSite(site.key.toLowerCase(), name)) named.push(site);
    if (named.length === MAX_REPORTED) break;
    if (isDue(OPERATIONS_PER_SITE)) yield;
  }
  return named;
}

function reportSite(app: Reporting, site: ShapedSite): SiteReport | undefined {
  const { clock, shaping, schedule } = app;
  const explained = schedule.explain(site.key, clock.elapsed());
  if (!explained) return undefined;
  const { limits: _limits, binding, learned, connections, restingTenants, ...counts } = explained;
  const toUnix = clock.now() - clock.elapsed();
  return {
    ...counts,
    provider: providerOfSite(site)?.name ?? null,
    source: site.source,
    limits: shaping.resolve(site),
    binding: { ...binding, until: binding.until === null ? null : binding.until + toUnix },
    learned: {
      connections: learned.connections,
      ceilingUntil: learned.ceilingUntil === null ? null : learned.ceilingUntil + toUnix,
      failures: learned.failures,
    },
    restingTenants: restingTenants.map((one) => ({ ...one, until: one.until + toUnix })),
    connections: connections.map((one) => reportConnection(one, app.connectionOf(one.id), toUnix)),
    restrictions: shaping.restrictionsAt(site),
  };
}

/** `toUnix` is added to times of the monotonic clock. */
function reportConnection(
  { id, state, tenantId }: SessionExplanation,
  connection: Connection | null,
  toUnix: number,
): ConnectionReport {
  const { host = null, address = null, tls = null, since, isOpen = false, messages = 0 } = connection ?? {};
  const busy = isOpen ? 'sending' : 'connecting';
  return {
    id,
    state: state === 'busy' ? busy : state,
    host,
    address,
    tls,
    since: since === undefined ? null : since + toUnix,
    messages,
    tenantId,
  };
}
