/** Reports what an authority has refused, or that it could not be asked. The message is for the operator. */
import { cleanForeignText } from '../../system/foreign-text.ts';

/** A problem document (RFC 8555 section 6.7, RFC 7807). */
type Problem = { type?: unknown; detail?: unknown; subproblems?: unknown };

const NAMESPACE = 'urn:ietf:params:acme:error:';

export class AcmeError extends Error {
  override readonly name = 'AcmeError';
  /** Type of the problem without its namespace, such as `rateLimited`; one of our own where the authority named none. */
  readonly type: string;
  /** Time that the authority wants to pass before the next attempt, in milliseconds; undefined when it names none. */
  readonly retryAfterMs: number | undefined;
  /** Status of the response; undefined when none has come. */
  readonly status: number | undefined;

  constructor(
    type: string,
    message: string,
    options: { retryAfterMs?: number | undefined; status?: number; cause?: unknown } = {},
  ) {
    // The authority, or another server, may have written a part of the message.
    super(cleanForeignText(message), { cause: options.cause });
    this.type = type;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
  }
}

/** Returns the error for a problem document. `doing` says what was asked for, such as `the order`. */
export function problemError(
  doing: string,
  problem: unknown,
  response: { retryAfterMs?: number | undefined; status?: number } = {},
): AcmeError {
  const { type, detail } = isProblem(problem) ? problem : {};
  const name =
    typeof type === 'string' && type.startsWith(NAMESPACE) ? type.slice(NAMESPACE.length) : 'problem';
  const said = typeof detail === 'string' ? `: ${detail}` : '';
  return new AcmeError(name, `the authority refused ${doing} (${name})${said}`, response);
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null;
}
