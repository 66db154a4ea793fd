/**
 * Warms up sources: on each day, a source takes only so many first attempts to a provider as its curve allows. What is sent is
 * counted in memory and stored together, at most once a second, so a crash forgets the last second.
 *
 * The mail for a provider is that of one delivery thread (queue/share.ts), but that for all other receivers is sent by each of them: there
 * each thread has an equal part of what is left when it first looks on a day.
 */
import { DAY_MS } from '../../../system/clock.ts';
import type { PartApp } from '../../../thread-app.ts';
import type { DeliveryQueueName } from '../../queue-key.ts';
import { capOn, OTHER_PROVIDER, packagedCurves } from './curves.ts';
import {
  addFirstAttempts,
  type FirstAttempts,
  listFirstAttempts,
  listWarmUps,
  type WarmUp,
} from './store.ts';

/** Share of a day's number that is left to transactional mail, so that broadcasts wait first. */
const TRANSACTIONAL_PART = 1 / 5;
/** Time for which counts are collected before they are stored. */
const STORED_AFTER_MS = 1_000;

type WarmUpApp = Pick<PartApp, 'clock' | 'db' | 'log' | 'wakeups'>;
type Place = { source: string; provider: string };

/** First attempts that are left on a day with this cap, and how many of them are for transactional mail alone. */
type Left = { day: number; cap: number; left: number; reserved: number };

/** The state of all warm-ups at one time. */
type Known = { now: number; warmUps: readonly WarmUp[]; counts: readonly FirstAttempts[] };

export class WarmUps {
  readonly #app: WarmUpApp;
  readonly #threads: number;
  /** Counts that are not stored yet, by place and day. */
  #pending = new Map<string, FirstAttempts>();
  /** Counts that are being stored. */
  #storing = new Map<string, FirstAttempts>();
  /** The mail that may still be sent at places with a limit, as it was known last. A place without limit is not in it. */
  readonly #left = new Map<string, Left>();
  #timer: { cancel(): void } | undefined;
  /** Resolves when nothing is being stored. */
  #stored: Promise<void> = Promise.resolve();

  /** `threads` is the number of delivery threads. */
  constructor(app: WarmUpApp, threads: number) {
    this.#app = app;
    this.#threads = threads;
  }

  /** Reads what is known of all warm-ups. */
  async read(): Promise<Known> {
    const now = this.#app.clock.now();
    const tx = this.#app.db.read;
    const warmUps = await listWarmUps(tx);
    return { now, warmUps, counts: warmUps.length === 0 ? [] : await listFirstAttempts(tx, dayOf(now)) };
  }

  /** Returns the time in Unix milliseconds at which a source takes first attempts to a provider again; undefined while it takes them. */
  fullUntil(
    { now, warmUps, counts }: Known,
    place: Place,
    kind: DeliveryQueueName['kind'],
  ): number | undefined {
    const key = keyOf(place);
    const warmUp = warmUps.find(({ source }) => source === place.source);
    const cap = warmUp && capOf(warmUp, place.provider, now);
    if (cap === undefined) {
      this.#left.delete(key);
      return undefined;
    }
    const stored = counts.find((one) => keyOf(one) === key)?.firstAttempts ?? 0;
    const unstored = [this.#pending, this.#storing].map(
      (all) => all.get(`${key} ${dayOf(now)}`)?.firstAttempts ?? 0,
    );
    const day = dayOf(now);
    const sharers = place.provider === OTHER_PROVIDER ? this.#threads : 1;
    const known = this.#left.get(key);
    const isKnown = sharers > 1 && known?.day === day && known.cap === cap;
    const leftOfAll = cap - stored - unstored.reduce((sum, one) => sum + one, 0);
    const left = isKnown ? known.left : Math.floor(leftOfAll / sharers);
    const reserved = Math.ceil((cap * TRANSACTIONAL_PART) / sharers);
    this.#left.set(key, { day, cap, left, reserved });
    return left > (kind === 'broadcast' ? reserved : 0) ? undefined : (dayOf(now) + 1) * DAY_MS;
  }

  /** Counts first attempts that leave from a source. Where that uses up a number, queues are routed again. */
  count(place: Place, firstAttempts: number): void {
    const key = keyOf(place);
    const before = this.#left.get(key);
    if (before === undefined || firstAttempts === 0) return;
    const { clock, wakeups } = this.#app;
    this.#addPending({ ...place, day: dayOf(clock.now()), firstAttempts });
    const left = before.left - firstAttempts;
    this.#left.set(key, { ...before, left });
    const isUsedUp = (limit: number) => before.left > limit && left <= limit;
    if (isUsedUp(before.reserved) || isUsedUp(0)) wakeups.notify('outbound-routes');
  }

  /** Stores what was counted since the last time, after what is being stored. */
  store(): Promise<void> {
    this.#stored = this.#stored.then(() => this.#storePending());
    return this.#stored;
  }

  async #storePending(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    this.#storing = this.#pending;
    this.#pending = new Map();
    const counts = [...this.#storing.values()];
    try {
      await this.#app.db.commit(addFirstAttempts, { counts });
    } catch (error) {
      this.#app.log.error({ err: error }, 'first attempts of sources could not be stored yet');
      for (const one of counts) this.#addPending(one);
    } finally {
      this.#storing = new Map();
    }
  }

  /** Adds to the counts that are to be stored. */
  #addPending({ firstAttempts, ...place }: FirstAttempts): void {
    const key = `${keyOf(place)} ${place.day}`;
    const counted = this.#pending.get(key)?.firstAttempts ?? 0;
    this.#pending.set(key, { ...place, firstAttempts: counted + firstAttempts });
    this.#timer ??= this.#app.clock.after(STORED_AFTER_MS, () => void this.store());
  }
}

/** Returns the number of the day in UTC since 1970. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS);
}

/** Returns the limit of a day; undefined when the source is warm there, or its curve is no longer in the table. */
export function capOf({ curve, startedAt }: WarmUp, provider: string, now: number): number | undefined {
  const found = packagedCurves().get(curve);
  return found && capOn(found, provider, dayOf(now) - dayOf(startedAt));
}

function keyOf({ source, provider }: Place): string {
  return `${source} ${provider}`;
}
