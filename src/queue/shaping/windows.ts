/**
 * Counts how often back-off rules are met. Times are milliseconds of the monotonic clock. The memory is bounded: at most
 * `MAX_WINDOWS` places are counted at, each with as many times as its rule waits for.
 */
import { createLru } from '../../system/lru.ts';
import { type Place, restrictionId } from './restriction.ts';
import type { Rule } from './rule.ts';

/** Maximum number of rules and places that are counted at the same time. The one that was met longest ago goes first. */
export const MAX_WINDOWS = 10_000;

/** A count of a rule at a place. */
export type Window = Place & {
  id: string;
  rule: Rule['id'];
  times: readonly number[];
  /** Time at which the rule last acted; null when it has not. */
  actedAt: number | null;
  /** Time from which the count means nothing. */
  staleAt: number;
};

export class Windows {
  readonly #windows = createLru<string, Window>(MAX_WINDOWS);

  /**
   * Counts a match, and returns the count and whether the rule acts. A rest that has ended begins again with the first match within the
   * time of its rule: that of the message that tried.
   */
  count(rule: Rule, place: Place, now: number): { window: Window; acts: boolean } {
    const id = restrictionId(rule.id, place);
    const { times = [], actedAt = null } = this.#windows.get(id) ?? {};
    const recent = [...times, now].filter((time) => time > now - rule.withinMs).slice(-rule.matches);
    const isRenewed = rule.lower === null && actedAt !== null && now < actedAt + rule.forMs + rule.withinMs;
    const acts = recent.length >= rule.matches || isRenewed;
    const counted = acts ? { times: [], actedAt: now } : { times: recent, actedAt };
    const endsAt = counted.actedAt === null ? now : Math.max(now, counted.actedAt + rule.forMs);
    const window = { ...place, ...counted, id, rule: rule.id, staleAt: endsAt + rule.withinMs };
    this.#windows.set(id, window);
    return { window, acts };
  }

  /** Returns the count of a rule at a place by its id (restriction.ts). */
  find(id: Window['id']): Window | undefined {
    return this.#windows.get(id);
  }

  /** Takes over a count of an earlier start. */
  restore(window: Window): void {
    this.#windows.set(window.id, window);
  }

  /** Forgets what was counted at places, for all tenants and sources there, and returns it. */
  forget(places: readonly string[]): Window[] {
    const forgotten = [...this.#windows.values()].filter(({ place }) => places.includes(place));
    for (const { id } of forgotten) this.#windows.delete(id);
    return forgotten;
  }
}
