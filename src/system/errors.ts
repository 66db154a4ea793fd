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
  | 'unavailable';

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

/** Maximum number of issues that one refusal lists. Our own limit. */
export const MAX_ISSUES = 20;

/** Merges refusals into one that has the message and `param` of the first and the issues of all, one per field. */
export function mergeRefusals(first: AppError, ...others: readonly AppError[]): AppError {
  const issues = new Map<string, Issue>();
  for (const issue of [first, ...others].flatMap(({ options }) => options.issues ?? [])) {
    if (!issues.has(issue.path)) issues.set(issue.path, issue);
  }
  const listed = [...issues.values()].slice(0, MAX_ISSUES);
  return new AppError(first.code, first.message, { ...first.options, issues: listed });
}

type Results<Readers> = {
  [Name in keyof Readers]: Readers[Name] extends () => infer Result ? Result : never;
};

/**
 * Runs readers of one request that do not depend on each other, so that the caller learns of every wrong field at once.
 *
 * @returns the result of each reader, by its name
 * @throws AppError validation_error with the issues of all readers that refused; any other error at once
 */
export function readAll<Readers extends Readonly<Record<string, () => unknown>>>(
  readers: Readers,
): Results<Readers> {
  const results: Record<string, unknown> = {};
  const refusals: AppError[] = [];
  for (const name of Object.keys(readers)) {
    try {
      results[name] = readers[name]?.();
    } catch (error) {
      refusals.push(fieldRefusal(error));
    }
  }
  const [first, ...others] = refusals;
  if (first) throw mergeRefusals(first, ...others);
  return results as Results<Readers>;
}

/** Returns the refusal of a field; throws any other error again. */
function fieldRefusal(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'validation_error') return error;
  throw error;
}

/**
 * Reads every item of a list. It continues after a refused item until MAX_ISSUES items were refused.
 *
 * @throws AppError validation_error with the issues of all items that were refused; any other error at once
 */
export function readEach<Item, Result>(
  items: readonly Item[],
  read: (item: Item, index: number) => Result,
): Result[] {
  const results: Result[] = [];
  const refusals: AppError[] = [];
  for (let index = 0; index < items.length && refusals.length < MAX_ISSUES; index++) {
    try {
      results.push(read(items[index] as Item, index));
    } catch (error) {
      refusals.push(fieldRefusal(error));
    }
  }
  const [first, ...others] = refusals;
  if (first) throw mergeRefusals(first, ...others);
  return results;
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
