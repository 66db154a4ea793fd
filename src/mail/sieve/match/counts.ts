/** Tests that count their values, some of which leave out empty ones (RFC 5231 section 4.2). */
import type { Call } from '../compile/definition.ts';

/** Returns true for a call whose match type is `:count`. */
export function countsValues(call: Call): boolean {
  return call.tagOf('match type')?.name === ':count';
}
