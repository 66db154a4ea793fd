/**
 * A disk that something else fills while mail is received. Below its reserve the daemon puts mail off with 452 before it takes any
 * data; when there is space again, everything is taken without a restart.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fill, mountMemory } from '../full-disk.ts';
import { seededRandom } from '../seeded-random.ts';
import { createInboundWorld, finishInbound, type InboundReckoning } from './place.ts';

export type InboundFullDiskOptions = { directory: string; seed: number; cycles: number };

export type InboundFullDiskVerdict = InboundReckoning & { deferrals: Record<string, number> };

const DISK_MEGABYTES = 64;
const RESERVE_MEGABYTES = '4';
/** The free space is looked at every five seconds (system/disk-space.ts). */
const FULL_MS = 7_000;
const CALM_MS = 500;
const LOAD = { clients: 3, pauseMs: 20, persistent: true };
const MAX_LETTERS = 60;
const READERS = 10;

export async function runInboundFullDisks({
  directory,
  seed,
  cycles,
}: InboundFullDiskOptions): Promise<InboundFullDiskVerdict> {
  const disk = join(directory, 'inbound-full-disk');
  const unmount = mountMemory(disk, DISK_MEGABYTES);
  const filler = join(disk, 'filler');
  const place = await createInboundWorld({
    random: seededRandom(seed),
    name: 'inboundfull',
    readers: READERS,
    dataDir: join(disk, 'data'),
    env: { POSTRIDER_STORAGE_RESERVE_MEGABYTES: RESERVE_MEGABYTES },
  });
  try {
    const daemon = await place.world.start();
    const { senders, port } = place;
    for (let cycle = 0; cycle < cycles; cycle++) {
      const over = new AbortController();
      const running = senders.run({ ...LOAD, port, signal: over.signal, most: MAX_LETTERS });
      await sleep(CALM_MS);
      fill(filler);
      await sleep(FULL_MS);
      rmSync(filler);
      over.abort();
      await running;
    }
    const reckoning = await finishInbound(place, daemon);
    const { deferrals } = senders;
    const early = (deferrals.get('MAIL 452') ?? 0) + (deferrals.get('DATA 452') ?? 0);
    if (early === 0) reckoning.inbound.faults.push('no mail was put off with 452 before its data');
    return { ...reckoning, deferrals: Object.fromEntries(deferrals) };
  } finally {
    await place.close();
    unmount();
  }
}
