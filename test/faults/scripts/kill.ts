/**
 * kill -9 again and again while letters come in for mailboxes whose script has five actions: before and after the commits that keep what the
 * script has decided, store the message in a folder and settle the delivery, and at random times. The script changes with each start.
 */
import { CRASH_POINTS } from '../../../src/crash-points.ts';
import { countLives, type DoneKills, type KillNumbers, killRepeatedly } from '../kills.ts';
import { letDelaysPass } from '../quiet.ts';
import { seededRandom } from '../seeded-random.ts';
import type { ScriptVerdict } from './audit.ts';
import { createScriptWorld, finishScripts, sendLetters } from './place.ts';

export type ScriptKillOptions = { seed: number; kills: KillNumbers };

const POINTS = CRASH_POINTS.filter((name) => /^(script|mailbox-delivery)-/.test(name));
/** Letters in a life. */
const MOST = 8;
const PAUSE_MS = 20;

export async function runScriptKills({
  seed,
  kills: numbers,
}: ScriptKillOptions): Promise<ScriptVerdict & Pick<DoneKills, 'done'>> {
  const random = seededRandom(seed);
  const letters = countLives({ points: POINTS, numbers }) * MOST;
  const place = await createScriptWorld({ random, name: 'scripts', letters });
  try {
    const use = (_: unknown, signal: AbortSignal) =>
      sendLetters(place, { pauseMs: PAUSE_MS, signal, most: MOST });
    const { done, faults } = await killRepeatedly(place.world, { points: POINTS, numbers, random, use });
    await letDelaysPass(place.world);
    const verdict = await finishScripts(place, await place.world.start());
    return { ...verdict, done, faults: [...faults, ...verdict.faults] };
  } finally {
    await place.close();
  }
}
