/**
 * Watches the outcomes of attempts: counts them for the metrics, and notices when nothing is delivered any more, or DNS no longer
 * answers. Labels are few: providers are groups of hosts, never the domain of a recipient.
 */
import type { App } from '../app.ts';
import { providerLabel } from '../providers/table.ts';
import type { FinalOutcome } from './outcome/outcome.ts';

/** Number of attempts in a row without a delivery from which a warning is due. */
const MAX_UNDELIVERED = 50;
/** Minimum time without a delivery before a warning, in milliseconds. A large list of dead addresses is tried sooner. */
const UNDELIVERED_FOR_MS = 15 * 60_000;
/** Number of domains in a row that DNS gave no answer for, from which a warning is due. */
const MAX_DNS_FAILURES = 20;
const MS_PER_SECOND = 1_000;
const DURATION_BUCKETS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * Parts of a delivery: `route` looks up where the mail of a queue goes, `open` opens a session with all hosts that are tried, `store` stores
 * outcomes. The transaction between them has a metric of its own, by provider.
 */
type DeliveryPart = 'route' | 'open' | 'store';

export class DeliveryMonitor {
  readonly #clock: App['clock'];
  readonly #counters: ReturnType<typeof createCounters>;
  #undelivered = 0;
  #undeliveredSince: number;
  #deliveredAt: number | undefined;
  #dnsFailures = 0;

  constructor({ clock, metrics }: Pick<App, 'clock' | 'metrics'>) {
    this.#clock = clock;
    this.#counters = createCounters(metrics);
    this.#undeliveredSince = clock.elapsed();
  }

  /** True when many attempts in a row have delivered nothing for a quarter of an hour. */
  get deliversNothing(): boolean {
    const forMs = this.#clock.elapsed() - this.#undeliveredSince;
    return this.#undelivered >= MAX_UNDELIVERED && forMs >= UNDELIVERED_FOR_MS;
  }

  /** True when something was delivered within the last quarter of an hour. */
  get hasDelivered(): boolean {
    return this.#deliveredAt !== undefined && this.#clock.elapsed() - this.#deliveredAt < UNDELIVERED_FOR_MS;
  }

  /** True when DNS has answered for none of the last domains. */
  get failsDns(): boolean {
    return this.#dnsFailures >= MAX_DNS_FAILURES;
  }

  /** Notes the duration of a part of a delivery. */
  observePart(part: DeliveryPart, durationMs: number): void {
    this.#counters.parts.observe({ part }, durationMs / MS_PER_SECOND);
  }

  /** Notes the outcome of an attempt for one recipient. `transactionMs` is the time of its transaction, 0 when there was none. */
  observe({ kind, report }: FinalOutcome, transactionMs: number): void {
    const { mx, phase, smtpCode, tls, fact } = report;
    if (phase === 'simulated') return;
    const { attempts, goodbyes, dnsFailures, sessions, duration } = this.#counters;
    const provider = providerLabel(mx);
    attempts.inc({ outcome: kind, phase, provider });
    if (smtpCode === 421) goodbyes.inc({ provider });
    if (mx !== null) sessions.inc({ tls: tls ?? 'none' });
    if (transactionMs > 0) duration.observe({ provider }, transactionMs / MS_PER_SECOND);
    if (fact === 'dns') {
      dnsFailures.inc();
      this.#dnsFailures++;
    } else if (phase !== 'local') this.#dnsFailures = 0;
    if (kind === 'delivered') {
      this.#undelivered = 0;
      this.#undeliveredSince = this.#clock.elapsed();
      this.#deliveredAt = this.#undeliveredSince;
    } else this.#undelivered++;
  }
}

function createCounters(metrics: App['metrics']) {
  return {
    attempts: metrics.counter('delivery_attempts_total', 'Attempts by outcome, last step and provider.', [
      'outcome',
      'phase',
      'provider',
    ]),
    goodbyes: metrics.counter('delivery_421_total', 'Attempts that a server ended with 421.', ['provider']),
    dnsFailures: metrics.counter(
      'delivery_dns_failures_total',
      'Attempts for domains that DNS gave no answer for.',
    ),
    sessions: metrics.counter(
      'delivery_attempts_by_tls_total',
      'Attempts that reached a host, by TLS version.',
      ['tls'],
    ),
    parts: metrics.histogram(
      'delivery_part_duration_seconds',
      'Time of a part of a delivery: to find the route, to open a session, to store outcomes.',
      { buckets: DURATION_BUCKETS_SECONDS, labels: ['part'] },
    ),
    duration: metrics.histogram('delivery_transaction_duration_seconds', 'Time of a mail transaction.', {
      buckets: DURATION_BUCKETS_SECONDS,
      labels: ['provider'],
    }),
  };
}
