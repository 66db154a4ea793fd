/** Sums the counts of the delivery queues, for the operator and for the metrics. */
import type { App } from '../../app.ts';
import { pageOfFound } from '../../db/continued.ts';
import { defineRead } from '../../db/operation.ts';
import { isoTime } from '../../system/clock.ts';
import { parseQueueKey } from '../queue-key.ts';
import { isSite } from '../site-name.ts';
import { type Census, NONE } from './census.ts';
import type { QueueCount } from './census-store.ts';
import { mayCover, type Selection } from './selection.ts';
import { readSites } from './site-store.ts';

/** The field by which the numbers are summed. */
export const GROUPINGS = ['domain', 'site', 'tenant', 'kind'] as const;
export type Grouping = (typeof GROUPINGS)[number];

type Sum = Omit<QueueCount, 'queue'>;

/** Reads the sites of domains on a reader thread, because there may be many. */
export const sitesOfDomains = defineRead('queue.sites', async (tx, _input: undefined) => [
  ...(await readSites(tx)),
]);

/** Returns the sums of the selected queues, and those of each group, the longest first, or those behind `after`, the place of a group. */
export async function sumQueues(
  { db }: Pick<App, 'db'>,
  { queues, at }: Census,
  { selection, by, limit, after }: { selection: Selection; by: Grouping; limit: number; after?: string },
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
  const isBehind = behind(after);
  const longest = [...groups].sort(byLength).filter(isBehind);
  const { items, next } = pageOfFound(longest.slice(0, limit + 1), limit, placeOf);
  return {
    countedAt: isoTime(at),
    total: show(total),
    by,
    groupCount: groups.size,
    next,
    groups: items.map(([group, sum]) => ({ [by]: group, ...show(sum) })),
  };
}

type NamedSum = readonly [name: string, sum: Sum];

const lengthOf = ({ waiting, held }: Sum) => waiting + held;

function byLength([name, sum]: NamedSum, [otherName, other]: NamedSum): number {
  return lengthOf(other) - lengthOf(sum) || (name < otherName ? -1 : 1);
}

/** Returns the place of a group. Queues grow and shrink, so a group that does so while somebody turns the pages may be on two of them, or on none. */
function placeOf([name, sum]: NamedSum): string {
  return `${lengthOf(sum)} ${name}`;
}

/** Returns a function that is true for the groups behind a place. */
function behind(place: string | undefined): (group: NamedSum) => boolean {
  const [, length, last = ''] = /^(\d+) (.*)$/s.exec(place ?? '') ?? [];
  if (length === undefined) return () => true;
  return ([name, sum]) => lengthOf(sum) < Number(length) || (lengthOf(sum) === Number(length) && name > last);
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
