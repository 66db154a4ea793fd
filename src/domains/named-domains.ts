/** Caches what sending needs to know of the domains of tenants: nearly all mail comes from a few of them, which rarely change. */
import type { App } from '../app.ts';
import { AnswerCache } from '../db/answer-cache.ts';
import type { DomainRow } from '../db/tables.ts';
import { findDomainByName, type NamedDomain } from './sending-store.ts';

/** Finds a domain of a tenant. `name` is in lower case and A-labels. */
export type FindDomain = (
  tenantId: DomainRow['tenantId'],
  name: DomainRow['name'],
) => Promise<NamedDomain | undefined>;

/** Maximum number of cached answers, of about 500 bytes each. Unknown names count too. */
const MAX_ANSWERS = 10_000;

/** Returns the cache. An answer is never older than the last commit. */
export function cacheNamedDomains({ db }: Pick<App, 'db'>): FindDomain {
  const answers = new AnswerCache<string, NamedDomain | undefined>({
    changes: db.changes,
    tables: ['domains'],
    rowKeyOf: (key) => key.slice(0, key.indexOf(' ')),
    maxSize: MAX_ANSWERS,
    sizeOf: () => 1,
  });
  return (tenantId, name) =>
    answers.get(`${name} ${tenantId}`, () => findDomainByName(db.read, tenantId, name));
}
