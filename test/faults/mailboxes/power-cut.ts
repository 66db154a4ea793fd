/**
 * A power cut while people use their mailboxes. On the data that the disk kept, a new daemon has everything that was answered with OK
 * or 250 before the cut, and each change without an answer was made or not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CutDisk, cutWorld } from '../cut-world.ts';
import type { Place, Result } from '../part.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { doubtSince } from './audit.ts';
import {
  createMailboxWorld,
  describeMailboxes,
  finishMailboxes,
  type MailboxWorld,
  noFigures,
  send,
  work,
} from './place.ts';

const CUT_AFTER_MS = { low: 100, high: 2_000 };
/** Number of changes and letters that are answered before the cut, which proves nothing without them. */
const MIN_PROMISES = 20;
const MOST = { anyFirst: 0, mostChanges: 5_000 };
const MAX_LETTERS = 100;
/** Time in which the clients read what the daemon had answered. */
const READ_MS = 300;
const END_TIMEOUT_MS = 60_000;

/** Cuts the power of one world after the other. */
export function cutMailboxes(place: Place): Promise<Result> {
  const { cuts } = place.mailboxes;
  const ends = Array.from({ length: cuts }, (_, run): [string, End] => [`cut-${run}`, workUntilCut]);
  return runAll(place, ends, `${cuts} cuts`);
}

/** Lets the disk of one world after the other fail. The daemon ends, and nothing that was answered is lost. */
export function breakDiskOfMailboxes(place: Place): Promise<Result> {
  const ends = (['flush', 'write'] as const).map((kind): [string, End] => [`error-${kind}`, failing(kind)]);
  return runAll(place, ends, 'a flush and a write have failed');
}

/** Ends the daemon, with what the disk keeps of its data. Returns what is wrong. */
type End = (place: MailboxWorld, random: SeededRandom, disk: CutDisk) => Promise<string[]>;

/** Runs a world for each of these ends. */
async function runAll(
  { directory, seed }: Place,
  ends: readonly [name: string, end: End][],
  done: string,
): Promise<Result> {
  const random = seededRandom(seed);
  const figures = noFigures();
  const faults: string[] = [];
  for (const [name, end] of ends) {
    const found = await cutWorld(
      { directory, random, name: `mailboxes-${name}` },
      {
        open: (dataDir) => createMailboxWorld({ random, name: 'mailboxescut', dataDir, figures }),
        work: (place, disk) => end(place, random, disk),
        async finish(place, wrong) {
          const finished = await finishMailboxes(place, await place.world.start());
          return [...wrong, ...finished.faults];
        },
      },
    );
    faults.push(...found);
  }
  return describeMailboxes({ figures, faults }, done);
}

/** Starts the daemon with people and senders at work, and waits until it has answered enough of them. */
async function beginWork(place: MailboxWorld) {
  const daemon = await place.world.start();
  const before = promisesOf(place);
  const over = new AbortController();
  const { signal } = over;
  const working = work(place, { ...MOST, signal });
  const sending = send(place, { signal, mostLetters: MAX_LETTERS });
  while (promisesOf(place) - before < MIN_PROMISES) await sleep(READ_MS);
  const stopWork = async () => {
    over.abort();
    await Promise.all([working, sending]);
  };
  return { daemon, stopWork };
}

/** The daemon is stopped before the cut, so that it answers nothing that the disk can know only later. */
async function workUntilCut(place: MailboxWorld, random: SeededRandom, { cut }: CutDisk): Promise<string[]> {
  const { daemon, stopWork } = await beginWork(place);
  await sleep(random.between(CUT_AFTER_MS.low, CUT_AFTER_MS.high));
  await daemon.kill('SIGSTOP');
  await sleep(READ_MS);
  await cut();
  await daemon.kill('SIGKILL');
  await stopWork();
  await place.world.endLife(Date.now());
  return [];
}

/** The daemon cannot know what the disk has kept, so it ends at once and answers nothing more. */
function failing(kind: 'flush' | 'write'): End {
  return async (place, _random, disk) => {
    const { daemon, stopWork } = await beginWork(place);
    const since = place.mailboxes.map(({ told }) => ({ ...told, accepted: new Set(told.accepted) }));
    await (kind === 'flush' ? disk.failFlushes('always') : disk.failWrites('always'));
    const ended = await Promise.race([daemon.exited.then(() => true), sleep(END_TIMEOUT_MS, false)]);
    if (!ended) await daemon.kill('SIGKILL');
    await stopWork();
    await disk.cut();
    // Failed flushes have never been answered with success, so all that was answered counts.
    if (kind === 'write')
      for (const [index, { told }] of place.mailboxes.entries())
        place.figures.inDoubt += doubtSince(told, since[index] ?? told);
    await place.world.endLife(Date.now());
    return ended ? [] : [`the daemon lived on after a failed ${kind}`];
  };
}

/** Returns the number of changes and letters that were answered, in all worlds so far. */
function promisesOf({ figures, mailboxes }: MailboxWorld): number {
  const changes = Object.values(figures.changes).reduce((sum, count) => sum + count, 0);
  return changes + mailboxes.reduce((sum, { told }) => sum + told.accepted.size, 0);
}
