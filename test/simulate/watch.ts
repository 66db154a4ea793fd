/** Watches a simulation: it runs the checks, keeps the trace if it is wanted, and knows when all mail has ended. */
import type { Tx } from '../../src/db/operation.ts';
import type { Check, MakeCheck } from './checks/check.ts';
import { checkClaims } from './checks/claims.ts';
import { checkConnections } from './checks/connections.ts';
import { checkDeliveries } from './checks/deliveries.ts';
import { checkDemands } from './checks/demands.ts';
import { checkEndings } from './checks/endings.ts';
import { checkEvents } from './checks/events.ts';
import { checkFairness } from './checks/fairness.ts';
import { checkLogs } from './checks/logs.ts';
import { checkRates } from './checks/rates.ts';
import { checkRests } from './checks/rests.ts';
import { checkRetries } from './checks/retries.ts';
import { checkSources } from './checks/sources.ts';
import { checkTenantRests } from './checks/tenant-rests.ts';
import { checkTls } from './checks/tls.ts';
import { checkWarmUpRetries } from './checks/warm-up-retries.ts';
import { checkWarmUps } from './checks/warm-ups.ts';
import type { Observation } from './observation.ts';
import type { Plan } from './plan.ts';
import type { Watcher } from './simulation.ts';

const CHECKS: readonly MakeCheck[] = [
  checkClaims,
  checkConnections,
  checkDemands,
  checkDeliveries,
  checkEndings,
  checkEvents,
  checkFairness,
  checkLogs,
  checkRates,
  checkRests,
  checkRetries,
  checkSources,
  checkTenantRests,
  checkTls,
  checkWarmUpRetries,
  checkWarmUps,
];

/** Time that a simulation goes on after the last mail has ended, in which nothing more may be sent. */
const LINGER_MS = 3 * 60_000;
const ENDED = new Set(['delivered', 'bounced', 'canceled', 'suppressed', 'held']);

export class Watch implements Watcher {
  readonly #checks: readonly Check[];
  readonly #record: ((observation: Observation, at: number) => void) | undefined;
  /** Recipients that have not ended, those that are not accepted yet among them. */
  readonly #open: Set<string>;
  #endedAt: number | undefined;
  #now = 0;
  /** The first rule that was broken, and when. */
  failure: { rule: string; at: number } | undefined;

  constructor(plan: Plan, record?: (observation: Observation, at: number) => void) {
    const fail = (rule: string) => {
      this.failure ??= { rule, at: this.#now };
    };
    this.#checks = CHECKS.map((make) => make(plan, fail));
    this.#record = record;
    this.#open = new Set(plan.mail.flatMap(({ recipients }) => recipients.map(({ address }) => address)));
  }

  observe(observation: Observation, at: number): void {
    this.#now = at;
    this.#record?.(observation, at);
    for (const check of this.#checks) check.observe?.(observation, at);
    if (observation.kind !== 'changed') return;
    if (ENDED.has(observation.to)) this.#open.delete(observation.address);
    else this.#open.add(observation.address);
    this.#endedAt = this.#open.size === 0 ? at : undefined;
  }

  hasEnded(at: number): boolean {
    if (this.failure) return true;
    return this.#endedAt !== undefined && at >= this.#endedAt + LINGER_MS;
  }

  async finish(read: Tx): Promise<void> {
    if (this.failure) return;
    const recipients = await read
      .selectFrom('recipients')
      .select(['address', 'state', 'attempts', 'holdReason'])
      .execute();
    const events = await read.selectFrom('events').select(['type', 'data']).orderBy('id').execute();
    for (const check of this.#checks) check.atEnd?.({ recipients, events });
  }
}
