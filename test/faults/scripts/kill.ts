/**
 * kill -9 again and again while letters come in for mailboxes whose script has five actions: before and after the commits that keep what the
 * script has decided, store the message in a folder and settle the delivery, and at random times. The script changes with each start.
 */
import { CRASH_POINTS } from '../../../src/crash-points.ts';
import { killRepeatedly, planKills } from '../kills.ts';
import type { Place, Result } from '../part.ts';
import { letDelaysPass } from '../quiet.ts';
import { seededRandom } from '../seeded-random.ts';
import { createScriptWorld, finishScripts, sendLetters } from './place.ts';

const POINTS = CRASH_POINTS.filter((name) => /^(script|mailbox-delivery)-/.test(name));
/** Letters in a life. */
const MOST = 8;
const PAUSE_MS = 20;

export async function killScripts({ seed, scripts: { kills } }: Place): Promise<Result> {
  const random = seededRandom(seed);
  const plans = planKills(POINTS, kills, random);
  await using place = await createScriptWorld({ random, name: 'scripts', letters: plans.length * MOST });
  const { done, faults } = await killRepeatedly(place.world, plans, {
    random,
    use: (_plan, { signal }) => sendLetters(place, { pauseMs: PAUSE_MS, signal, most: MOST }),
  });
  await letDelaysPass(place.world);
  const verdict = await finishScripts(place, await place.world.start());
  const { letters, acknowledged, stored, redirects, notifications, replies, repeated } = verdict;
  return {
    lines: [
      done,
      `letters: ${letters}; answered with 250: ${acknowledged}, stored: ${stored}`,
      `redirected: ${redirects}, notified of: ${notifications}, replies: ${replies}; again after an end: ${repeated}`,
    ],
    faults: [...faults, ...verdict.faults],
  };
}
