/** Many lives of the daemon, each of which ends with kill -9: at a crash point, or at a random time. */
import type { CrashPointName } from '../../src/crash-points.ts';
import { shuffle } from '../../src/system/random.ts';
import { requireKill, startUntil, untilDeath } from './planned-end.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { World } from './world.ts';

/** Number of kills at each named point, and at random times. */
export type KillNumbers = { named: number; random: number };

const RANDOM = 'random time';
export type KillPlan = CrashPointName | typeof RANDOM;

export type PlannedKills = {
  points: readonly CrashPointName[];
  numbers: KillNumbers;
  random: SeededRandom;
  /** Uses the daemon until everything is done, or the signal says that it is dead. `plan` is where it is to end. */
  use(plan: KillPlan, signal: AbortSignal): Promise<void>;
};

export type DoneKills = {
  /** Says how often the daemon was killed at each place. */
  done: string;
  /** Sentences about the points that were not reached in time. */
  faults: string[];
};

const KILL_AFTER_MS = { low: 20, high: 700 };
const REACH_TIMEOUT_MS = 60_000;

/** Returns the number of lives that these kills end. */
export function countLives({ points, numbers }: Pick<PlannedKills, 'points' | 'numbers'>): number {
  return points.length * numbers.named + numbers.random;
}

/** Kills the daemon again and again, at all places in a random order. */
export async function killRepeatedly(world: World, planned: PlannedKills): Promise<DoneKills> {
  const reached = new Map<string, number>();
  const faults: string[] = [];
  for (const plan of planKills(planned)) {
    if (await liveAndDie(world, plan, planned)) reached.set(plan, (reached.get(plan) ?? 0) + 1);
    else faults.push(`not reached in time: ${plan}`);
  }
  const places = [...reached].map(([plan, count]) => `${plan} ${count}`);
  return { done: `kills: ${places.join(', ')}`, faults };
}

function planKills({ points, numbers, random }: PlannedKills): KillPlan[] {
  const named = Array.from({ length: numbers.named }, () => points).flat();
  return shuffle<KillPlan>(random.share, [
    ...named,
    ...Array.from({ length: numbers.random }, (): KillPlan => RANDOM),
  ]);
}

/** Runs the daemon until its planned end. Returns false when a point was not reached in time. */
async function liveAndDie(world: World, plan: KillPlan, { random, use }: PlannedKills): Promise<boolean> {
  const daemon = await startUntil(world, plan === RANDOM ? undefined : plan);
  if (!daemon) return true;
  const over = new AbortController();
  const using = use(plan, over.signal);
  const waitMs = plan === RANDOM ? random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high) : REACH_TIMEOUT_MS;
  const { atMs, atPoint } = await untilDeath(daemon, waitMs);
  over.abort();
  await using;
  await requireKill(daemon);
  await world.endLife(atMs);
  return atPoint === (plan !== RANDOM);
}
