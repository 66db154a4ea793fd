/**
 * Power cuts while a database of the previous version is migrated, each after so many writes of the disk. What the disk
 * kept is either that database or the migrated one, and the next start shows that nothing is lost.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writePreviousVersion } from '../support/previous-version.ts';
import { createVolatileDisk, mountImage, type VolatileDisk } from './disk/volatile-disk.ts';
import { createMigrationJudge, type MigrationJudge } from './migration-judge.ts';
import { openApart } from './open-apart.ts';
import type { Place, Result } from './part.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';

const CUTS_PER_CYCLE = 2;
const DISK_BYTES = 256 * 1024 * 1024;
/** A start makes about so many writes of the disk, of which each has many pages. */
const MAX_WRITES = 40;
const FLUSH_LATENCY_US = 1_000;

type Run = { random: SeededRandom; judge: MigrationJudge };

export async function cutMigrations({ directory: parent, seed, cycles }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const directory = join(parent, 'cut-migration');
  mkdirSync(directory);
  const complete = join(directory, 'complete');
  writePreviousVersion(complete);
  const { code } = await openApart(complete);
  if (code !== 0) throw new Error(`a start without a fault ended with ${code}`);
  const run = { random, judge: await createMigrationJudge(complete) };
  const left = { untouched: 0, migrated: 0 };
  const allFaults: string[] = [];
  let lostPieces = 0;
  const cuts = CUTS_PER_CYCLE * cycles;
  for (let cut = 0; cut < cuts; cut++) {
    const delayWrites = Math.ceil(((cut + random.share()) / cuts) * MAX_WRITES);
    const image = join(directory, `${cut}.image`);
    lostPieces += await cutAfter(run, image, delayWrites);
    const { state, faults } = await judgeImage(run, image);
    if (state) left[state]++;
    allFaults.push(...faults.map((fault) => `cut after write ${delayWrites}: ${fault}`));
  }
  const states = `left ${left.untouched} untouched, ${left.migrated} migrated`;
  return { lines: [`${cuts} cuts, which lost ${lostPieces} pieces, ${states}`], faults: allFaults };
}

/** Writes the image of a disk that loses its power while the database is migrated. Returns the number of lost pieces. */
async function cutAfter({ random }: Run, image: string, delayWrites: number): Promise<number> {
  using disk = await createVolatileDisk(`${image}-disk`, { sizeBytes: DISK_BYTES });
  const dataDir = join(disk.mountPoint, 'data');
  writePreviousVersion(dataDir);
  execFileSync('sync', ['--file-system', dataDir]);
  await disk.setFlushLatency(FLUSH_LATENCY_US);
  const [survival, seed] = [random.share(), random.seed()];
  const cut = disk.cut({ path: image, survival, grainBytes: 4096, seed, delayWrites });
  await openApart(dataDir);
  const { lostPieces } = await Promise.race([cut, writeUntil(disk, cut)]);
  return lostPieces;
}

/** Writes to the disk until the cut has happened, since a start may make fewer writes than the cut waits for. */
async function writeUntil<Result>(disk: VolatileDisk, cut: Promise<Result>): Promise<Result> {
  let isOver = false;
  void cut.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const file = openSync(join(disk.mountPoint, 'more'), 'a');
    fsyncSync(file);
    closeSync(file);
    rmSync(join(disk.mountPoint, 'more'));
    await sleep(1);
  }
  return cut;
}

async function judgeImage({ judge }: Run, image: string): ReturnType<MigrationJudge> {
  using cleanUp = new DisposableStack();
  cleanUp.defer(() => rmSync(image));
  cleanUp.use(await mountImage(image, `${image}-after`));
  return await judge(join(`${image}-after`, 'data'));
}
