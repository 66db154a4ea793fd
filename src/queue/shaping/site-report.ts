/** Says for the operator how a site is spoken to: its limits with their origins, the one that binds, and the restrictions in force. */

import { providerOfSite } from '../../providers/provider-of-site.ts';
import type { Clock } from '../../system/clock.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { SiteExplanation } from '../schedule/explain.ts';
import type { Schedule } from '../schedule/schedule.ts';
import { isSite } from '../site-name.ts';
import type { ResolvedLimits, ShapedSite } from './limits-of.ts';
import type { Restriction } from './restriction.ts';
import type { Shaping } from './shaping.ts';

/** Maximum number of sites in one answer. Sources and TLS policies make several sites of the same hosts. */
const MAX_REPORTED = 100;

/**
 * What the operator calls sites: a key, a host or a domain. `siteOfDomain` is the site at which mail for a domain of this name was
 * last deferred; undefined when it is not known.
 */
export type NamedSite = { name: string; siteOfDomain: string | undefined };

/** Times are in Unix milliseconds; `source` and `provider` are null where there is none. */
export type SiteReport = Omit<SiteExplanation, 'kind' | 'limits'> & {
  provider: string | null;
  source: string | null;
  limits: ResolvedLimits;
  restrictions: readonly Restriction[];
};

/** Asks those who deliver. The answer is empty when no mail was routed to such a site since the start. */
export type ExplainSites = (named: NamedSite) => Promise<readonly SiteReport[]>;

type Reporting = {
  clock: Pick<Clock, 'now' | 'elapsed'>;
  shaping: Pick<Shaping, 'sitesWhere' | 'resolve' | 'restrictionsAt'>;
  schedule: Pick<Schedule, 'explain' | 'sitesOf'>;
};

/** Returns the sites that the operator names, and those where mail for a domain of this name is. */
export function reportSites(app: Reporting, { name, siteOfDomain }: NamedSite): SiteReport[] {
  const ofDomain = new Set(app.schedule.sitesOf((queue) => parseQueueKey(queue).domain === name));
  if (siteOfDomain !== undefined) ofDomain.add(siteOfDomain);
  return app.shaping
    .sitesWhere((key) => ofDomain.has(key) || isSite(key.toLowerCase(), name))
    .slice(0, MAX_REPORTED)
    .flatMap((site) => reportSite(app, site) ?? []);
}

function reportSite({ clock, shaping, schedule }: Reporting, site: ShapedSite): SiteReport | undefined {
  const explained = schedule.explain(site.key, clock.elapsed());
  if (!explained) return undefined;
  const { kind: _kind, limits: _limits, binding, restingTenants, ...counts } = explained;
  const toUnix = clock.now() - clock.elapsed();
  return {
    ...counts,
    provider: providerOfSite(site)?.name ?? null,
    source: site.source,
    limits: shaping.resolve(site),
    binding: { ...binding, until: binding.until === null ? null : binding.until + toUnix },
    restingTenants: restingTenants.map((one) => ({ ...one, until: one.until + toUnix })),
    restrictions: shaping.restrictionsAt(site),
  };
}
