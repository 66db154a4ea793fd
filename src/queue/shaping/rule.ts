/** A back-off rule (config/back-off.yaml): conditions on a reply, how often they must be met, and what follows. Times are milliseconds. */
import type { ReplyClass } from '../outcome/replies/meaning.ts';

/** The things that a rule can act on (config/back-off.yaml). */
export const TARGETS = ['site', 'provider', 'tenant', 'source'] as const;
type Target = (typeof TARGETS)[number];

/** Limits that a rule lowers. None of them is ever above that of the operator or of the table of providers. */
export type LoweredLimits = {
  connections?: number;
  connectionsPerMinute?: number;
  recipientsPerMinute?: number;
};

export type Rule = {
  id: string;
  /** Names of providers; empty for any server. */
  providers: readonly string[];
  classes: readonly ReplyClass[];
  /** `421`, or `4xx` for all of a class. */
  codes: readonly string[];
  enhanced: readonly string[];
  text: readonly string[];
  unless: readonly string[];
  /** Domains, of which one must be named in the text. */
  names: readonly string[];
  matches: number;
  withinMs: number;
  on: Target;
  /** Null for a rest, during which nothing is sent. */
  lower: LoweredLimits | null;
  forMs: number;
  source: string;
};

const TIMES = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** Returns a time as the rules have it, such as `2h`. */
function timeText(timeMs: number): string {
  const [unitMs, unit] = TIMES.find(([one]) => timeMs % one === 0) ?? [1_000, 's'];
  return `${timeMs / unitMs}${unit}`;
}

/** Returns limits in words, such as `connections 1, recipientsPerMinute 10`. */
function limitsText(limits: LoweredLimits): string {
  return Object.entries(limits)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

/** Returns what a rule does, for the operator: `after 2 within 1h, the provider rests for 2h`. */
export function describeRule({ matches, withinMs, on, lower, forMs }: Rule): string {
  const action = lower === null ? 'rests' : `has at most ${limitsText(lower)}`;
  return `after ${matches} within ${timeText(withinMs)}, the ${on} ${action} for ${timeText(forMs)}`;
}
