/**
 * Counts sessions for reports about TLS (RFC 8460). They are summed in memory and written once a minute, and only for domains that
 * ask for reports. A crash loses the counts of the last minute.
 */
import { readReportDestinations } from '../mail/tls-policy/tls-report.ts';
import { DAY_MS, type Timer } from '../system/clock.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { createLru } from '../system/lru.ts';
import type { PartApp } from '../thread-app.ts';
import { PendingSessions, type ReportedResult } from './pending-sessions.ts';
import { addTlsSessions } from './store.ts';

type CountingApp = Pick<PartApp, 'clock' | 'dns' | 'db' | 'random' | 'config' | 'log'>;

/** Time for which counts are summed before they are written. */
const FLUSH_MS = 60_000;
/** Maximum number of domains whose wish is remembered. */
const MAX_KNOWN = 10_000;
/** Time for which it is known whether a domain asks for reports. */
const WISH_MS = 6 * 3_600_000;
/** Maximum number of domains that are asked at the same time whether they want reports, and whose sessions are written. */
const MAX_QUESTIONS = 16;
const HOUR_MS = 3_600_000;
/** Reports are sent in these hours after their day, each at a random time, so that receivers do not get all at once. */
const FIRST_HOUR = 1;
const HOURS = 4;

export class TlsSessionCounts {
  readonly #app: CountingApp;
  readonly #pending = new PendingSessions();
  readonly #wishes = createLru<string, { isWanted: boolean; until: number }>(MAX_KNOWN);
  readonly #questions = new ConcurrencyLimiter({ maxRunning: MAX_QUESTIONS });
  /** Set while counts wait, and while they are written. */
  #timer: Timer | undefined;
  /** Resolves when everything is written that `flush` was called for. */
  #flushed: Promise<void> = Promise.resolve();
  /** Number of sessions that are not reported, since the last write. */
  #lost = 0;

  constructor(app: CountingApp) {
    this.#app = app;
  }

  /** Counts a session. `failure` is null when it met the policy. */
  count(session: Omit<ReportedResult, 'day'>): void {
    const { clock, config } = this.#app;
    if (!config.outbound.tlsReports || this.#wish(session.domain)?.isWanted === false) return;
    const day = Math.floor(clock.now() / DAY_MS) * DAY_MS;
    if (!this.#pending.count({ ...session, day })) this.#lost++;
    this.#timer ??= clock.after(FLUSH_MS, () => void this.flush());
  }

  /** Writes what is counted, after what is being written. It never rejects. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#flushed = this.#flushed.then(() => this.#writeAll());
    return this.#flushed;
  }

  /** While this waits for DNS, no other write begins, and what is counted meanwhile stays within its bound. */
  async #writeAll(): Promise<void> {
    const { clock, log } = this.#app;
    await Promise.all(this.#pending.days.map((day) => this.#questions.run(() => this.#write(day))));
    if (this.#lost > 0)
      log.warn({ sessions: this.#lost }, 'sessions with too many domains are in no report about TLS');
    this.#lost = 0;
    this.#timer?.cancel();
    this.#timer = this.#pending.characters > 0 ? clock.after(FLUSH_MS, () => void this.flush()) : undefined;
  }

  async #write({ key, domain }: PendingSessions['days'][number]): Promise<void> {
    const { db, log } = this.#app;
    try {
      const isWanted = await this.#asksForReports(domain);
      const sessions = this.#pending.take(key);
      if (!isWanted) return;
      const counted = sessions.map((one) => ({ ...one, dueAt: this.#dueAt(one.day) }));
      if (counted.length > 0) this.#lost += await db.commit(addTlsSessions, { counted });
    } catch (error) {
      log.warn({ err: error, domain }, 'sessions were not counted for reports about TLS');
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
