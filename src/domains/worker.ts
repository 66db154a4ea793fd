/**
 * The background work of domains. It checks records when the next check is due (states.ts), and once an hour removes
 * deleted domains whose key no mail needs any more.
 */
import type { App } from '../app.ts';
import { periodic, type Work } from '../system/worker.ts';
import { leaseOf, type TaskKind } from '../tasks/kind.ts';
import { completeTask, retryTask } from '../tasks/store.ts';
import { isSetUpRunning, SET_UP_MARK_MS } from './set-up.ts';
import { listUnneeded } from './spool-store.ts';
import { DOMAIN_CHECKS, type Domain, findDomain, purgeDomains } from './store.ts';
import { checkDomain } from './verify.ts';

/**
 * Maximum number of concurrent checks. Each check asks up to eight questions, so this limit protects the resolver
 * after a long stop.
 */
const CONCURRENCY = 8;
/** Delay after a check that could not be stored, in milliseconds. */
const RETRY_MS = 5 * 60_000;
const SWEEP_PERIOD_MS = 3_600_000;
/**
 * Age that a deletion must have before the domain is removed. It is longer than a request lasts, so mail that was
 * being accepted is in the spool by then.
 */
const ACCEPTING_MS = 3_600_000;

/** Returns the checks of domains as a kind of task. Tenants take turns, and one alone can have all slots. */
export function createDomainCheckKind(app: App): TaskKind {
  return {
    name: DOMAIN_CHECKS,
    leavesHost: false,
    concurrency: CONCURRENCY,
    perFree: Number.POSITIVE_INFINITY,
    backOff: () => RETRY_MS,
    async run(task) {
      const lease = leaseOf(task);
      const domain = await findDomain(app.db.read, task.reference as Domain['id']);
      if (!domain) return app.db.commit(completeTask, lease);
      const now = app.clock.now();
      // A set-up asks the name servers of the zone, and then for the check. A resolver that is asked before the operator has published the
      // records would remember that they are missing.
      if (domain.verifiedAt === null && isSetUpRunning(app.config.dataDir, now))
        return app.db.commit(retryTask, { lease, dueAt: now + 3 * SET_UP_MARK_MS, attempts: 0 });
      const checked = await checkDomain(app, domain, { isAsked: false, lease });
      return checked?.domain.nextCheckAt ? 'again' : 'done';
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
