/**
 * Counts sessions for reports about TLS (RFC 8460). They are summed in memory and written once a minute, and only for domains that
 * ask for reports. A crash loses the counts of the last minute.
 */
import {
  type ReportedFailure,
  type ReportedPolicy,
  readReportDestinations,
} from '../mail/tls-policy/tls-report.ts';
import { DAY_MS, type Timer } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { createLru } from '../system/lru.ts';
import type { PartApp } from '../thread-app.ts';
import { addTlsSessions, type CountedSessions } from './store.ts';

type CountingApp = Pick<PartApp, 'clock' | 'dns' | 'db' | 'random' | 'config' | 'log'>;

type Counted = { domain: string; policy: ReportedPolicy; failure: ReportedFailure | null };

/** Time for which counts are summed before they are written. */
const FLUSH_MS = 60_000;
/** Maximum number of different counts in memory. Further ones are not reported. */
const MAX_PENDING = 10_000;
/** Maximum number of domains that are written at one time, and of those whose wish is remembered. */
const MAX_KNOWN = 10_000;
/** Time for which it is known whether a domain asks for reports. */
const WISH_MS = 6 * 3_600_000;
/** Maximum number of domains that are asked at the same time whether they want reports. */
const MAX_QUESTIONS = 16;
/** Maximum length of a policy as a report has it. A longer one is reported without its text, since each of its results would repeat it. */
const MAX_POLICY = 8_192;
/** Maximum length of a failure's reason. */
const MAX_REASON = 200;
const HOUR_MS = 3_600_000;
/** Reports are sent in these hours after their day, each at a random time, so that receivers do not get all at once. */
const FIRST_HOUR = 1;
const HOURS = 4;

export class TlsSessionCounts {
  readonly #app: CountingApp;
  readonly #pending = new Map<string, CountedSessions>();
  readonly #wishes = createLru<string, { isWanted: boolean; until: number }>(MAX_KNOWN);
  readonly #questions = new ConcurrencyLimiter({ maxRunning: MAX_QUESTIONS });
  #timer: Timer | undefined;

  constructor(app: CountingApp) {
    this.#app = app;
  }

  /** Counts a session. `failure` is null when it met the policy. */
  count({ domain, policy, failure }: Counted): void {
    const { clock, config } = this.#app;
    if (!config.outbound.tlsReports || this.#wish(domain)?.isWanted === false) return;
    const day = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    const row = { day, domain, policy: textOfPolicy(policy), failure: textOf(failure) };
    const key = JSON.stringify(row);
    const known = this.#pending.get(key);
    if (known) known.sessions++;
    else if (this.#pending.size < MAX_PENDING)
      this.#pending.set(key, { ...row, sessions: 1, dueAt: this.#dueAt(day) });
    this.#timer ??= clock.after(FLUSH_MS, () => void this.flush());
  }

  /** Writes what is counted. It never rejects. */
  async flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const counted = [...this.#pending.values()];
    this.#pending.clear();
    try {
      const domains = [...new Set(counted.map(({ domain }) => domain))];
      const wanted = new Set<string>();
      const ask = async (domain: string) => {
        if (await this.#asksForReports(domain)) wanted.add(domain);
      };
      await Promise.all(domains.map((domain) => this.#questions.run(() => ask(domain))));
      const rows = counted.filter(({ domain }) => wanted.has(domain));
      if (rows.length > 0) await this.#app.db.commit(addTlsSessions, { counted: rows });
    } catch (error) {
      this.#app.log.warn({ err: error }, 'sessions were not counted for reports about TLS');
    }
  }

  #dueAt(day: number): number {
    return Math.round(day + DAY_MS + (FIRST_HOUR + this.#app.random() * HOURS) * HOUR_MS);
  }

  #wish(domain: string) {
    const wish = this.#wishes.get(domain);
    return wish && this.#app.clock.elapsed() < wish.until ? wish : undefined;
  }

  async #asksForReports(domain: string): Promise<boolean> {
    const { clock, dns } = this.#app;
    const known = this.#wish(domain);
    if (known) return known.isWanted;
    const answer = await dns.fresh.txt(`_smtp._tls.${domain}`);
    if (answer.kind === 'failed') return false;
    const isWanted = answer.kind === 'found' && readReportDestinations(answer.records) !== undefined;
    this.#wishes.set(domain, { isWanted, until: clock.elapsed() + WISH_MS });
    return isWanted;
  }
}

function textOfPolicy(policy: ReportedPolicy): string {
  const text = JSON.stringify(policy);
  return text.length <= MAX_POLICY ? text : JSON.stringify({ ...policy, lines: [], mx: [] });
}

function textOf(failure: ReportedFailure | null): string {
  return failure ? JSON.stringify({ ...failure, reason: failure.reason.slice(0, MAX_REASON) }) : '';
}
