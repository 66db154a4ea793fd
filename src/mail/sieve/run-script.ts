/** Runs a script for one message. */
import type { Action } from './actions.ts';
import { InputNeeded, type NeededInput } from './run/account.ts';
import { type RememberedKey, Run, RunFault, type RunInput, type Script } from './run/run.ts';

/** Error of a run, with the line on which it happened. */
type RunError = {
  line: number;
  /** Name of the included script in which that line is; undefined for the script itself. */
  script: string | undefined;
  message: string;
};

export type Outcome =
  | {
      kind: 'done';
      /** Actions in their order. None means that the message is discarded. */
      actions: readonly Action[];
      /** Keys to remember when the actions are taken (RFC 7352). */
      remembered: readonly RememberedKey[];
    }
  /** The script is to be run again with more input. */
  | { kind: 'needs'; needed: NeededInput }
  /**
   * The script failed: the message is kept as it is, and no action is taken (RFC 5228 section 2.10.6). `remembered` has the keys that it
   * tested before.
   */
  | { kind: 'failed'; error: RunError; remembered: readonly RememberedKey[] };

/** Returns what a script decides about a message. It depends on the input alone, and changes nothing. */
export function runScript(script: Script, input: RunInput): Outcome {
  const run = new Run(input);
  try {
    script.run(run);
    const { list, remembered } = run;
    if (list.isImplicitlyKept)
      list.add({
        kind: 'keep',
        ...run.origin(),
        line: 0,
        script: undefined,
        isImplicit: true,
        flags: run.flags,
      });
    return { kind: 'done', actions: list.actions, remembered };
  } catch (error) {
    if (error instanceof InputNeeded) return { kind: 'needs', needed: error.needed };
    if (!(error instanceof RunFault)) throw error;
    const { line, script: name, remembered } = run;
    return { kind: 'failed', error: { line, script: name, message: error.message }, remembered };
  }
}
