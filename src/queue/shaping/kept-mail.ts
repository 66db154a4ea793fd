/**
 * Lists what keeps the mail of sites at present: rests, what back-off rules have imposed, rates that are used up, and numbers of
 * connections that sites have taught. One place may have several of them.
 */
import { providerOfSite } from '../../providers/provider-of-site.ts';
import { sortInSteps } from '../../system/sort-in-steps.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
import type { SiteExplanation } from '../schedule/explain.ts';
import type { ShapedSite } from './limits-of.ts';
import { providerOfPlace, type Restriction } from './restriction.ts';
import type { LoweredLimits } from './rule.ts';
import { OPERATIONS_PER_SITE, type Reporting } from './site-report.ts';

/** Maximum number of entries in one answer. Rests come first, and those that end last. */
const MAX_KEPT = 1_000;
/** Maximum number of queues in one answer, which are about 60 bytes each. */
const MAX_QUEUES = 20_000;

/** Times are in Unix milliseconds. */
export type Kept = {
  /** The key of a site, or `provider NAME` for all sites of one. */
  place: string;
  /** The source and the tenant whose mail is kept; null for all. */
  source: string | null;
  tenantId: string | null;
  /** `failures`: the site rests after them. `probe`: one message tries it. `learned`: it has refused further connections. */
  cause: 'failures' | 'probe' | 'rate' | 'learned' | 'rule';
  /** The restriction of a rule. */
  restriction: Pick<Restriction, 'id' | 'rule'> | null;
  /** The limits that are lowered or reached; null when nothing is sent. */
  limits: LoweredLimits | null;
  since: number | null;
  until: number | null;
  reason: string | null;
};

/** A site with the keys of its queues in which mail is due. */
export type SiteQueues = {
  site: string;
  provider: string | null;
  source: string | null;
  queues: readonly string[];
};

/** `total` is the number of entries without the maximum. `sites` are those that the entries are about. */
export type KeptMail = { kept: readonly Kept[]; total: number; sites: readonly SiteQueues[] };

/**
 * Returns what keeps mail at all sites that mail was routed to since the start, and all restrictions in force. There may be ten thousand
 * sites, so that the steps see them at slightly different moments.
 */
export function* listKept(app: Pick<Reporting, 'clock' | 'shaping' | 'schedule'>): Steps<KeptMail> {
  const { clock, shaping, schedule } = app;
  const isDue = createStepCounter();
  const all: Kept[] = [];
  for (const restriction of shaping.restrictions) {
    all.push(keptByRule(restriction));
    if (isDue(1)) yield;
  }
  const { sites } = shaping;
  for (const site of sites) {
    const elapsed = clock.elapsed();
    const explained = schedule.explain(site.key, elapsed);
    if (explained) all.push(...keptBySite(explained, site.source, clock.now() - elapsed));
    if (isDue(OPERATIONS_PER_SITE)) yield;
  }
  const kept = (yield* sortInSteps(all, byWeight)).slice(0, MAX_KEPT);
  return { kept, total: all.length, sites: yield* queuesOf(kept, sites, schedule) };
}

/** Returns the answers of several delivery threads as one. Each site is known to one of them. */
export function keptTogether(all: readonly KeptMail[]): KeptMail {
  return {
    kept: all
      .flatMap(({ kept }) => kept)
      .sort(byWeight)
      .slice(0, MAX_KEPT),
    total: all.reduce((sum, { total }) => sum + total, 0),
    sites: all.flatMap(({ sites }) => sites),
  };
}

/** Returns what keeps the mail of a site without any rule. `toUnix` is added to times of the monotonic clock. */
function keptBySite(explained: SiteExplanation, source: string | null, toUnix: number): Kept[] {
  const { site: place, binding, learned, limits } = explained;
  const { rest, isProbed, ceilingUntil, connections } = learned;
  const blank = { place, source, tenantId: null, restriction: null, limits: null, since: null, until: null };
  const kept: Kept[] = [];
  if (rest)
    kept.push({ ...blank, cause: 'failures', until: Math.round(rest.until + toUnix), reason: rest.reason });
  else if (isProbed && binding.limit === 'probe') kept.push({ ...blank, cause: 'probe', reason: null });
  const reached = RATES[binding.limit];
  const rate = reached && limits[reached];
  if (reached && rate != null)
    kept.push({
      ...blank,
      cause: 'rate',
      limits: { [reached]: rate },
      until: binding.until === null ? null : Math.round(binding.until + toUnix),
      reason: null,
    });
  if (ceilingUntil !== null)
    kept.push({
      ...blank,
      cause: 'learned',
      limits: { connections },
      until: Math.round(ceilingUntil + toUnix),
      reason: null,
    });
  return kept;
}

type Rate = 'recipientsPerMinute' | 'connectionsPerMinute';

/** The rates among the limits that may bind. */
const RATES: Partial<Record<SiteExplanation['binding']['limit'], Rate>> = {
  recipients_per_minute: 'recipientsPerMinute',
  connections_per_minute: 'connectionsPerMinute',
};

function keptByRule({ id, rule, lower, ...about }: Restriction): Kept {
  return { ...about, cause: 'rule', restriction: { id, rule }, limits: lower };
}

function byWeight(one: Kept, other: Kept): number {
  const isRest = ({ limits }: Kept) => Number(limits === null);
  return isRest(other) - isRest(one) || (other.until ?? 0) - (one.until ?? 0);
}

/** Returns the sites at the places of the entries with their queues. */
function* queuesOf(
  kept: readonly Kept[],
  sites: readonly ShapedSite[],
  schedule: Pick<Reporting['schedule'], 'queuesAt'>,
): Steps<SiteQueues[]> {
  const isDue = createStepCounter();
  const places = new Set(kept.map(({ place }) => place));
  const providers = new Set(kept.flatMap(({ place }) => providerOfPlace(place) ?? []));
  const found: SiteQueues[] = [];
  let room = MAX_QUEUES;
  for (const site of sites) {
    if (isDue(OPERATIONS_PER_SITE)) yield;
    const { key, source } = site;
    const provider = providerOfSite(site)?.name ?? null;
    if (!places.has(key) && (provider === null || !providers.has(provider))) continue;
    const queues = new Set<string>();
    for (const queue of schedule.queuesAt(key)) {
      if (queues.size === room) break;
      queues.add(queue);
      if (isDue(1)) yield;
    }
    room -= queues.size;
    found.push({ site: key, provider, source, queues: [...queues] });
  }
  return found;
}
