/** Options that tags of extensions give to an action. */
import { type ActionOptions, noOptions } from '../run/action-list.ts';
import type { Run } from '../run/run.ts';
import type { Call } from './definition.ts';

/** Returns what makes the options of an action, each time it is taken. */
export function compileOptions(call: Call): (run: Run) => ActionOptions {
  const modifiers = call.tags.flatMap(({ modify }) => (modify ? [modify(call)] : []));
  return (run) => {
    const options = noOptions();
    for (const modify of modifiers) modify(options, run);
    return options;
  };
}
