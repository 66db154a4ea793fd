/**
 * kill -9 again and again while servers send mail to the daemon: before and after the commit that stores a message, within each
 * task, and at random times. Everything that was answered with 250 is there, once for each transmission, each letter to a route
 * was posted, and each answer of a reader has changed its email once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { CRASH_POINTS, type CrashPointName } from '../../../src/crash-points.ts';
import { shuffle } from '../../../src/system/random.ts';
import { type DaemonProcess, DaemonStartError } from '../../support/daemon.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { createInboundWorld, finishInbound, type InboundReckoning, type InboundWorld } from './place.ts';

export type InboundKillOptions = {
  seed: number;
  /** Number of kills at each named point, and at random times. */
  kills: { named: number; random: number };
};

export type InboundKillVerdict = InboundReckoning & {
  /** Number of kills by the place where they came. */
  kills: Record<string, number>;
  /** Places that were not reached in time. */
  unreached: string[];
};

const POINTS: readonly CrashPointName[] = CRASH_POINTS.filter((name) => /^(receive|inbound)-/.test(name));
const RANDOM = 'random time';
const KILL_AFTER_MS = { low: 20, high: 700 };
const REACH_TIMEOUT_MS = 20_000;
/** In each life. */
const LOAD = { clients: 3, pauseMs: 15, most: 40 };
/** Readers for each life: an answer of one must come in each life that is to end in the task of an answer. */
const READERS_PER_LIFE = 3;
const MAX_READERS = 600;

type Plan = CrashPointName | typeof RANDOM;

export async function runInboundKills({ seed, kills }: InboundKillOptions): Promise<InboundKillVerdict> {
  const random = seededRandom(seed);
  const plans = planKills(kills, random);
  const readers = Math.min(plans.length * READERS_PER_LIFE, MAX_READERS);
  const place = await createInboundWorld({ random, name: 'inbound', readers });
  try {
    const reached: Record<string, number> = {};
    const unreached: string[] = [];
    for (const plan of plans) {
      if (await liveAndDie(place, plan, random)) reached[plan] = (reached[plan] ?? 0) + 1;
      else unreached.push(plan);
    }
    const reckoning = await finishInbound(place, await place.world.start());
    return { ...reckoning, kills: reached, unreached };
  } finally {
    await place.close();
  }
}

function planKills({ named, random: others }: InboundKillOptions['kills'], random: SeededRandom): Plan[] {
  const points = Array.from({ length: named }, () => POINTS).flat();
  return shuffle<Plan>(random.share, [...points, ...Array.from({ length: others }, (): Plan => RANDOM)]);
}

/** Runs the daemon until its planned end. Returns false when a named point was not reached in time. */
async function liveAndDie(place: InboundWorld, plan: Plan, random: SeededRandom): Promise<boolean> {
  const { world, senders, port } = place;
  let daemon: DaemonProcess;
  try {
    daemon = await world.start(plan === RANDOM ? undefined : plan);
  } catch (error) {
    // A task of the life before can reach the point before the daemon listens.
    if (!(error instanceof DaemonStartError) || error.exit?.signal !== 'SIGKILL') throw error;
    await world.endLife(Date.now());
    return true;
  }
  const over = new AbortController();
  const working = senders.run({ ...LOAD, port, signal: over.signal, persistent: true });
  const waitMs = plan === RANDOM ? random.between(KILL_AFTER_MS.low, KILL_AFTER_MS.high) : REACH_TIMEOUT_MS;
  const endedByItself = await Promise.race([daemon.exited.then(() => true), sleep(waitMs, false)]);
  if (!endedByItself) await daemon.kill('SIGKILL');
  const endedAtMs = Date.now();
  over.abort();
  await working;
  const exit = await daemon.exited;
  if (exit.signal !== 'SIGKILL') throw new Error(`the daemon ended by itself:\n${daemon.output()}`);
  await world.endLife(endedAtMs);
  return endedByItself === (plan !== RANDOM);
}
