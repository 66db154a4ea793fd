/** The parts of the fault tests that are about mail of people and applications. */
import { describeFaults } from '../report.ts';
import type { SubmissionVerdict } from './audit.ts';
import { runSubmissionFullDisks } from './full-disk.ts';
import { runSubmissionKills, type SubmissionKillOptions } from './kill.ts';
import { runSubmissionCuts } from './power-cut.ts';

type Place = {
  seed: number;
  directory: string;
  submission: Pick<SubmissionKillOptions, 'kills'> & { cuts: number };
};
type Result = { ok: boolean; lines: string[] };

/** Ends the daemon with kill -9. */
export async function killSubmission({ seed, submission: { kills } }: Place): Promise<Result> {
  const verdict = await runSubmissionKills({ seed, kills });
  return takenWell([verdict], verdict.done);
}

/** Cuts the power. */
export async function cutSubmission(place: Place & { program: string }): Promise<Result> {
  const { cuts } = place.submission;
  return takenWell(await runSubmissionCuts({ ...place, cuts }), `${cuts} cuts`);
}

/** Fills the disk. */
export async function fillDiskOfSubmission({ directory, seed, submission }: Place): Promise<Result> {
  const verdict = await runSubmissionFullDisks({ directory, seed, cycles: submission.cuts });
  return takenWell([verdict], verdict.done);
}

function takenWell(verdicts: readonly SubmissionVerdict[], done: string): Result {
  const sum = (figure: (verdict: SubmissionVerdict) => number) =>
    verdicts.reduce((total, verdict) => total + figure(verdict), 0);
  const faults = verdicts.flatMap((verdict) => verdict.faults);
  const lines = [
    done,
    `messages handed in: ${sum((one) => one.mail)}; answered with 250: ${sum((one) => one.acknowledged)}`,
    `arrived elsewhere: ${sum((one) => one.away)}, here: ${sum((one) => one.here)}, reported: ${sum((one) => one.reports)}; ` +
      `again after an end: ${sum((one) => one.repeated)}`,
    ...describeFaults(faults),
  ];
  return { ok: faults.length === 0, lines };
}
