/**
 * A full disk while a broadcast is sent, again and again in one life of the daemon. It stops where it is, and goes on by
 * itself when there is room again. Nobody gets a second copy, and nobody is left out.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, mountMemory } from '../full-disk.ts';
import { seededRandom } from '../seeded-random.ts';
import { beginWorld } from '../world.ts';
import { type BroadcastVerdict, judgeBroadcasts } from './audit.ts';
import { createCampaign, ENVIRONMENT, faultsOfSum, sendBroadcast, show, untilAllSent } from './campaign.ts';

export type BroadcastFullDiskOptions = { directory: string; seed: number; cycles: number; contacts: number };

const MEGABYTES_PER_THOUSAND_CONTACTS = 16;
const MIN_MEGABYTES = 96;
const CALM_MS = { low: 100, high: 800 };
const FULL_MS = 1_500;
const DRAIN_TIMEOUT_MS = 5 * 60_000;

export async function runBroadcastFullDisks(options: BroadcastFullDiskOptions): Promise<BroadcastVerdict> {
  const { contacts, cycles } = options;
  const random = seededRandom(options.seed);
  const disk = join(options.directory, 'broadcast-full-disk');
  const megabytes = Math.max(MIN_MEGABYTES, (contacts / 1_000) * MEGABYTES_PER_THOUSAND_CONTACTS);
  const unmount = mountMemory(disk, megabytes);
  const dataDir = join(disk, 'data');
  const filler = join(disk, 'filler');
  const { world, daemon } = await beginWorld({
    random,
    name: 'broadcastfull',
    dataDir,
    env: ENVIRONMENT,
    isSubscribed: false,
  });
  const faults: string[] = [];
  try {
    const campaign = await createCampaign(world, daemon, contacts);
    const id = await sendBroadcast(world, daemon, campaign);
    let arrivedAtEnd = 0;
    while (world.arrived() === 0) await sleep(CALM_MS.low);
    for (let cycle = 0; cycle < cycles; cycle++) {
      await sleep(random.between(CALM_MS.low, CALM_MS.high));
      fill(filler);
      await sleep(FULL_MS);
      const before = world.arrived();
      if (before < contacts) arrivedAtEnd = before;
      faults.push(...faultsOfSum(await show(world, daemon, id)));
      rmSync(filler);
    }
    if (arrivedAtEnd === 0) faults.push('the disk was full only before or after the broadcast');
    const signal = AbortSignal.timeout(DRAIN_TIMEOUT_MS);
    faults.push(...(await untilAllSent(world, daemon, { campaign, signal })));
    await daemon.stop();
    await world.endLife(Date.now());
    const { receipts, endOfLifeMs } = world;
    const verdict = judgeBroadcasts(dataDir, receipts, {
      endOfLifeMs,
      contacts,
      broadcasts: campaign.broadcasts,
    });
    return { ...verdict, faults: [...faults, ...verdict.faults] };
  } finally {
    await world.close();
    unmount();
  }
}
