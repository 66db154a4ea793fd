/**
 * Counts how often back-off rules are met, also over restarts. Counts are collected and stored together, so that no message waits for
 * them; a crash forgets those of the last seconds.
 */
import type { Timer } from '../../system/clock.ts';
import type { SendingApp } from '../sending-app.ts';
import { listMatches, recordMatches } from './matches-store.ts';
import type { Place, Restriction } from './restriction.ts';
import type { Rule } from './rule.ts';
import { type Window, Windows } from './windows.ts';

/** Time for which counts are collected before they are stored. */
const STORED_AFTER_MS = 5_000;
/** Maximum number of counts in one write. */
const MAX_PER_WRITE = 500;

type MatchesApp = Pick<SendingApp, 'clock' | 'db' | 'log'>;

export class Matches {
  readonly #app: MatchesApp;
  readonly #windows = new Windows();
  /** Counts that are not stored yet, by their ids; undefined for those that are forgotten. */
  readonly #changed = new Map<Window['id'], Window | undefined>();
  #timer: Timer | undefined;
  /** Resolves when nothing is being stored. */
  #stored: Promise<void> = Promise.resolve();

  constructor(app: MatchesApp) {
    this.#app = app;
  }

  /** Takes over the counts of the last start. A time ahead of a clock that was set back counts as now. */
  async load(): Promise<void> {
    const { db, clock } = this.#app;
    const now = clock.now();
    const toElapsed = clock.elapsed() - now;
    const earlier = (time: number) => Math.min(time, now) + toElapsed;
    for (const window of await listMatches(db.read, now)) {
      const { times, actedAt, staleAt } = window;
      this.#windows.restore({
        ...window,
        times: times.map(earlier),
        actedAt: actedAt === null ? null : earlier(actedAt),
        staleAt: staleAt + toElapsed,
      });
    }
  }

  /** Counts a match, and returns true when the rule acts. */
  count(rule: Rule, place: Place): boolean {
    const { window, acts } = this.#windows.count(rule, place, this.#app.clock.elapsed());
    this.#change(window.id, window);
    return acts;
  }

  /** Remembers that a rule has acted at a place, as its restriction says. */
  remember({ id, rule, place, tenantId, source, since, until }: Restriction): void {
    const { clock } = this.#app;
    const toElapsed = clock.elapsed() - clock.now();
    const actedAt = Math.min(since, clock.now()) + toElapsed;
    const known = this.#windows.find(id)?.actedAt ?? Number.NEGATIVE_INFINITY;
    if (known >= actedAt) return;
    const staleAt = until + toElapsed;
    this.#windows.restore({ id, rule, place, tenantId, source, times: [], actedAt, staleAt });
  }

  /** Forgets the counts at places. */
  forget(places: readonly string[]): void {
    for (const { id } of this.#windows.forget(places)) this.#change(id, undefined);
  }

  /** Stores what has changed since the last time, after what is being stored. */
  store(): Promise<void> {
    this.#stored = this.#stored.then(() => this.#storeChanged());
    return this.#stored;
  }

  #change(id: Window['id'], window: Window | undefined): void {
    this.#changed.set(id, window);
    this.#timer ??= this.#app.clock.after(STORED_AFTER_MS, () => void this.store());
  }

  async #storeChanged(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { db, clock, log } = this.#app;
    const toUnix = clock.now() - clock.elapsed();
    const changed = [...this.#changed];
    this.#changed.clear();
    try {
      for (let begin = 0; begin < changed.length; begin += MAX_PER_WRITE) {
        const slice = changed.slice(begin, begin + MAX_PER_WRITE);
        const windows = slice.flatMap(([, window]) => (window ? [atUnixTime(window, toUnix)] : []));
        const forgotten = slice.flatMap(([id, window]) => (window ? [] : [id]));
        await db.commit(recordMatches, { windows, forgotten, now: clock.now() });
      }
    } catch (error) {
      // A rule then waits for a few matches more after a restart, and nothing else depends on the counts.
      log.error({ err: error }, 'counts of back-off rules could not be stored');
    }
  }
}

function atUnixTime({ times, actedAt, staleAt, ...window }: Window, toUnix: number): Window {
  const unix = (time: number) => Math.round(time + toUnix);
  return {
    ...window,
    times: times.map(unix),
    actedAt: actedAt === null ? null : unix(actedAt),
    staleAt: unix(staleAt),
  };
}
