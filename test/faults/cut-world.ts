/**
 * Worlds whose daemon works on a disk that loses its power. A new daemon ends the work on what the disk has kept. Everything around the
 * daemon survives the cut, as if it were on other machines.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createVolatileDisk, mountImage, type VolatileDisk } from './disk/volatile-disk.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { World } from './world.ts';

/** A disk that keeps what is flushed and a random share of the rest. */
export type CutDisk = Pick<VolatileDisk, 'failWrites' | 'failFlushes'> & { cut(): Promise<unknown> };

type CutSteps<Surroundings extends AsyncDisposable & { world: World }, Work, Verdict> = {
  /** Creates the world, with this data directory. */
  open(dataDir: string): Promise<Surroundings>;
  /** Works, cuts the disk, and ends the daemon. */
  work(place: Surroundings, disk: CutDisk): Promise<Work>;
  /** Starts a daemon on the data that the disk has kept, which is that of the world now, and judges. */
  finish(place: Surroundings, work: Work): Promise<Verdict>;
};

const DISK_BYTES = 512 * 1024 * 1024;
/** Size of the pieces of unflushed writes, each of which survives or is lost. */
const GRAIN_BYTES = 4096;

type CutRun = { directory: string; random: SeededRandom; name: string };

/** Cuts the power of one world after the other. Returns what was found in each. */
export async function cutWorlds<Surroundings extends AsyncDisposable & { world: World }, Work, Verdict>(
  { cuts, name, ...run }: CutRun & { cuts: number },
  steps: CutSteps<Surroundings, Work, Verdict>,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (let cut = 0; cut < cuts; cut++)
    verdicts.push(await cutWorld({ ...run, name: `${name}-${cut}` }, steps));
  return verdicts;
}

/** Cuts the power of a world, whose files are in a folder with this name meanwhile. Returns what `finish` found. */
export async function cutWorld<Surroundings extends AsyncDisposable & { world: World }, Work, Verdict>(
  { directory, random, name }: CutRun,
  { open, work, finish }: CutSteps<Surroundings, Work, Verdict>,
): Promise<Verdict> {
  const own = join(directory, name);
  mkdirSync(own);
  // The daemon ends before its disks are unmounted.
  using cleanUp = new DisposableStack();
  cleanUp.defer(() => rmSync(own, { recursive: true }));
  const disk = cleanUp.use(await createVolatileDisk(join(own, 'disk'), { sizeBytes: DISK_BYTES }));
  const [image, mounted] = [join(own, 'cut.image'), join(own, 'after')];
  await using place = await open(join(disk.mountPoint, 'data'));
  const how = () => ({ survival: random.share(), grainBytes: GRAIN_BYTES, seed: random.seed() });
  const cut = () => disk.cut({ path: image, ...how(), delayWrites: 0 });
  const worked = await work(place, { ...disk, cut });
  disk.remove();
  cleanUp.use(await mountImage(image, mounted));
  return await finish({ ...place, world: movedTo(join(mounted, 'data'), place.world) }, worked);
}

/** Returns the world with another data directory. */
function movedTo(dataDir: string, world: World): World {
  return { ...world, dataDir, start: (crashAt, directory = dataDir) => world.start(crashAt, directory) };
}
