/**
 * A full disk while a broadcast is sent, again and again in one life of the daemon. It stops where it is, and goes on by
 * itself when there is room again. Nobody gets a second copy, and nobody is left out.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, mountMemory } from '../full-disk.ts';
import { withFaults } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { describeBroadcasts } from '../report.ts';
import { seededRandom } from '../seeded-random.ts';
import { beginWorld } from '../world.ts';
import {
  createCampaign,
  ENVIRONMENT,
  faultsOfSum,
  finishBroadcasts,
  sendBroadcast,
  show,
} from './campaign.ts';

const MEGABYTES_PER_THOUSAND_CONTACTS = 16;
const MIN_MEGABYTES = 96;
const CALM_MS = { low: 100, high: 800 };
const FULL_MS = 1_500;

export async function fillDiskOfBroadcasts({ directory, seed, cycles, broadcast }: Place): Promise<Result> {
  const contacts = broadcast.cutContacts;
  const random = seededRandom(seed);
  const megabytes = Math.max(MIN_MEGABYTES, (contacts / 1_000) * MEGABYTES_PER_THOUSAND_CONTACTS);
  using disk = mountMemory(join(directory, 'broadcast-full-disk'), megabytes);
  const { dataDir, filler } = disk;
  const options = { random, name: 'broadcastfull', dataDir, env: ENVIRONMENT, isSubscribed: false };
  const { world, daemon } = await beginWorld(options);
  await using _ = world;
  const faults: string[] = [];
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
  const verdict = await finishBroadcasts(world, daemon, { campaign, contacts });
  return withFaults(describeBroadcasts([verdict], `${cycles} times`), faults);
}
