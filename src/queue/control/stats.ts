/** Sums the counts of the delivery queues, for the operator and for the metrics. */
import type { App } from '../../app.ts';
import { defineRead } from '../../db/operation.ts';
import { isoTime } from '../../system/clock.ts';
import { parseQueueKey } from '../queue-key.ts';
import { type Census, NONE } from './census.ts';
import type { QueueCount } from './census-store.ts';
import { mayCover, type Selection } from './selection.ts';
import { isSite, readSites } from './site-store.ts';

/** The field by which the numbers are summed. */
export const GROUPINGS = ['domain', 'site', 'tenant', 'kind'] as const;
export type Grouping = (typeof GROUPINGS)[number];

type Sum = Omit<QueueCount, 'queue'>;

/** Reads the sites of domains on a reader thread, because there may be many. */
const sitesOfDomains = defineRead('queue.sites', async (tx, _input: undefined) => [...(await readSites(tx))]);

/** Maximum number of groups in an answer. */
const MAX_GROUPS = 1_000;

/** Returns the sums of the selected queues, and those of each group, the longest first. */
export async function sumQueues(
  { db }: Pick<App, 'db'>,
  { queues, at }: Census,
  { selection, by, limit }: { selection: Selection; by: Grouping; limit: number },
) {
  const needsSites = by === 'site' || selection.site !== null;
  const sites = new Map(needsSites ? await db.query(sitesOfDomains, undefined) : []);
  const siteOf = (domain: string) => sites.get(domain) ?? UNKNOWN_SITE;
  const isAtSite = (domain: string) => selection.site !== null && isSite(siteOf(domain), selection.site);
  const total: Sum = { ...NONE };
  const groups = new Map<string, Sum>();
  for (const count of queues) {
    const name = parseQueueKey(count.queue);
    if (!mayCover(selection, name, isAtSite)) continue;
    const { mode, tenantId: tenant, kind } = name;
    const domain = mode === 'test' ? TEST_MAIL : name.domain;
    const group = { domain, tenant, kind, site: siteOf(name.domain) }[by];
    const sum = groups.get(group) ?? { ...NONE };
    groups.set(group, sum);
    for (const one of [sum, total]) addTo(one, count);
  }
  const longest = [...groups]
    .sort(([, a], [, b]) => b.waiting + b.held - (a.waiting + a.held))
    .slice(0, Math.min(limit, MAX_GROUPS));
  return {
    countedAt: isoTime(at),
    total: show(total),
    by,
    groupCount: groups.size,
    groups: longest.map(([group, sum]) => ({ [by]: group, ...show(sum) })),
  };
}

/** Group of domains where nothing has been deferred yet. */
const UNKNOWN_SITE = '(not known)';

/** Group of test mail, which shares one queue for all domains. */
const TEST_MAIL = '(test mail)';

function addTo(sum: Sum, { waiting, deferred, due, held, inFlight, nextDueAt, ...one }: Sum): void {
  sum.waiting += waiting;
  sum.deferred += deferred;
  sum.due += due;
  sum.held += held;
  sum.inFlight += inFlight;
  sum.oldestHeld = older(sum.oldestHeld, one.oldestHeld);
  sum.oldestInFlight = older(sum.oldestInFlight, one.oldestInFlight);
  if (nextDueAt !== null) sum.nextDueAt = Math.min(sum.nextDueAt ?? nextDueAt, nextDueAt);
}

/** Returns the id that was made first. */
function older(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function show({ nextDueAt, oldestHeld: _held, oldestInFlight: _inFlight, ...sum }: Sum) {
  return { ...sum, nextDueAt: nextDueAt === null ? null : isoTime(nextDueAt) };
}

/** Returns the sums of each kind of mail. */
export function sumByKind({ queues }: Pick<Census, 'queues'>): ReadonlyMap<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const count of queues) {
    const { kind } = parseQueueKey(count.queue);
    const sum = sums.get(kind) ?? { ...NONE };
    sums.set(kind, sum);
    addTo(sum, count);
  }
  return sums;
}
