/** Refusals of the protocol itself, which parsers throw. What the product refuses is a `Refusal` of session.ts. */

/** Completes a command with BAD, or with NO where RFC 9051 asks for it. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly status: 'BAD' | 'NO';
  /** Response code with its arguments. */
  readonly code: string | undefined;

  constructor(status: 'BAD' | 'NO', text: string, code?: string) {
    super(text);
    this.status = status;
    this.code = code;
  }
}

/** Refuses a command that is malformed. */
export function bad(text: string, code?: string): never {
  throw new CommandError('BAD', text, code);
}
