/**
 * Lists for the operator what keeps the mail of sites: what the delivery thread says (shaping/kept-mail.ts), and the sites that the operator
 * has suspended. Each entry has the number of recipients whose mail waits there.
 */
import type { App } from '../../app.ts';
import { type Continuation, pageOfFound } from '../../db/continued.ts';
import type { QueueActionRow } from '../../db/queue-tables.ts';
import { providerOfSite } from '../../providers/provider-of-site.ts';
import { isoTime } from '../../system/clock.ts';
import { finishInSlices } from '../../system/slices.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
import { parseQueueKey } from '../queue-key.ts';
import type { Kept, SiteQueues } from '../shaping/kept-mail.ts';
import { providerOfPlace } from '../shaping/restriction.ts';
import type { Sites } from '../shaping/site-calls.ts';
import { OPERATIONS_PER_SITE } from '../shaping/site-report.ts';
import { hostNamesOf, isSite, sourceOfSite } from '../site-name.ts';
import type { Census } from './census.ts';
import type { QueueCount } from './census-store.ts';
import { sitesOfDomains } from './stats.ts';
import { listInForce } from './store.ts';

/** An entry of the list. `hold` is the id of a hold of the operator. Times are ISO 8601. */
export type ShownKept = Omit<Kept, 'cause' | 'since' | 'until'> & {
  cause: Kept['cause'] | 'hold';
  hold: string | null;
  since: string | null;
  until: string | null;
  /** Number of recipients whose mail waits at the place, whenever it is due. */
  waiting: number;
};

/** A page of the list, the most mail first. `total` also counts the entries that the list leaves out because there are too many. */
export type ShownKeptSites = Continuation & { countedAt: string; total: number; sites: ShownKept[] };

/** Returns a page of the list. `after` is the number of entries on the pages before it. */
export async function listKeptSites(
  { db, sites }: Pick<App, 'db'> & { sites: Pick<Sites, 'listKept'> },
  { queues, at }: Census,
  { after, limit }: { after: number; limit: number },
): Promise<ShownKeptSites> {
  const { kept, total, sites: known } = await sites.listKept();
  const holds = (await listInForce(db.read)).filter(isHoldOfSite);
  const siteOfDomain = new Map(await db.query(sitesOfDomains, undefined));
  const mail = await finishInSlices(mailBySite(queues, known, siteOfDomain));
  const shown = [...kept.map((one) => showKept(one, mail)), ...holds.map((hold) => showHold(hold, mail))];
  shown.sort((one, other) => other.waiting - one.waiting || (one.place < other.place ? -1 : 1));
  const { items, ...continuation } = pageOfFound(shown.slice(after, after + limit + 1), limit, () =>
    String(after + limit),
  );
  return { ...continuation, countedAt: isoTime(at), total: total + holds.length, sites: items };
}

type HoldOfSite = QueueActionRow & { site: string };

/** Returns true for a hold of all mail of a site, or of a tenant there. */
function isHoldOfSite(action: QueueActionRow): action is HoldOfSite {
  const { verb, site, emailId, domain, kind, class: replyClass } = action;
  return verb === 'hold' && site !== null && [emailId, domain, kind, replyClass].every((one) => one === null);
}

type SiteMail = Omit<SiteQueues, 'queues'> & {
  tenants: Map<string, Pick<QueueCount, 'waiting' | 'held'>>;
};

/** The mail of sites, by their keys and by their providers. */
type Mail = { bySite: ReadonlyMap<string, SiteMail>; byProvider: ReadonlyMap<string | null, SiteMail[]> };

/** Sums the mail of each site by tenants. Mail that was never due goes where mail of its domain was last deferred. */
function* mailBySite(
  counts: readonly QueueCount[],
  known: readonly SiteQueues[],
  siteOfDomain: ReadonlyMap<string, string>,
): Steps<Mail> {
  const isDue = createStepCounter();
  const bySite = new Map<string, SiteMail>();
  const siteOfQueue = new Map<string, string>();
  for (const { queues, ...site } of known) {
    bySite.set(site.site, { ...site, tenants: new Map() });
    for (const queue of queues) {
      siteOfQueue.set(queue, site.site);
      if (isDue(1)) yield;
    }
  }
  for (const { queue, waiting, held } of counts) {
    if (isDue(OPERATIONS_PER_SITE)) yield;
    const { domain, tenantId } = parseQueueKey(queue);
    const key = siteOfQueue.get(queue) ?? siteOfDomain.get(domain);
    if (key === undefined) continue;
    const site = bySite.get(key) ?? siteOf(key);
    bySite.set(key, site);
    const sum = site.tenants.get(tenantId) ?? { waiting: 0, held: 0 };
    site.tenants.set(tenantId, { waiting: sum.waiting + waiting, held: sum.held + held });
  }
  return { bySite, byProvider: Map.groupBy(bySite.values(), ({ provider }) => provider) };
}

/** Returns a site that the delivery thread does not know, by its key. */
function siteOf(key: string): SiteMail {
  const provider = providerOfSite({ hosts: hostNamesOf(key), relay: null });
  return { site: key, provider: provider?.name ?? null, source: sourceOfSite(key), tenants: new Map() };
}

/** Counts recipients of the tenant, or of all, at the sites. */
function sumOf(sites: readonly SiteMail[], name: 'waiting' | 'held', tenantId: string | null): number {
  let sum = 0;
  for (const { tenants } of sites)
    for (const [tenant, counts] of tenants) if (tenantId === null || tenant === tenantId) sum += counts[name];
  return sum;
}

/** Returns the mail of the sites at the place of an entry. */
function mailAt(place: string, { bySite, byProvider }: Mail): readonly SiteMail[] {
  const provider = providerOfPlace(place);
  if (provider !== undefined) return byProvider.get(provider) ?? [];
  const site = bySite.get(place);
  return site ? [site] : [];
}

function showKept({ since, until, ...kept }: Kept, mail: Mail): ShownKept {
  const { place, source, tenantId } = kept;
  const sites = mailAt(place, mail).filter((one) => source === null || one.source === source);
  const waiting = sumOf(sites, 'waiting', tenantId);
  return { ...kept, hold: null, since: timeOf(since), until: timeOf(until), waiting };
}

function showHold(
  { id, site, tenantId, reason, createdAt }: HoldOfSite,
  mail: Pick<Mail, 'bySite'>,
): ShownKept {
  const sites = [...mail.bySite.values()].filter((one) => isSite(one.site, site));
  return {
    place: site,
    source: null,
    tenantId,
    cause: 'hold',
    restriction: null,
    limits: null,
    hold: id,
    reason,
    since: isoTime(createdAt),
    until: null,
    waiting: sumOf(sites, 'held', tenantId) + sumOf(sites, 'waiting', tenantId),
  };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
