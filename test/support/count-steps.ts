/** Counts the steps of a calculation, each of which has a bounded number of operations, so that no test needs a clock. */
import type { Steps } from '../../src/system/steps.ts';

/** Runs a calculation to its end. Returns what it returns, and how often it has yielded. */
export function countSteps<Result>(calculation: Steps<Result>): { result: Result; steps: number } {
  for (let steps = 0; ; steps++) {
    const next = calculation.next();
    if (next.done) return { result: next.value, steps };
  }
}
