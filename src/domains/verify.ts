/** Checks the DNS records of a domain and stores the result. */
import type { App } from '../app.ts';
import { logDomain } from '../events/mail-log.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { Lease } from '../tasks/store.ts';
import { checkRecords } from './check.ts';
import { checkMoreRecords } from './more-records.ts';
import { type Checked, type Domain, getDomain, recordCheck } from './store.ts';

/**
 * Checks a domain on demand, which starts the search for records again. Returns the domain after the check.
 * @throws AppError not_found
 */
export async function verifyDomain(app: App, tenantId: Domain['tenantId'], id: string): Promise<Domain> {
  const domain = await getDomain(app.db.read, tenantId, id);
  const checked = await checkDomain(app, domain, { isAsked: true });
  if (!checked) throw notFound('Domain');
  return checked.domain;
}

/** Checks a domain and records the result. Returns undefined when the domain was deleted in the meantime. */
export async function checkDomain(
  app: App,
  domain: Domain,
  { isAsked, lease }: { isAsked: boolean; lease?: Lease },
): Promise<Checked | undefined> {
  const checking = { dns: app.dns.fresh, config: app.config, probeTls: app.probeTls };
  const [verdicts, more] = await Promise.all([
    checkRecords(checking, domain),
    checkMoreRecords(checking, domain),
  ]);
  const now = app.clock.now();
  const checked = await app.db.commit(recordCheck, {
    id: domain.id,
    tenantId: domain.tenantId,
    verdicts: { ...verdicts, more },
    isAsked,
    lease,
    now,
    spread: app.random(),
  });
  if (checked) logChange(app, checked, now);
  return checked;
}

/** Writes to the mail log that a domain has become verified, has begun to fail, or has failed for good. */
function logChange(app: App, { domain, event }: Checked, now: number): void {
  const { id: domainId, tenantId, name, status, verifiedAt, failingSince } = domain;
  const line = { domainId, tenantId, name, status };
  if (event === 'domain.verified') logDomain(app, 'verified', line);
  else if (verifiedAt !== null && (event === 'domain.failed' || failingSince === now))
    logDomain(app, 'lapsed', line);
}

type Verify = (tenantId: Domain['tenantId'], id: string) => Promise<Domain>;

/** Maximum number of concurrent checks on demand. One tenant may use half of them. */
export const MAX_VERIFIES = 16;
/** Delay that a caller is asked to wait. Most checks end within this time. */
const RETRY_AFTER_SECONDS = 2;

/**
 * Returns the function that checks a domain on demand. Concurrent requests for one domain share one check.
 * A check of a domain whose name servers do not answer takes 10 seconds and several DNS questions, so the number of
 * concurrent checks is limited and shared among tenants.
 */
export function createVerify(app: App): Verify {
  const underWay = new Map<string, Promise<Domain>>();
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_VERIFIES, perFree: 1, maxWaiting: 0 });
  return (tenantId, id) => {
    const key = `${tenantId} ${id}`;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const verified = limiter.tryRun(() => verifyDomain(app, tenantId, id), { owner: tenantId });
    if (verified === undefined) return Promise.reject(busy());
    const verify = verified.finally(() => underWay.delete(key));
    underWay.set(key, verify);
    return verify;
  };
}

function busy(): AppError {
  return new AppError(
    'unavailable',
    'Too many domains are being verified; wait until one of the checks has ended',
    {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
