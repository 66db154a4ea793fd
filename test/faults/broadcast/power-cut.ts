/**
 * A power cut while a broadcast is sent. On the data that the disk kept, a new daemon must send it to the end: everything
 * that was sent before the cut is known there, so that nobody gets a second copy, and nobody is left out.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVolatileDisk, mountImage } from '../disk/volatile-disk.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { beginWorld, type World } from '../world.ts';
import { auditCounts, type BroadcastVerdict, judgeBroadcasts } from './audit.ts';
import { type Campaign, createCampaign, ENVIRONMENT, sendBroadcast, untilAllSent } from './campaign.ts';

export type BroadcastCutOptions = {
  program: string;
  directory: string;
  seed: number;
  cuts: number;
  contacts: number;
};

const DISK_BYTES = 512 * 1024 * 1024;
const GRAIN_BYTES = 4096;
/** From the walk through the audience to the delivery of most copies. */
const CUT_AFTER_MS = { low: 50, high: 2_500 };
const DRAIN_TIMEOUT_MS = 5 * 60_000;

export async function runBroadcastCuts(options: BroadcastCutOptions): Promise<BroadcastVerdict[]> {
  const random = seededRandom(options.seed);
  const verdicts: BroadcastVerdict[] = [];
  for (let run = 0; run < options.cuts; run++) {
    const directory = join(options.directory, `broadcast-cut-${run}`);
    mkdirSync(directory);
    verdicts.push(await cutAndFinish({ ...options, directory, random }));
    rmSync(directory, { recursive: true });
  }
  return verdicts;
}

type Run = BroadcastCutOptions & { random: SeededRandom };

async function cutAndFinish({ program, directory, random, contacts }: Run): Promise<BroadcastVerdict> {
  const disk = await createVolatileDisk(program, join(directory, 'disk'), { sizeBytes: DISK_BYTES });
  const image = join(directory, 'cut.image');
  const dataDir = join(disk.mountPoint, 'data');
  const { world, daemon } = await beginWorld({
    random,
    name: 'broadcastcut',
    dataDir,
    env: ENVIRONMENT,
    isSubscribed: false,
  });
  let unmount: (() => void) | undefined;
  try {
    const campaign = await createCampaign(world, daemon, contacts);
    await sendBroadcast(world, daemon, campaign);
    await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
    const cutAtMs = Date.now();
    const how = { survival: random.share(), grainBytes: GRAIN_BYTES, seed: random.seed(), delayWrites: 0 };
    await disk.cut({ path: image, ...how });
    await daemon.kill('SIGKILL');
    await world.endLife(cutAtMs);
    // The daemon ran on for a moment after the image was taken. What it sent then, the cut daemon has not sent.
    world.receipts.splice(0, Infinity, ...world.receipts.filter(({ atMs }) => atMs < cutAtMs));
    disk.remove();
    const mounted = join(directory, 'after');
    unmount = await mountImage(image, mounted);
    return await finish({ ...world, dataDir: join(mounted, 'data') }, campaign, contacts);
  } finally {
    await world.close();
    unmount?.();
    disk.remove();
  }
}

async function finish(world: World, campaign: Campaign, contacts: number): Promise<BroadcastVerdict> {
  const { dataDir, receipts, endOfLifeMs } = world;
  const faults = auditCounts(dataDir);
  const daemon = await world.start(undefined, dataDir);
  const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
  faults.push(...(await untilAllSent(world, daemon, { campaign, signal })));
  await daemon.stop();
  await world.endLife(Date.now());
  const verdict = judgeBroadcasts(dataDir, receipts, {
    endOfLifeMs,
    contacts,
    broadcasts: campaign.broadcasts,
  });
  return { ...verdict, faults: [...faults, ...verdict.faults] };
}
