/** The two ways a command fails on purpose. Anything else that is thrown is a bug. */

/** It was understood and did not work, said in one line: exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** The command line cannot mean anything: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
