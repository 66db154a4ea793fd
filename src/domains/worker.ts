/**
 * The background work of domains. It checks records when the next check is due (states.ts), and once an hour removes
 * deleted domains whose key no mail needs any more.
 */
import type { App } from '../app.ts';
import { periodic, type Work } from '../system/worker.ts';
import { listUnneeded } from './spool/store.ts';
import { findNextCheck, type LeasedDomain, leaseChecks, purgeDomains } from './store.ts';
import { type CheckingApp, checkDomain } from './verify.ts';

/**
 * Maximum number of concurrent checks. Each check asks up to eight questions, so this limit protects the resolver
 * after a long stop.
 */
const CONCURRENCY = 8;
/** Length of a lease. It is longer than DNS takes to fail; after a crash, the check is repeated once it has passed. */
const LEASE_MS = 5 * 60_000;
const SWEEP_PERIOD_MS = 3_600_000;
/**
 * Age that a deletion must have before the domain is removed. It is longer than a request lasts, so mail that was
 * being accepted is in the spool by then.
 */
const ACCEPTING_MS = 3_600_000;

/** Returns the work that checks domains. */
export function createDomainCheckWork(app: CheckingApp): Work<LeasedDomain> {
  return {
    name: 'domain checks',
    wakeOn: [],
    concurrency: CONCURRENCY,
    async lease(limit) {
      const now = app.clock.now();
      const dueAt = await findNextCheck(app.db.read);
      if (dueAt === undefined || dueAt > now) return { items: [], nextDueAt: dueAt };
      const items = await app.db.commit(leaseChecks, { now, until: now + LEASE_MS, limit });
      return { items, nextDueAt: await findNextCheck(app.db.read) };
    },
    async run(domain) {
      await checkDomain(app, domain, { isAsked: false });
    },
  };
}

/** Returns the work that removes deleted domains. */
export function createDomainSweep(app: Pick<App, 'db' | 'clock'>): Work<'run'> {
  return periodic(app.clock, {
    name: 'domain sweep',
    periodMs: SWEEP_PERIOD_MS,
    async run() {
      const ids = await app.db.query(listUnneeded, { deletedBefore: app.clock.now() - ACCEPTING_MS });
      if (ids.length > 0) await app.db.commit(purgeDomains, { ids });
    },
  });
}
