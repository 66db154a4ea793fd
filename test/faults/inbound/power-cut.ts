/**
 * A power cut while mail is received. On the data that the disk kept, a new daemon has every message that was answered with 250
 * before the cut, and does with each what is to be done.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVolatileDisk, mountImage } from '../disk/volatile-disk.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { createInboundWorld, finishInbound, type InboundReckoning, type InboundWorld } from './place.ts';

export type InboundCutOptions = { program: string; directory: string; seed: number; cuts: number };

const DISK_BYTES = 512 * 1024 * 1024;
const GRAIN_BYTES = 4096;
const CUT_AFTER_MS = { low: 300, high: 2_000 };
const CLIENTS = 6;
const MAX_LETTERS = 1_000;
const READERS = 30;

export async function runInboundCuts(options: InboundCutOptions): Promise<InboundReckoning[]> {
  const random = seededRandom(options.seed);
  const verdicts: InboundReckoning[] = [];
  for (let run = 0; run < options.cuts; run++) {
    const directory = join(options.directory, `inbound-cut-${run}`);
    mkdirSync(directory);
    verdicts.push(await cutAndFinish({ ...options, directory, random }));
    rmSync(directory, { recursive: true });
  }
  return verdicts;
}

type Run = InboundCutOptions & { random: SeededRandom };

async function cutAndFinish({ program, directory, random }: Run): Promise<InboundReckoning> {
  const disk = await createVolatileDisk(program, join(directory, 'disk'), { sizeBytes: DISK_BYTES });
  const image = join(directory, 'cut.image');
  const dataDir = join(disk.mountPoint, 'data');
  const place = await createInboundWorld({ random, name: 'inboundcut', readers: READERS, dataDir });
  let unmount: (() => void) | undefined;
  try {
    await receiveUntilCut(place, random, () =>
      disk.cut({
        path: image,
        survival: random.share(),
        grainBytes: GRAIN_BYTES,
        seed: random.seed(),
        delayWrites: 0,
      }),
    );
    disk.remove();
    const mounted = join(directory, 'after');
    unmount = await mountImage(image, mounted);
    const world = { ...place.world, dataDir: join(mounted, 'data') };
    return await finishInbound({ ...place, world }, await world.start(undefined, world.dataDir));
  } finally {
    await place.close();
    unmount?.();
    disk.remove();
  }
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
