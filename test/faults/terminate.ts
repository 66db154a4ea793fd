/**
 * SIGTERM under load, repeatedly. The daemon finishes the requests and sessions in flight and ends by itself with
 * success; a client without an answer, or asked to retry, repeats its request on the next start. Nothing is lost, and
 * since no delivery is interrupted, nothing arrives twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { finish } from './finish.ts';
import type { Place, Result } from './part.ts';
import { describeReckoning } from './report.ts';
import { seededRandom } from './seeded-random.ts';
import { createWorld, type World } from './world.ts';

const TERMINATIONS_PER_CYCLE = 3;
const CLIENTS = 6;
const CLIENT_PAUSE_MS = 10;
const MAX_SUBMISSIONS_OF_A_LIFE = 150;
const MAX_CHANGES_OF_A_LIFE = 10;
const TERMINATE_AFTER_MS = { low: 50, high: 1_500 };

export async function terminateAgainAndAgain({ seed, cycles }: Place): Promise<Result> {
  const random = seededRandom(seed);
  await using world = await createWorld({ random, name: 'terminate' });
  const terminations = cycles * TERMINATIONS_PER_CYCLE;
  let slowestEndMs = 0;
  for (let termination = 0; termination < terminations; termination++) {
    const afterMs = random.between(TERMINATE_AFTER_MS.low, TERMINATE_AFTER_MS.high);
    slowestEndMs = Math.max(slowestEndMs, await liveAndTerminate(world, afterMs));
  }
  const reckoning = await finish(world, await world.start());
  const { lines, faults } = describeReckoning(reckoning);
  const { duplicates } = reckoning.judgement;
  if (duplicates > 0) faults.push(`${duplicates} messages arrived again after a clean stop`);
  const done = `${terminations} times; slowest end: ${Math.round(slowestEndMs)} ms`;
  return { lines: [done, ...lines], faults };
}

/** Resolves with the time from SIGTERM to the end of the process. */
async function liveAndTerminate(world: World, afterMs: number): Promise<number> {
  const daemon = await world.start();
  const over = new AbortController();
  const work = { daemon, key: world.key, signal: over.signal };
  const running = Promise.all([
    world.load.run({
      ...work,
      clients: CLIENTS,
      pauseMs: CLIENT_PAUSE_MS,
      most: MAX_SUBMISSIONS_OF_A_LIFE,
    }),
    world.ledger.run({ ...work, most: MAX_CHANGES_OF_A_LIFE }),
  ]);
  await sleep(afterMs);
  const began = performance.now();
  try {
    await daemon.stop();
  } finally {
    over.abort();
    await running;
  }
  await world.endLife(Date.now());
  return performance.now() - began;
}
