/**
 * Refusals. An `AppError` is caused by the caller or asks the caller to retry. It carries a code of a closed union,
 * and `http/json/problem.ts` maps every code to its status. Any other error that is thrown is a bug.
 */
import { constants } from 'node:os';

export type ErrorCode =
  | 'validation_error'
  | 'missing_api_key'
  | 'invalid_api_key'
  | 'restricted_api_key'
  | 'not_found'
  | 'method_not_allowed'
  | 'idempotency_conflict'
  | 'idempotency_in_progress'
  | 'already_exists'
  | 'invalid_state'
  | 'domain_in_use'
  | 'request_timeout'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'domain_not_verified'
  | 'suppressed_recipient'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'unavailable'
  /** A part of the daemon ended during the work, which may have been done. `unavailable` is for work that surely was not. */
  | 'interrupted';

/** One problem of a request: the path of the field, such as `to[3]`, and a message. */
export type Issue = { path: string; message: string };

/** Details of a refusal for programs, besides its code; `http/json/problem.ts` describes the same fields. */
type ErrorDetails = {
  /** Id of the record that exists already. */
  id?: string;
  scheduledEmails?: number;
  scheduledBroadcasts?: number;
  /** Number of emails a month that the plan allows. */
  limit?: number;
  used?: number;
  /** Time at which the quota begins again, in ISO 8601. */
  resetsAt?: string;
};

export type AppErrorOptions = {
  cause?: unknown;
  /** Name of the field that the refusal is about, as the caller spells it. */
  param?: string;
  issues?: readonly Issue[];
  details?: Readonly<ErrorDetails>;
  /** Time after which a retry makes sense, in seconds. It becomes the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** Resource that the daemon has run out of. Callers do not see it; `/healthz` reports it. */
  shortage?: 'disk';
};

export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly options: AppErrorOptions;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.options = options;
  }
}

/** Maximum length of a field's name in a refusal: callers choose the names, which may be as long as the body. */
const MAX_PARAM_CHARACTERS = 300;

/**
 * Returns the refusal of one field.
 * @param message a complete sentence; when it begins with the field in backticks, the issue leaves the field out,
 * because its path names it
 */
export function invalid(param: string, message: string): AppError {
  if (param.length > MAX_PARAM_CHARACTERS) {
    const short = `${param.slice(0, MAX_PARAM_CHARACTERS)}…`;
    return invalid(short.slice(0, MAX_PARAM_CHARACTERS), message.replaceAll(param, short));
  }
  const field = `\`${param}\``;
  const what = message.startsWith(field) ? message.slice(field.length).replace(/^:? /, '') : message;
  return new AppError('validation_error', message, { param, issues: [{ path: param, message: what }] });
}

/**
 * Returns the refusal of a request that would exceed the maximum number of resources.
 * @param resources plural of their name, such as `topics`
 * @param remedy what the caller can do
 */
export function limitReached(
  resources: string,
  count: number,
  remedy = 'delete one before you add another',
): AppError {
  const message = `You have ${count} ${resources}, which is the maximum; ${remedy}`;
  return new AppError('validation_error', message);
}

/** Returns the refusal for a resource that does not exist, or that belongs to another tenant. */
export function notFound(resource: string): AppError {
  return new AppError('not_found', `${resource} not found`);
}

/**
 * Returns a resource that was looked for.
 * @throws AppError not_found when it is undefined
 */
export function orNotFound<Found>(value: Found | undefined, resource: string): Found {
  if (value === undefined) throw notFound(resource);
  return value;
}

/** Returns the message of an error, or the thrown value as text. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Node has no name for a used-up disk quota: it reports the negated errno of the kernel, with a code of its own. */
const QUOTA_ERRNO = -constants.errno.EDQUOT;

/**
 * Returns the `code` that Node and SQLite put on their errors, such as `ECONNREFUSED` or `SQLITE_FULL`; `EDQUOT` for a
 * used-up quota.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  if ('errno' in error && error.errno === QUOTA_ERRNO) return 'EDQUOT';
  return typeof error.code === 'string' ? error.code : undefined;
}
