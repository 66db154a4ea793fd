/** Describes how far the warm-up of a source has come. */
import { DAY_MS } from '../../../system/clock.ts';
import { type Curve, lengthOf, OTHER_PROVIDER, packagedCurves } from './curves.ts';
import type { FirstAttempts, WarmUp } from './store.ts';
import { capOf, dayOf } from './warm-up.ts';

export type WarmUpProgress = {
  curve: string;
  /** Unix milliseconds. */
  startedAt: number;
  /** Number of today, of which the first is 1, and of the last day; a curve that is no longer in the table has none. */
  day: number;
  days: number | null;
  /** Time in Unix milliseconds at which the next day begins. */
  nextDayAt: number;
  /** Numbers of first attempts to each provider today. `cap` is null where the source is warm. */
  providers: { provider: string; firstAttempts: number; cap: number | null }[];
};

/** `counts` are those of today. */
export function progressOf(warmUp: WarmUp, counts: readonly FirstAttempts[], now: number): WarmUpProgress {
  const curve = packagedCurves().get(warmUp.curve);
  const own = counts.filter(({ source }) => source === warmUp.source);
  const providers = curve ? providersOf(curve, own) : [];
  return {
    curve: warmUp.curve,
    startedAt: warmUp.startedAt,
    day: dayOf(now) - dayOf(warmUp.startedAt) + 1,
    days: curve ? lengthOf(curve) : null,
    nextDayAt: (dayOf(now) + 1) * DAY_MS,
    providers: providers.map((provider) => ({
      provider,
      firstAttempts: own.find((one) => one.provider === provider)?.firstAttempts ?? 0,
      cap: capOf(warmUp, provider, now) ?? null,
    })),
  };
}

/** Returns the providers that the curve names or that got mail today, the others together last. */
function providersOf({ providers = {} }: Curve, counts: readonly FirstAttempts[]): string[] {
  const named = new Set([...Object.keys(providers), ...counts.map(({ provider }) => provider)]);
  named.delete(OTHER_PROVIDER);
  return [...[...named].toSorted(), OTHER_PROVIDER];
}
