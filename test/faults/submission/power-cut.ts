/**
 * A power cut while mail is handed in. On the data that the disk kept, a new daemon has every message that was answered with 250 before the
 * cut, and sends it or tells its writer that it could not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { cutWorlds } from '../cut-world.ts';
import type { Place, Result } from '../part.ts';
import { letDelaysPass } from '../quiet.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { describeSubmission } from './audit.ts';
import {
  countAcknowledged,
  createSubmissionWorld,
  finishSubmission,
  handIn,
  type SubmissionWorld,
} from './place.ts';

const CUT_AFTER_MS = { low: 100, high: 1_500 };
/** Number of messages that are answered before the cut, which proves nothing without them. */
const MIN_ACKNOWLEDGED = 10;
/** Messages of each user. */
const MOST = 300;
const PAUSE_MS = 10;
/** Time in which the clients read what the daemon had answered. */
const READ_MS = 300;

export async function cutSubmission({ seed, directory, submission: { cuts } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const verdicts = await cutWorlds(
    { directory, random, cuts, name: 'submission-cut' },
    {
      open: (dataDir) => createSubmissionWorld({ random, name: 'submissioncut', dataDir }),
      work: (place, { cut }) => handInUntilCut(place, random, cut),
      async finish(place) {
        await letDelaysPass(place.world);
        return finishSubmission(place, await place.world.start());
      },
    },
  );
  return describeSubmission(verdicts, `${cuts} cuts`);
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
