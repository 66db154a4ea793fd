/**
 * Holds the restrictions in force, and ends each at its time. The monotonic clock decides, so that a wall clock that is set neither
 * ends a restriction nor prolongs it.
 */
import type { Clock, Timer } from '../../system/clock.ts';
import { type Restriction, restrictionId } from './restriction.ts';
import { MAX_RESTRICTIONS } from './restrictions-store.ts';
import type { Rule } from './rule.ts';

/** A restriction with its end by the monotonic clock, in milliseconds. */
type InForce = { restriction: Restriction; endsAt: number };

export class Restrictions {
  readonly #clock: Clock;
  readonly #onEnd: (ended: readonly Restriction[]) => void;
  readonly #byId = new Map<Restriction['id'], InForce>();
  readonly #byPlace = new Map<string, Set<Restriction['id']>>();
  #timer: Timer | undefined;

  constructor(clock: Clock, onEnd: (ended: readonly Restriction[]) => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /** Puts a stored restriction in force. */
  restore(restriction: Restriction): void {
    // A clock that was set back meanwhile does not make it longer than its rule does.
    const leftMs = Math.min(restriction.until - this.#clock.now(), restriction.until - restriction.since);
    this.#put(restriction, this.#clock.elapsed() + leftMs);
  }

  /** Puts a restriction in force, or renews that of the rule at the place. */
  impose(
    { id: rule, lower, forMs }: Pick<Rule, 'id' | 'lower' | 'forMs'>,
    about: Pick<Restriction, 'place' | 'tenantId' | 'source' | 'reason'>,
  ): { restriction: Restriction; isNew: boolean } {
    const id = restrictionId(rule, about);
    const now = this.#clock.now();
    const isNew = !this.#byId.has(id);
    const restriction = { ...about, id, rule, lower, since: now, until: now + forMs };
    this.#put(restriction, this.#clock.elapsed() + forMs);
    return { restriction, isNew };
  }

  /** Ends a restriction, and returns it; undefined when it is not in force. */
  remove(id: Restriction['id']): Restriction | undefined {
    const known = this.#byId.get(id);
    if (!known) return undefined;
    this.#byId.delete(id);
    const here = this.#byPlace.get(known.restriction.place);
    here?.delete(id);
    if (here?.size === 0) this.#byPlace.delete(known.restriction.place);
    return known.restriction;
  }

  at(place: string): Restriction[] {
    return [...(this.#byPlace.get(place) ?? [])].flatMap((id) => this.#byId.get(id)?.restriction ?? []);
  }

  all(): Restriction[] {
    return [...this.#byId.values()].map(({ restriction }) => restriction);
  }

  /** Returns the end of a restriction by the monotonic clock. */
  endOf(id: Restriction['id']): number {
    return this.#byId.get(id)?.endsAt ?? 0;
  }

  close(): void {
    this.#timer?.cancel();
  }

  #put(restriction: Restriction, endsAt: number): void {
    const { id, place } = restriction;
    if (!this.#byId.has(id) && this.#byId.size >= MAX_RESTRICTIONS) this.#dropFirst();
    this.#byId.set(id, { restriction, endsAt });
    const here = this.#byPlace.get(place) ?? new Set();
    this.#byPlace.set(place, here.add(id));
    this.#setTimer();
  }

  #dropFirst(): void {
    const first = this.#first();
    if (!first) return;
    this.remove(first.restriction.id);
    this.#onEnd([first.restriction]);
  }

  /** Returns the restriction that ends first. */
  #first(): InForce | undefined {
    let first: InForce | undefined;
    for (const one of this.#byId.values()) if (!first || one.endsAt < first.endsAt) first = one;
    return first;
  }

  #setTimer(): void {
    this.#timer?.cancel();
    const first = this.#first();
    if (!first) return;
    const waitMs = Math.max(0, Math.ceil(first.endsAt - this.#clock.elapsed()));
    this.#timer = this.#clock.after(waitMs, () => this.#end());
  }

  #end(): void {
    const now = this.#clock.elapsed();
    const ended = [...this.#byId.values()].filter(({ endsAt }) => endsAt <= now);
    for (const { restriction } of ended) this.remove(restriction.id);
    this.#setTimer();
    if (ended.length > 0) this.#onEnd(ended.map(({ restriction }) => restriction));
  }
}
