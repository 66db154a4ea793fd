/**
 * Long calculations that can pause. Each is a generator that yields after a bounded number of cheap operations. Its caller decides at each
 * yield whether other work runs first, so that the calculation itself needs no clock and stays synchronous for tests.
 */

/** A calculation that yields between its steps, and then returns its result. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Number of operations of one step, such as comparisons: some tenths of a millisecond. */
const OPERATIONS_PER_STEP = 1_024;

/** Returns a function that counts operations. It returns true when a step is complete, so that the calculation yields. */
export function createStepCounter(): (operations: number) => boolean {
  let sinceYield = 0;
  return (operations) => {
    sinceYield += operations;
    if (sinceYield < OPERATIONS_PER_STEP) return false;
    sinceYield = 0;
    return true;
  };
}

/** Runs a calculation to its end without a pause. */
export function finishSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
  }
}
