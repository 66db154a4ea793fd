/** Many lives of the daemon, each of which ends with kill -9: at a crash point, or at a random time. */
import type { CrashPointName } from '../../src/crash-points.ts';
import { shuffle } from '../../src/system/random.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import type { Result } from './part.ts';
import { requireKill, startUntil, untilDeath } from './planned-end.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { World } from './world.ts';

const RANDOM = 'random time';
export type KillPlan<Point extends string = CrashPointName> = Point | typeof RANDOM;

/** The daemon of a life, and a signal that says that it is dead. */
export type Life = { daemon: DaemonProcess; signal: AbortSignal };

export type Lives<Plan> = {
  random: SeededRandom;
  /** Prepares the life that is to end here, before the daemon starts. */
  prepare?(plan: Plan): Promise<void> | void;
  /** Runs when the daemon has started, before the time until its end begins. */
  begin?(life: Life): Promise<void>;
  /** Uses the daemon until everything is done or it is dead. `plan` is where it is to end. */
  use(plan: Plan, life: Life): Promise<void>;
  /** Time after which a random kill comes. */
  killAfterMs?: { low: number; high: number };
  /** Maximum time until a point is reached. */
  reachTimeoutMs?: number;
};

const KILL_AFTER_MS = { low: 20, high: 700 };
const REACH_TIMEOUT_MS = 60_000;

/** Returns the places of all kills in a random order: each point `named` times, and so many random times. */
export function planKills<Point extends string>(
  points: readonly Point[],
  { named, random: others }: { named: number; random: number },
  random: SeededRandom,
): KillPlan<Point>[] {
  return shuffle<KillPlan<Point>>(random.share, [
    ...Array.from({ length: named }, () => points).flat(),
    ...Array.from({ length: others }, (): typeof RANDOM => RANDOM),
  ]);
}

/** Kills the daemon at one place after the other. Returns how often it was killed at each, and those that were not reached. */
export async function killRepeatedly<Plan extends string>(
  world: World,
  plans: readonly Plan[],
  lives: Lives<Plan>,
): Promise<{ done: string; faults: string[] }> {
  const reached = new Map<string, number>();
  const faults: string[] = [];
  for (const plan of plans) {
    await lives.prepare?.(plan);
    if (await liveAndDie(world, plan, lives)) reached.set(plan, (reached.get(plan) ?? 0) + 1);
    else faults.push(`not reached in time: ${plan}`);
  }
  const places = [...reached].map(([plan, count]) => `${plan} ${count}`);
  return { done: `kills: ${places.join(', ')}`, faults };
}

/** Runs the daemon until its planned end. Returns false when a point was not reached in time. */
async function liveAndDie<Plan extends string>(
  world: World,
  plan: Plan,
  { random, begin, use, killAfterMs = KILL_AFTER_MS, reachTimeoutMs = REACH_TIMEOUT_MS }: Lives<Plan>,
): Promise<boolean> {
  const isRandom = plan === RANDOM;
  const daemon = await startUntil(world, isRandom ? undefined : plan);
  if (!daemon) return true;
  const over = new AbortController();
  const life = { daemon, signal: over.signal };
  await begin?.(life);
  const using = use(plan, life);
  const waitMs = isRandom ? random.between(killAfterMs.low, killAfterMs.high) : reachTimeoutMs;
  const { atMs, atPoint } = await untilDeath(daemon, waitMs);
  over.abort();
  await using;
  await requireKill(daemon);
  await world.endLife(atMs);
  return atPoint !== isRandom;
}

/** Adds what was found while the daemon was killed to the result of a part. */
export function withFaults({ lines, faults }: Result, more: readonly string[]): Result {
  return { lines, faults: [...more, ...faults] };
}
