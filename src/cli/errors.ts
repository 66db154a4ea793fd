/** The two ways in which a command fails intentionally. Any other error that is thrown is a bug. */

/** Reports that a valid command failed. Its message is one line, and the exit code is 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Reports that the command line is not valid. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
