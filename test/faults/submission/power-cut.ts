/**
 * A power cut while mail is handed in. On the data that the disk kept, a new daemon has every message that was answered with 250 before the
 * cut, and sends it or tells its writer that it could not.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVolatileDisk, mountImage } from '../disk/volatile-disk.ts';
import { letDelaysPass } from '../quiet.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import type { SubmissionVerdict } from './audit.ts';
import {
  countAcknowledged,
  createSubmissionWorld,
  finishSubmission,
  handIn,
  type SubmissionWorld,
} from './place.ts';

export type SubmissionCutOptions = { program: string; directory: string; seed: number; cuts: number };

const DISK_BYTES = 512 * 1024 * 1024;
const GRAIN_BYTES = 4096;
const CUT_AFTER_MS = { low: 100, high: 1_500 };
/** Number of messages that are answered before the cut, which proves nothing without them. */
const MIN_ACKNOWLEDGED = 10;
/** Messages of each user. */
const MOST = 300;
const PAUSE_MS = 10;
/** Time in which the clients read what the daemon had answered. */
const READ_MS = 300;

export async function runSubmissionCuts(options: SubmissionCutOptions): Promise<SubmissionVerdict[]> {
  const random = seededRandom(options.seed);
  const verdicts: SubmissionVerdict[] = [];
  for (let run = 0; run < options.cuts; run++) {
    const directory = join(options.directory, `submission-cut-${run}`);
    mkdirSync(directory);
    verdicts.push(await cutAndFinish({ ...options, directory, random }));
    rmSync(directory, { recursive: true });
  }
  return verdicts;
}

type Run = SubmissionCutOptions & { random: SeededRandom };

async function cutAndFinish({ program, directory, random }: Run): Promise<SubmissionVerdict> {
  const disk = await createVolatileDisk(program, join(directory, 'disk'), { sizeBytes: DISK_BYTES });
  const image = join(directory, 'cut.image');
  const dataDir = join(disk.mountPoint, 'data');
  const place = await createSubmissionWorld({ random, name: 'submissioncut', dataDir });
  let unmount: (() => void) | undefined;
  try {
    await handInUntilCut(place, random, () =>
      disk.cut({
        path: image,
        survival: random.share(),
        grainBytes: GRAIN_BYTES,
        seed: random.seed(),
        delayWrites: 0,
      }),
    );
    disk.remove();
    const mounted = join(directory, 'after');
    unmount = await mountImage(image, mounted);
    const after = join(mounted, 'data');
    const start: SubmissionWorld['world']['start'] = (crashAt, directory = after) =>
      place.world.start(crashAt, directory);
    const world = { ...place.world, dataDir: after, start };
    await letDelaysPass(world);
    return await finishSubmission({ ...place, world }, await world.start());
  } finally {
    await place.close();
    unmount?.();
    disk.remove();
  }
}

/** The daemon is stopped before the cut, so that it answers and sends nothing that the disk can know only later. */
async function handInUntilCut(
  place: SubmissionWorld,
  random: SeededRandom,
  cut: () => Promise<unknown>,
): Promise<void> {
  const { world } = place;
  const daemon = await world.start();
  const over = new AbortController();
  const running = handIn(place, { pauseMs: PAUSE_MS, signal: over.signal, most: MOST });
  while (countAcknowledged(place) < MIN_ACKNOWLEDGED) await sleep(READ_MS);
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  await daemon.kill('SIGSTOP');
  const cutAtMs = Date.now();
  await sleep(READ_MS);
  await cut();
  await daemon.kill('SIGKILL');
  over.abort();
  await running;
  await world.endLife(cutAtMs);
}
