/**
 * kill -9 again and again while people and applications hand in mail: before and after the commits that accept a message of a person, accept
 * one of an application, store a report in the INBOX of a writer and settle it, and at random times.
 */
import { CRASH_POINTS } from '../../../src/crash-points.ts';
import { type DoneKills, type KillNumbers, type KillPlan, killRepeatedly } from '../kills.ts';
import { letDelaysPass } from '../quiet.ts';
import { seededRandom } from '../seeded-random.ts';
import type { SubmissionVerdict } from './audit.ts';
import type { MailKind } from './mail.ts';
import { createSubmissionWorld, finishSubmission, handIn } from './place.ts';

export type SubmissionKillOptions = { seed: number; kills: KillNumbers };

const POINTS = CRASH_POINTS.filter((name) => /^(accept|submission|report|mailbox-delivery)-/.test(name));
/** Messages of each user in a life. */
const MOST = 6;
const PAUSE_MS = 15;

export async function runSubmissionKills({
  seed,
  kills: numbers,
}: SubmissionKillOptions): Promise<SubmissionVerdict & Pick<DoneKills, 'done'>> {
  const random = seededRandom(seed);
  const place = await createSubmissionWorld({ random, name: 'submission' });
  try {
    const use = (plan: KillPlan, signal: AbortSignal) =>
      handIn(place, { pauseMs: PAUSE_MS, signal, most: MOST, only: kindFor(plan) });
    const { done, faults } = await killRepeatedly(place.world, { points: POINTS, numbers, random, use });
    await letDelaysPass(place.world);
    const verdict = await finishSubmission(place, await place.world.start());
    return { ...verdict, done, faults: [...faults, ...verdict.faults] };
  } finally {
    await place.close();
  }
}

/** Returns the kind of mail that leads to a point; undefined when all kinds may come. Reports and mail of others are stored in the same way. */
function kindFor(plan: KillPlan): MailKind | undefined {
  return plan.startsWith('mailbox-delivery-') ? 'refused' : undefined;
}
