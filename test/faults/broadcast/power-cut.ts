/**
 * A power cut while a broadcast is sent. On the data that the disk kept, a new daemon must send it to the end: everything
 * that was sent before the cut is known there, so that nobody gets a second copy, and nobody is left out.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonProcess } from '../../support/daemon.ts';
import { type CutDisk, cutWorlds } from '../cut-world.ts';
import type { Place, Result } from '../part.ts';
import { describeBroadcasts } from '../report.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { beginWorld, type World } from '../world.ts';
import { auditCounts } from './audit.ts';
import { type Campaign, createCampaign, ENVIRONMENT, finishBroadcasts, sendBroadcast } from './campaign.ts';

/** From the walk through the audience to the delivery of most copies. */
const CUT_AFTER_MS = { low: 50, high: 2_500 };

export async function cutBroadcasts({ seed, directory, broadcast }: Place): Promise<Result> {
  const { cuts, cutContacts: contacts } = broadcast;
  const random = seededRandom(seed);
  const verdicts = await cutWorlds(
    { directory, random, cuts, name: 'broadcast-cut' },
    {
      async open(dataDir) {
        const start = { random, name: 'broadcastcut', dataDir, env: ENVIRONMENT, isSubscribed: false };
        const { world, daemon } = await beginWorld(start);
        return { world, daemon, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
      },
      async work({ world, daemon }, disk) {
        const campaign = await createCampaign(world, daemon, contacts);
        await sendUntilCut(world, daemon, { campaign, random, disk });
        return campaign;
      },
      async finish({ world }, campaign) {
        const faults = auditCounts(world.dataDir);
        const daemon = await world.start();
        const verdict = await finishBroadcasts(world, daemon, { campaign, contacts });
        return { ...verdict, faults: [...faults, ...verdict.faults] };
      },
    },
  );
  return describeBroadcasts(verdicts, `${cuts} cuts`);
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
