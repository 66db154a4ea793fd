/**
 * Delivery and webhooks after a power cut. A delivering daemon loses its power under load. On the data that the disk
 * kept, a new daemon must deliver every acknowledged email that the cut interrupted, and post the event of each. The
 * receiving server and the webhook receiver survive the cut, as if they were on other machines.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cutWorlds } from './cut-world.ts';
import { finish, isOfSecondDelivery, type Reckoning } from './finish.ts';
import type { Place, Result } from './part.ts';
import { describeReckoning } from './report.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { createWorld, type World } from './world.ts';

const CLIENTS = 6;
const CLIENT_PAUSE_MS = 20;
const MAX_SUBMISSIONS = 400;
const MAX_CHANGES = 20;
const CUT_AFTER_MS = { low: 500, high: 2_500 };

export async function cutDeliveries({ seed, directory, deliveries: cuts }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const found = await cutWorlds(
    { directory, random, cuts, name: 'cut-delivery' },
    {
      async open(dataDir) {
        const world = await createWorld({ random, name: 'cutdelivery', dataDir });
        return { world, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
      },
      work: ({ world }, { cut }) => workUntilCut(world, random, cut),
      finish: async ({ world }) =>
        describeReckoning(withoutRepeats(await finish(world, await world.start()))),
    },
  );
  return { lines: found.flatMap(({ lines }) => lines), faults: found.flatMap(({ faults }) => faults) };
}

/** Requests that were acknowledged after the cut count as unanswered, and are repeated. */
async function workUntilCut(world: World, random: SeededRandom, cut: () => Promise<unknown>): Promise<void> {
  const { load, ledger } = world;
  const daemon = await world.start();
  const over = new AbortController();
  const work = { daemon, key: world.key, signal: over.signal };
  const running = load.run({ ...work, clients: CLIENTS, pauseMs: CLIENT_PAUSE_MS, most: MAX_SUBMISSIONS });
  await ledger.run({ ...work, most: MAX_CHANGES });
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  const promised = new Set(load.acknowledged);
  const cancellations = new Map(load.acknowledged.map((one) => [one, one.cancellation]));
  await cut();
  await daemon.kill('SIGKILL');
  over.abort();
  await running;
  for (const late of load.acknowledged.filter((one) => !promised.has(one))) load.forget(late);
  for (const [submission, cancellation] of cancellations) {
    if (submission.cancellation !== cancellation) submission.cancellation = 'asked';
  }
  await world.endLife(Date.now());
}

/**
 * Removes the duplicates that a cut may cause. The daemon ran on for a moment after the image was taken, so a message
 * that it delivered then is delivered again, one whose cancellation it confirmed then may be sent, and an event that it fanned out then is
 * fanned out again.
 */
function withoutRepeats(reckoning: Reckoning): Reckoning {
  const judgement = { ...reckoning.judgement, unexplained: [], changed: [], uncanceled: [] };
  const faults = reckoning.faults.filter((fault) => !isOfSecondDelivery(fault));
  return { ...reckoning, judgement, faults };
}
