/** Warms up sources: on each day, a source takes only so many first attempts to a provider as its curve allows (allowance.ts). */
import { DAY_MS } from '../../../system/clock.ts';
import type { PartApp } from '../../../thread-app.ts';
import type { DeliveryQueueName } from '../../queue-key.ts';
import { type Allowance, limitFor } from './allowance.ts';
import { capOn, packagedCurves } from './curves.ts';
import { type FirstAttempts, listFirstAttempts, listWarmUps, type WarmUp } from './store.ts';

/** A source that is warmed up, and the provider that it sends to. */
export type WarmUpPlace = { warmUp: WarmUp; provider: string };

/** All warm-ups at one time, and what was sent on its day. */
type Known = { now: number; warmUps: readonly WarmUp[]; counts: readonly FirstAttempts[] };

/** Reads what is known of all warm-ups. */
export async function readWarmUps({ clock, db }: Pick<PartApp, 'clock' | 'db'>): Promise<Known> {
  const now = clock.now();
  const warmUps = await listWarmUps(db.read);
  return { now, warmUps, counts: warmUps.length === 0 ? [] : await listFirstAttempts(db.read, dayOf(now)) };
}

/** Returns the allowance of a place on the day of this time; null when the source is warm there. */
export function allowanceAt(place: WarmUpPlace | null, now: number): Allowance | null {
  if (!place) return null;
  const { warmUp, provider } = place;
  const cap = capOf(warmUp, provider, now);
  return cap === undefined ? null : { source: warmUp.source, provider, day: dayOf(now), cap };
}

/** Returns the time in Unix milliseconds at which a source takes first attempts to a provider again; undefined while it takes them. */
export function fullUntil(
  { now, counts }: Known,
  place: WarmUpPlace,
  kind: DeliveryQueueName['kind'],
): number | undefined {
  const allowance = allowanceAt(place, now);
  if (!allowance) return undefined;
  const { source, provider, day, cap } = allowance;
  const made = counts.find((one) => one.source === source && one.provider === provider)?.firstAttempts ?? 0;
  return made < limitFor(kind, cap) ? undefined : (day + 1) * DAY_MS;
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
