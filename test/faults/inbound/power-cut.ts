/**
 * A power cut while mail is received. On the data that the disk kept, a new daemon has every message that was answered with 250
 * before the cut, and does with each what is to be done.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cutWorlds } from '../cut-world.ts';
import type { Place, Result } from '../part.ts';
import { describeInbound } from '../report.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { createInboundWorld, finishInbound, type InboundWorld } from './place.ts';

const CUT_AFTER_MS = { low: 300, high: 2_000 };
const CLIENTS = 6;
const MAX_LETTERS = 1_000;
const READERS = 30;

export async function cutReceiving({ seed, directory, inbound: { cuts } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const reckonings = await cutWorlds(
    { directory, random, cuts, name: 'inbound-cut' },
    {
      open: (dataDir) => createInboundWorld({ random, name: 'inboundcut', readers: READERS, dataDir }),
      work: (place, { cut }) => receiveUntilCut(place, random, cut),
      finish: async (place) => finishInbound(place, await place.world.start()),
    },
  );
  return describeInbound(reckonings, `${cuts} cuts`);
}

/** The disk knows nothing of replies and posts after the cut, so a message that was answered after it counts as not answered. */
async function receiveUntilCut(
  { world, senders, port, posts }: InboundWorld,
  random: SeededRandom,
  cut: () => Promise<unknown>,
): Promise<void> {
  const daemon = await world.start();
  const over = new AbortController();
  const { signal } = over;
  const running = senders.run({ port, clients: CLIENTS, pauseMs: 0, signal, most: MAX_LETTERS });
  // A cut before anything was promised proves nothing.
  while (senders.acknowledged.length === 0) await sleep(CUT_AFTER_MS.low);
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  const promised = new Map(senders.letters.map((letter) => [letter, new Set(letter.acknowledged.keys())]));
  const cutAtMs = Date.now();
  await cut();
  await daemon.kill('SIGKILL');
  over.abort();
  await running;
  for (const letter of senders.acknowledged) {
    const late = [...letter.acknowledged.keys()].filter((id) => !promised.get(letter)?.has(id));
    if (late.length > 0) senders.forget(letter, late);
  }
  await world.endLife(cutAtMs);
  for (const arrivals of [posts, world.receiptsApart])
    for (let index = arrivals.length - 1; index >= 0; index--)
      if ((arrivals[index]?.atMs ?? 0) >= cutAtMs) arrivals.splice(index, 1);
}
