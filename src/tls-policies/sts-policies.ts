/**
 * The policies of MTA-STS of other domains (RFC 8461): found by a TXT record, fetched over HTTPS, stored for their lifetime and fetched
 * again each day. Without a valid policy, a domain that cannot be asked counts as one without a policy (section 3.3).
 */
import type { App } from '../app.ts';
import type { StsPolicyRow } from '../db/tls-policy-tables.ts';
import { type FetchedPolicy, fetchStsPolicy } from '../mail/tls-policy/sts-fetch.ts';
import type { StsPolicy } from '../mail/tls-policy/sts-policy.ts';
import { readStsId } from '../mail/tls-policy/sts-record.ts';
import { DAY_MS } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { createLru } from '../system/lru.ts';
import { periodic, type Work } from '../system/worker.ts';
import type { PartApp } from '../thread-app.ts';
import { TlsSessionCounts } from './session-counts.ts';
import { fetchFailure, reportedSts } from './session-result.ts';
import {
  expireStsPolicies,
  findStsPolicy,
  listRefreshable,
  postponeStsRefresh,
  saveStsPolicy,
} from './store.ts';

type StsApp = Pick<PartApp, 'clock' | 'dns' | 'fetch' | 'db' | 'log'>;

export type FoundSts = {
  /** The policy that holds now; undefined when there is none. */
  policy: StsPolicy | undefined;
  /** Time until the domain should be asked again, in milliseconds; infinite when nothing asks for it. */
  retryMs: number;
};

/** Is called for each policy that a domain announces and that cannot be fetched. */
type OnFailure = (domain: string, failure: Exclude<FetchedPolicy, { kind: 'policy' }>) => void;

/** Minimum time between two fetches of a policy. RFC 8461 section 3.3 asks for it after a fetch that failed. */
const RETRY_MS = 5 * 60_000;
/**
 * Maximum number of fetches at the same time: as many as lookups of domains (queue/dispatcher.ts), which are shared fairly, so that hosts of
 * policies that hang delay no lookup of another tenant.
 */
const MAX_FETCHES = 64;
/** Maximum number of stored policies that are fetched again at the same time. */
const MAX_REFRESHES = 32;
/** Maximum number of failed fetches that are remembered. */
const MAX_FAILURES = 10_000;

/** Looks up the policies of domains. */
export class StsPolicies {
  readonly #app: StsApp;
  readonly #onFailure: OnFailure;
  readonly #fetches = new ConcurrencyLimiter({ maxRunning: MAX_FETCHES });
  readonly #underWay = new Map<string, Promise<FetchedPolicy>>();
  /** Times of the monotonic clock from which a version of a policy may be fetched again, by domain and id. */
  readonly #retryAt = createLru<string, number>(MAX_FAILURES);

  constructor(app: StsApp, onFailure: OnFailure) {
    this.#app = app;
    this.#onFailure = onFailure;
  }

  /** Returns the policy of a domain, which is in A-labels and lower case. It rejects only when the database cannot be read. */
  async find(domain: string): Promise<FoundSts> {
    const { db, dns, clock } = this.#app;
    const [stored, answer] = await Promise.all([
      findStsPolicy(db.read, domain),
      dns.txt(`_mta-sts.${domain}`),
    ]);
    const known = stored && clock.now() < stored.expiresAt ? stored : undefined;
    const policy = known && policyOf(known);
    const id = answer.kind === 'found' ? readStsId(answer.records) : undefined;
    // The absence of a record ends no policy (RFC 8461 section 3.1).
    if (id === undefined || id === known?.policyId) {
      // Whoever silences DNS for a moment must not keep a policy from being found for as long as the hosts stay known.
      if (!known)
        return { policy: undefined, retryMs: answer.kind === 'failed' ? RETRY_MS : Number.POSITIVE_INFINITY };
      // A new policy is announced by a new record, which is seen once the old one has expired (RFC 8461 section 8.1).
      const recordMs = Math.max(answer.kind === 'found' ? answer.ttlMs : 0, RETRY_MS);
      return { policy, retryMs: Math.min(known.expiresAt - clock.now(), recordMs) };
    }
    const version = `${domain} ${id}`;
    const waitMs = (this.#retryAt.get(version) ?? 0) - clock.elapsed();
    if (waitMs > 0) return { policy, retryMs: waitMs };
    const fetched = await this.#fetchOnce(domain, id);
    if (fetched.kind === 'policy') return { policy: fetched.policy, retryMs: lifetimeMs(fetched.policy) };
    return { policy, retryMs: RETRY_MS };
  }

  /** Fetches the policy and stores it. Requests for the same domain share one fetch. */
  #fetchOnce(domain: string, id: string): Promise<FetchedPolicy> {
    const version = `${domain} ${id}`;
    const running =
      this.#underWay.get(version) ??
      this.#fetches.run(() => this.#fetchAndStore(domain, id)).finally(() => this.#underWay.delete(version));
    this.#underWay.set(version, running);
    return running;
  }

  async #fetchAndStore(domain: string, id: string): Promise<FetchedPolicy> {
    const { clock, log } = this.#app;
    const fetched = await fetchStsPolicy(this.#app, domain);
    if (fetched.kind === 'policy') {
      // The policy holds for the mail that waits for it, also when the disk is full.
      await storePolicy(this.#app, { domain, id, policy: fetched.policy }).catch((error) =>
        log.error({ err: error, domain }, 'the MTA-STS policy of a domain could not be stored'),
      );
      return fetched;
    }
    this.#retryAt.set(`${domain} ${id}`, clock.elapsed() + RETRY_MS);
    log.warn({ domain, reason: fetched.reason }, 'the MTA-STS policy of a domain cannot be fetched');
    this.#onFailure(domain, fetched);
    return fetched;
  }
}

/** Returns the time for which a policy is used. One that asks for less than the least time is not fetched for each message. */
function lifetimeMs({ maxAgeSeconds }: StsPolicy): number {
  return Math.max(maxAgeSeconds * 1_000, RETRY_MS);
}

type Announced = { domain: string; id: string; policy: StsPolicy };

async function storePolicy({ db, clock }: StsApp, { domain, id, policy }: Announced): Promise<void> {
  const now = clock.now();
  const { mode, mx, maxAgeSeconds } = policy;
  await db.commit(saveStsPolicy, {
    domain,
    policyId: id,
    mode,
    mx: JSON.stringify(mx),
    maxAgeSeconds,
    expiresAt: now + lifetimeMs(policy),
    refreshAt: now + DAY_MS,
  });
}

function policyOf({ mode, mx, maxAgeSeconds }: StsPolicyRow): StsPolicy {
  return { mode, mx: JSON.parse(mx) as string[], maxAgeSeconds };
}

const REFRESH_PERIOD_MS = 10 * 60_000;
/** Maximum number of policies that one run fetches again: 72,000 a day, more than are stored. */
const MAX_REFRESHED = 500;
/** Time until a policy that could not be fetched again is tried once more. */
const REFRESH_RETRY_MS = 3_600_000;

/**
 * Returns the work that fetches stored policies again each day, so that nobody who prevents one fetch can outlast them, and deletes expired
 * ones. A fetch that fails is counted for the report to the domain (RFC 8461 section 6).
 */
export function createStsRefreshWork(app: App): Work<'run'> {
  const counts = new TlsSessionCounts(app);
  return periodic(app.clock, {
    name: 'mta-sts refresh',
    periodMs: REFRESH_PERIOD_MS,
    async run() {
      const now = app.clock.now();
      await app.db.commit(expireStsPolicies, { now });
      const due = await listRefreshable(app.db.read, { now, limit: MAX_REFRESHED });
      const limiter = new ConcurrencyLimiter({ maxRunning: MAX_REFRESHES });
      await Promise.all(due.map((row) => limiter.run(() => refresh(app, row, counts))));
      await counts.flush();
    },
  });
}

async function refresh(app: StsApp, row: StsPolicyRow, counts: TlsSessionCounts): Promise<void> {
  const { domain, policyId, mode } = row;
  const answer = await app.dns.fresh.txt(`_mta-sts.${domain}`);
  const id = answer.kind === 'found' ? readStsId(answer.records) : undefined;
  const fetched = await fetchStsPolicy(app, domain);
  if (fetched.kind === 'policy') {
    await storePolicy(app, { domain, id: id ?? policyId, policy: fetched.policy });
    return;
  }
  const { kind, reason } = fetched;
  if (mode !== 'none') {
    app.log.warn({ domain, reason }, 'the MTA-STS policy of a domain cannot be fetched again');
    counts.count({ domain, policy: reportedSts(policyOf(row)), failure: fetchFailure(kind, reason) });
  }
  await app.db.commit(postponeStsRefresh, { domain, refreshAt: app.clock.now() + REFRESH_RETRY_MS });
}
