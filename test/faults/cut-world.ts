/**
 * Worlds whose daemon works on a disk that loses its power. A new daemon ends the work on what the disk has kept. Everything around the
 * daemon survives the cut, as if it were on other machines.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createVolatileDisk, mountImage, type VolatileDisk } from './disk/volatile-disk.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { World } from './world.ts';

export type CutOptions = {
  /** Path of the program of the disk (`buildVolatileDisk`). */
  program: string;
  /** Folder for the files of the disk. */
  directory: string;
  random: SeededRandom;
};

/** A disk that keeps what is flushed and a random share of the rest. */
export type CutDisk = Pick<VolatileDisk, 'failWrites' | 'failFlushes'> & { cut(): Promise<unknown> };

export type CutSteps<Place extends { world: World; close(): Promise<void> }, Work, Verdict> = {
  /** Creates the world, with this data directory. */
  open(dataDir: string): Promise<Place>;
  /** Works, cuts the disk, and ends the daemon. */
  work(place: Place, disk: CutDisk): Promise<Work>;
  /** Starts a daemon on the data that the disk has kept, which is that of the world now, and judges. */
  finish(place: Place, work: Work): Promise<Verdict>;
};

const DISK_BYTES = 512 * 1024 * 1024;
/** Size of the pieces of unflushed writes, each of which survives or is lost. */
const GRAIN_BYTES = 4096;

/** Cuts the power of one world after the other. Returns what was found in each. */
export async function cutWorlds<Verdict>(
  { cuts, name, ...options }: CutOptions & { cuts: number; name: string },
  cutOne: (options: CutOptions & { name: string }) => Promise<Verdict>,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let run = 0; run < cuts; run++) verdicts.push(await cutOne({ ...options, name: `${name}-${run}` }));
  return verdicts;
}

/** Cuts the power of a world, whose files are in a folder with this name meanwhile. Returns what `finish` found. */
export async function cutWorld<Place extends { world: World; close(): Promise<void> }, Work, Verdict>(
  { program, directory, random, name }: CutOptions & { name: string },
  { open, work, finish }: CutSteps<Place, Work, Verdict>,
): Promise<Verdict> {
  const own = join(directory, name);
  mkdirSync(own);
  const disk = await createVolatileDisk(program, join(own, 'disk'), { sizeBytes: DISK_BYTES });
  const image = join(own, 'cut.image');
  const place = await open(join(disk.mountPoint, 'data'));
  let unmount: (() => void) | undefined;
  let verdict: Verdict;
  try {
    const how = () => ({ survival: random.share(), grainBytes: GRAIN_BYTES, seed: random.seed() });
    const cut = () => disk.cut({ path: image, ...how(), delayWrites: 0 });
    const worked = await work(place, { ...disk, cut });
    disk.remove();
    const mounted = join(own, 'after');
    unmount = await mountImage(image, mounted);
    verdict = await finish({ ...place, world: movedTo(join(mounted, 'data'), place.world) }, worked);
  } finally {
    await place.close();
    unmount?.();
    disk.remove();
  }
  rmSync(own, { recursive: true });
  return verdict;
}

/** Returns the world with another data directory. */
function movedTo(dataDir: string, world: World): World {
  return { ...world, dataDir, start: (crashAt, directory = dataDir) => world.start(crashAt, directory) };
}
