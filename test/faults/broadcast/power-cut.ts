/**
 * A power cut while a broadcast is sent. On the data that the disk kept, a new daemon must send it to the end: everything
 * that was sent before the cut is known there, so that nobody gets a second copy, and nobody is left out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../support/daemon.ts';
import { type CutDisk, type CutOptions, cutWorld, cutWorlds } from '../cut-world.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { beginWorld, type World } from '../world.ts';
import { auditCounts, type BroadcastVerdict, judgeBroadcasts } from './audit.ts';
import { type Campaign, createCampaign, ENVIRONMENT, sendBroadcast, untilAllSent } from './campaign.ts';

export type BroadcastCutOptions = Omit<CutOptions, 'random'> & {
  seed: number;
  cuts: number;
  contacts: number;
};

/** From the walk through the audience to the delivery of most copies. */
const CUT_AFTER_MS = { low: 50, high: 2_500 };
const DRAIN_TIMEOUT_MS = 5 * 60_000;

export function runBroadcastCuts({
  seed,
  contacts,
  ...options
}: BroadcastCutOptions): Promise<BroadcastVerdict[]> {
  const random = seededRandom(seed);
  return cutWorlds({ ...options, random, name: 'broadcast-cut' }, (one) =>
    cutWorld(one, {
      async open(dataDir) {
        const start = { random, name: 'broadcastcut', dataDir, env: ENVIRONMENT, isSubscribed: false };
        const { world, daemon } = await beginWorld(start);
        return { world, daemon, close: () => world.close() };
      },
      async work({ world, daemon }, disk) {
        const campaign = await createCampaign(world, daemon, contacts);
        await sendUntilCut(world, daemon, { campaign, random, disk });
        return campaign;
      },
      finish: ({ world }, campaign) => finish(world, campaign, contacts),
    }),
  );
}

async function sendUntilCut(
  world: World,
  daemon: DaemonProcess,
  { campaign, random, disk }: { campaign: Campaign; random: SeededRandom; disk: CutDisk },
): Promise<void> {
  await sendBroadcast(world, daemon, campaign);
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  const cutAtMs = Date.now();
  await disk.cut();
  await daemon.kill('SIGKILL');
  await world.endLife(cutAtMs);
  // The daemon ran on for a moment after the image was taken. What it sent then, the cut daemon has not sent.
  world.receipts.splice(0, Infinity, ...world.receipts.filter(({ atMs }) => atMs < cutAtMs));
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
