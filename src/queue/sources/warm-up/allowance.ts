/**
 * The first attempts that a source in warm-up may make. The write that claims mail counts them, so that their number holds whatever
 * is claimed at the same time, in any delivery thread.
 */
import { wakeAfterCommit } from '../../../db/commit-wakeups.ts';
import type { Tx } from '../../../db/operation.ts';
import { type DeliveryQueueName, parseQueueKey } from '../../queue-key.ts';
import { countOn, putCount } from './store.ts';

/** The number of first attempts that a source may make to a provider on a day, which is counted in UTC since 1970. */
export type Allowance = { source: string; provider: string; day: number; cap: number };

/** Share of a day's number that is left to transactional mail, so that broadcasts wait first. */
const TRANSACTIONAL_PART = 1 / 5;

/** Returns the number of first attempts of a day after which mail of this kind waits for the next one. */
export function limitFor(kind: DeliveryQueueName['kind'], cap: number): number {
  return kind === 'broadcast' ? cap - Math.ceil(cap * TRANSACTIONAL_PART) : cap;
}

type Tried = { queue: string; attempts: number };

/** The first attempts that one claim may make. */
export class FirstAttempts {
  readonly #allowance: Allowance | null;
  readonly #retriesOnly: ReadonlySet<string>;
  readonly #before: number;
  #made: number;

  private constructor(allowance: Allowance | null, retriesOnly: readonly string[], made: number) {
    this.#allowance = allowance;
    this.#retriesOnly = new Set(retriesOnly);
    this.#before = made;
    this.#made = made;
  }

  /** Reads how many were made. With the allowance null, there is no limit. Queues of `retriesOnly` may make none. */
  static async open(
    tx: Tx,
    { warmUp, retriesOnly }: { warmUp: Allowance | null; retriesOnly: readonly string[] },
  ): Promise<FirstAttempts> {
    return new FirstAttempts(warmUp, retriesOnly, warmUp ? await countOn(tx, warmUp) : 0);
  }

  /** Returns how many recipients of a queue may still be tried for the first time. */
  left(queue: string): number {
    if (this.#retriesOnly.has(queue)) return 0;
    if (!this.#allowance) return Number.POSITIVE_INFINITY;
    return Math.max(0, limitFor(parseQueueKey(queue).kind, this.#allowance.cap) - this.#made);
  }

  /** Returns the recipients of a message that may be tried, in their order. */
  admit<R extends Tried>(recipients: readonly R[]): R[] {
    let first = 0;
    return recipients.filter(({ queue, attempts }) => attempts > 0 || first++ < this.left(queue));
  }

  /** Counts the first attempts among recipients that were claimed. */
  count(claimed: readonly Pick<Tried, 'attempts'>[]): void {
    for (const { attempts } of claimed) if (attempts === 1) this.#made++;
  }

  /** Stores the count. Where it has used up a number, queues are routed again. */
  async store(tx: Tx): Promise<void> {
    if (!this.#allowance || this.#made === this.#before) return;
    const { source, provider, day, cap } = this.#allowance;
    await putCount(tx, { source, provider, day, firstAttempts: this.#made });
    const isUsedUp = (limit: number) => this.#before < limit && this.#made >= limit;
    if (isUsedUp(limitFor('broadcast', cap)) || isUsedUp(limitFor('transactional', cap)))
      wakeAfterCommit('outbound-routes', source);
  }
}
