/**
 * Stores at which site mail for a domain was last deferred, so that mail can be selected by its site. All SQL of this table is here, and
 * nothing else writes it.
 */
import type { ExpirySlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import { findRow } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import { DAY_MS } from '../../system/clock.ts';
import { isSite } from '../site-name.ts';
import type { IsAtSite } from './selection.ts';

/** Time after which a site is stored again although it is the same, in milliseconds: mail that waits is deferred more often. */
const SEEN_EVERY_MS = DAY_MS;

type Seen = { domain: string; site: string; seenAt: number; staleAt: number };

const remember = statement((db, param: Param<Seen>) =>
  db
    .insertInto('domainSites')
    .values({ domain: param('domain'), site: param('site'), seenAt: param('seenAt') })
    .onConflict((conflict) =>
      conflict
        .column('domain')
        .doUpdateSet({ site: param('site'), seenAt: param('seenAt') })
        .where((where) =>
          where.or([
            where('domainSites.site', '!=', param('site')),
            where('domainSites.seenAt', '<', param('staleAt')),
          ]),
        ),
    ),
);

/** Notes the site at which mail for a domain is deferred, as part of the write that stores the outcome. */
export async function rememberSite(
  tx: Tx,
  { domain, site, now }: { domain: string; site: string; now: number },
): Promise<void> {
  await remember.all(tx, { domain, site, seenAt: now, staleAt: now - SEEN_EVERY_MS });
}

/** Returns the site at which mail for the domain was last deferred; undefined when it is not known. */
export async function findSiteOf(tx: Tx, domain: string): Promise<string | undefined> {
  return (await findRow(tx, 'domainSites', { domain }))?.site;
}

/** Returns the sites of all domains of which one is known. */
export async function readSites(tx: Tx): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.selectFrom('domainSites').select(['domain', 'site']).execute();
  return new Map(rows.map(({ domain, site }) => [domain, site]));
}

/** Returns the function that says which domains are at a site, from what was stored of them. */
export async function domainsAt(tx: Tx, name: string | null): Promise<IsAtSite> {
  if (name === null) return () => true;
  // Nearly all rows are of other sites, and the keys of those that are not begin anywhere with the name.
  const rows = await tx
    .selectFrom('domainSites')
    .select(['domain', 'site'])
    .where('site', 'like', `%${name.replaceAll(/[%_\\]/g, '')}%`)
    .execute();
  const domains = new Set(rows.filter(({ site }) => isSite(site, name)).map(({ domain }) => domain));
  return (domain) => domains.has(domain);
}

/** Maximum number of rows that one write of retention deletes. */
const MAX_EXPIRED = 500;

/** Deletes sites that nothing has been deferred at since `before`, in Unix milliseconds. */
export const expireSites = defineWrite(
  'queue.expireSites',
  async (tx, { before }: { before: number }): Promise<ExpirySlice> => {
    const old = await tx
      .selectFrom('domainSites')
      .select('domain')
      .where('seenAt', '<', before)
      .limit(MAX_EXPIRED)
      .execute();
    const domains = old.map(({ domain }) => domain);
    if (domains.length > 0) await tx.deleteFrom('domainSites').where('domain', 'in', domains).execute();
    return { next: domains.length === MAX_EXPIRED ? 'more' : undefined, deleted: domains.length };
  },
  { priority: 'bulk' },
);
