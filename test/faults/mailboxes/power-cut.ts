/**
 * A power cut while people use their mailboxes. On the data that the disk kept, a new daemon has everything that was answered with OK
 * or 250 before the cut, and each change without an answer was made or not.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVolatileDisk, mountImage } from '../disk/volatile-disk.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import {
  createMailboxWorld,
  finishMailboxes,
  type MailboxFigures,
  type MailboxReport,
  type MailboxWorld,
  noFigures,
  send,
  work,
} from './place.ts';

export type MailboxCutOptions = { program: string; directory: string; seed: number; cuts: number };

const DISK_BYTES = 512 * 1024 * 1024;
const GRAIN_BYTES = 4096;
const CUT_AFTER_MS = { low: 100, high: 2_000 };
/** Number of changes and letters that are answered before the cut, which proves nothing without them. */
const MIN_PROMISES = 20;
const MOST = { anyFirst: 0, mostChanges: 5_000 };
const MAX_LETTERS = 100;
/** Time in which the clients read what the daemon had answered. */
const READ_MS = 300;

/** Cuts the power of one world after the other. */
export async function runMailboxCuts(options: MailboxCutOptions): Promise<MailboxReport> {
  const random = seededRandom(options.seed);
  const figures = noFigures();
  const faults: string[] = [];
  for (let run = 0; run < options.cuts; run++) {
    const directory = join(options.directory, `mailboxes-cut-${run}`);
    mkdirSync(directory);
    faults.push(...(await cutAndFinish({ ...options, directory, random, figures })));
    rmSync(directory, { recursive: true });
  }
  return { figures, faults, done: `${options.cuts} cuts` };
}

type Run = MailboxCutOptions & { random: SeededRandom; figures: MailboxFigures };

/** Returns what is wrong after the cut. */
async function cutAndFinish({ program, directory, random, figures }: Run): Promise<string[]> {
  const disk = await createVolatileDisk(program, join(directory, 'disk'), { sizeBytes: DISK_BYTES });
  const image = join(directory, 'cut.image');
  const dataDir = join(disk.mountPoint, 'data');
  const place = await createMailboxWorld({ random, name: 'mailboxescut', dataDir, figures });
  let unmount: (() => void) | undefined;
  try {
    await workUntilCut(place, random, () =>
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
    const world = { ...place.world, dataDir: join(mounted, 'data') };
    const daemon = await world.start(undefined, world.dataDir);
    return (await finishMailboxes({ ...place, world }, daemon)).faults;
  } finally {
    await place.close();
    unmount?.();
    disk.remove();
  }
}

/** The daemon is stopped before the cut, so that it answers nothing that the disk can know only later. */
async function workUntilCut(
  place: MailboxWorld,
  random: SeededRandom,
  cut: () => Promise<unknown>,
): Promise<void> {
  const daemon = await place.world.start();
  const before = promisesOf(place);
  const over = new AbortController();
  const { signal } = over;
  const working = work(place, { ...MOST, signal });
  const sending = send(place, { signal, mostLetters: MAX_LETTERS });
  while (promisesOf(place) - before < MIN_PROMISES) await sleep(READ_MS);
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  await daemon.kill('SIGSTOP');
  await sleep(READ_MS);
  await cut();
  await daemon.kill('SIGKILL');
  over.abort();
  await Promise.all([working, sending]);
  await place.world.endLife(Date.now());
}

/** Returns the number of changes and letters that were answered, in all worlds so far. */
function promisesOf({ figures, mailboxes }: MailboxWorld): number {
  const changes = Object.values(figures.changes).reduce((sum, count) => sum + count, 0);
  return changes + mailboxes.reduce((sum, { told }) => sum + told.accepted.size, 0);
}
