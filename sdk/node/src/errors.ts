import type { ProblemError } from './types.ts';

/** The codes of the library itself. An answer of the server has its own, such as `not_found`. */
export type ClientErrorType =
  | 'connection_error'
  | 'timeout'
  | 'canceled'
  | 'closed'
  | 'http_error'
  | 'invalid_response'
  | 'invalid_argument'
  | 'invalid_signature'
  | 'insecure_base_url';

export type ErrorFields = {
  type: string;
  message: string;
  status?: number | undefined;
  param?: string | undefined;
  issues?: ProblemError['issues'] | undefined;
  details?: ProblemError['details'] | undefined;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
};

/** The one error of this library: what the server refused, and what kept a call from an answer. */
export class PostriderError extends Error {
  /** Code of the answer, such as `not_found`, or one of the library. Codes do not change. */
  declare readonly type: ClientErrorType | ProblemError['type'];
  /** HTTP status. Absent when there was no answer. */
  declare readonly status?: number;
  /** Field that the error is about, such as `to[1]`. */
  declare readonly param?: string;
  /** Wrong fields and what is wrong with each. */
  declare readonly issues?: NonNullable<ProblemError['issues']>;
  /** Details for programs; each code has its own fields. */
  declare readonly details?: NonNullable<ProblemError['details']>;
  /** Id of the request, under which the server logs it. */
  declare readonly requestId?: string;
  /** Seconds after which the server wants to be asked again. */
  declare readonly retryAfter?: number;
  /** Headers of the answer; names are in lower case. */
  declare readonly headers?: Readonly<Record<string, string>>;
  /** Idempotency key of a send. Ask again with it, and the email is still sent once. */
  declare readonly idempotencyKey?: string;

  constructor({ message, cause, ...fields }: ErrorFields) {
    super(message, cause === undefined ? undefined : { cause });
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) Object.assign(this, { [name]: value });
  }

  static {
    PostriderError.prototype.name = 'PostriderError';
  }
}

export function invalidArgument(message: string, cause?: unknown): PostriderError {
  return new PostriderError({ type: 'invalid_argument', message, cause });
}
