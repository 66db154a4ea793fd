/**
 * A disk that something else fills while mail is received. Below its reserve the daemon puts mail off with 452 before it takes any
 * data; when there is space again, everything is taken without a restart.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, mountMemory } from '../full-disk.ts';
import type { Place, Result } from '../part.ts';
import { describeInbound } from '../report.ts';
import { seededRandom } from '../seeded-random.ts';
import { createInboundWorld, finishInbound } from './place.ts';

const DISK_MEGABYTES = 64;
const RESERVE_MEGABYTES = '4';
/** The free space is looked at every five seconds (system/disk-space.ts). */
const FULL_MS = 7_000;
const CALM_MS = 500;
const LOAD = { clients: 3, pauseMs: 20, persistent: true };
const MAX_LETTERS = 60;
const READERS = 10;

export async function fillDiskOfReceived({ directory, seed, inbound }: Place): Promise<Result> {
  const cycles = inbound.cuts;
  using disk = mountMemory(join(directory, 'inbound-full-disk'), DISK_MEGABYTES);
  await using place = await createInboundWorld({
    random: seededRandom(seed),
    name: 'inboundfull',
    readers: READERS,
    dataDir: disk.dataDir,
    env: { POSTRIDER_STORAGE_RESERVE_MEGABYTES: RESERVE_MEGABYTES },
  });
  const daemon = await place.world.start();
  const { senders, port } = place;
  for (let cycle = 0; cycle < cycles; cycle++) {
    const over = new AbortController();
    const running = senders.run({ ...LOAD, port, signal: over.signal, most: MAX_LETTERS });
    await sleep(CALM_MS);
    fill(disk.filler);
    await sleep(FULL_MS);
    rmSync(disk.filler);
    over.abort();
    await running;
  }
  const reckoning = await finishInbound(place, daemon);
  const { deferrals } = senders;
  const early = (deferrals.get('MAIL 452') ?? 0) + (deferrals.get('DATA 452') ?? 0);
  if (early === 0) reckoning.inbound.faults.push('no mail was put off with 452 before its data');
  const counts = [...deferrals].map(([reply, count]) => `${reply} ${count}`);
  return describeInbound([reckoning], `${cycles} times; put off: ${counts.join(', ')}`);
}
