/** The part of the fault tests that is about the scripts of mailboxes. */
import { describeFaults } from '../report.ts';
import { runScriptKills, type ScriptKillOptions } from './kill.ts';

type Place = { seed: number; scripts: Pick<ScriptKillOptions, 'kills'> };

/** Ends the daemon with kill -9. */
export async function killScripts({
  seed,
  scripts: { kills },
}: Place): Promise<{ ok: boolean; lines: string[] }> {
  const { done, faults, ...counts } = await runScriptKills({ seed, kills });
  const { letters, acknowledged, stored, redirects, notifications, replies, repeated } = counts;
  const lines = [
    done,
    `letters: ${letters}; answered with 250: ${acknowledged}, stored: ${stored}`,
    `redirected: ${redirects}, notified of: ${notifications}, replies: ${replies}; again after an end: ${repeated}`,
    ...describeFaults(faults),
  ];
  return { ok: faults.length === 0, lines };
}
