/** Runs the commands of a block one after the other. */
import type { Flow, Predicate, Statement } from '../run/run.ts';

/** A command with the line of the script on which it stands. */
export type Line = { line: number; execute: Statement };

/** Returns the block of these commands. Each command is a step of the run. */
export function sequence(lines: readonly Line[]): Statement {
  return (run) => {
    for (const { line, execute } of lines) {
      run.beginCommand(line);
      const flow = execute(run);
      if (flow) return flow;
    }
    return undefined;
  };
}

/** A condition and the block that runs when it is the first that is true. An `else` is always true. */
export type Branch = { test: Predicate; block: Statement };

/** Returns the chain of `if`, `elsif` and `else` (RFC 5228 section 3.1). */
export function chooseBranch(branches: readonly Branch[]): Statement {
  const [only] = branches;
  if (only && branches.length === 1) return (run) => (only.test(run) ? only.block(run) : undefined);
  return (run): Flow => {
    for (const { test, block } of branches) if (test(run)) return block(run);
    return undefined;
  };
}
