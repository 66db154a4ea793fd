/**
 * Counts how often back-off rules are met. Times are milliseconds of the monotonic clock. The memory is bounded: at most
 * `MAX_WINDOWS` places are counted at, each with as many times as its rule waits for.
 */
import { createLru } from '../../system/lru.ts';
import type { Rule } from './rule.ts';

/** Maximum number of rules and places that are counted at the same time. The one that was met longest ago goes first. */
const MAX_WINDOWS = 10_000;

type Window = { times: readonly number[]; actedUntil: number };

export class Windows {
  readonly #windows = createLru<string, Window>(MAX_WINDOWS);

  /**
   * Counts a match, and returns true when the rule acts. A rest that has ended begins again with the first match within the time
   * of its rule: that of the message that tried.
   */
  count(rule: Rule, place: string, now: number): boolean {
    const key = `${rule.id} ${place}`;
    const { times, actedUntil } = this.#windows.get(key) ?? { times: [], actedUntil: 0 };
    const recent = [...times, now].filter((time) => time > now - rule.withinMs).slice(-rule.matches);
    const isRenewed = rule.lower === null && actedUntil > 0 && now < actedUntil + rule.withinMs;
    const acts = recent.length >= rule.matches || isRenewed;
    this.#windows.set(
      key,
      acts ? { times: [], actedUntil: now + rule.forMs } : { times: recent, actedUntil },
    );
    return acts;
  }

  /** Forgets what was counted at places (restriction.ts), for all tenants and sources there. */
  forget(places: readonly string[]): void {
    for (const key of [...this.#windows.keys()])
      if (places.some((place) => key.endsWith(` ${place}`))) this.#windows.delete(key);
  }

  /** Remembers that a rule has acted until a time, before a restart. */
  remember({ id }: Pick<Rule, 'id'>, place: string, actedUntil: number): void {
    this.#windows.set(`${id} ${place}`, { times: [], actedUntil });
  }
}
