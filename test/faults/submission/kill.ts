/**
 * kill -9 again and again while people and applications hand in mail: before and after the commits that accept a message of a person, accept
 * one of an application, store a report in the INBOX of a writer and settle it, and at random times.
 */
import { CRASH_POINTS } from '../../../src/crash-points.ts';
import { type KillPlan, killRepeatedly, planKills, withFaults } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { letDelaysPass } from '../quiet.ts';
import { seededRandom } from '../seeded-random.ts';
import { describeSubmission } from './audit.ts';
import type { MailKind } from './mail.ts';
import { createSubmissionWorld, finishSubmission, handIn } from './place.ts';

const POINTS = CRASH_POINTS.filter((name) => /^(accept|submission|report|mailbox-delivery)-/.test(name));
/** Messages of each user in a life. */
const MOST = 6;
const PAUSE_MS = 15;

export async function killSubmission({ seed, submission: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  await using place = await createSubmissionWorld({ random, name: 'submission' });
  const { done, faults } = await killRepeatedly(place.world, planKills(POINTS, kills, random), {
    random,
    use: (plan, { signal }) => handIn(place, { pauseMs: PAUSE_MS, signal, most: MOST, only: kindFor(plan) }),
  });
  await letDelaysPass(place.world);
  const verdict = await finishSubmission(place, await place.world.start());
  return withFaults(describeSubmission([verdict], done), faults);
}

/** Returns the kind of mail that leads to a point; undefined when all kinds may come. Reports and mail of others are stored in the same way. */
function kindFor(plan: KillPlan): MailKind | undefined {
  return plan.startsWith('mailbox-delivery-') ? 'refused' : undefined;
}
