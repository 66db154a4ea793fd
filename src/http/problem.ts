/**
 * The error envelope of the API (api.md 1.1), and the status of each code. Any unexpected error is a 500 without
 * details.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, type ErrorCode, notFound } from '../system/errors.ts';
import type { Log } from '../system/log.ts';
import { withFieldRefusals } from './field-refusals.ts';
import { describeFindings, type Finding } from './findings.ts';

/** Every `type` that an error of this API has. */
export type AnyCode = ErrorCode | 'internal_error';

const STATUS = {
  validation_error: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  restricted_api_key: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  idempotency_in_progress: 409,
  already_exists: 409,
  invalid_state: 409,
  domain_in_use: 409,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  domain_not_verified: 422,
  suppressed_recipient: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  unavailable: 503,
} as const satisfies Record<AnyCode, number>;

/** Default time to retry after. A shortage of memory usually ends within seconds. */
const UNAVAILABLE_RETRY_AFTER_SECONDS = 2;

/** Returns the HTTP status of a code. */
export function statusOf(code: AnyCode): number {
  return STATUS[code];
}

export const problemSchema = Type.Object(
  {
    error: Type.Object({
      type: Type.Enum(Object.keys(STATUS), { description: 'The code; stable, made for programs.' }),
      message: Type.String({ description: 'What went wrong, for people.' }),
      param: Type.Optional(Type.String({ description: 'The field it is about, such as `to[1]`.' })),
      issues: Type.Optional(
        Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
          description: 'Every wrong field and what is wrong with it, at most 20. The first is `param`.',
        }),
      ),
      details: Type.Optional(
        Type.Object(
          {
            id: Type.Optional(
              Type.String({ description: '`already_exists`: the id of the existing record.' }),
            ),
            scheduledEmails: Type.Optional(
              Type.Integer({ description: '`domain_in_use`: emails that are scheduled from the domain.' }),
            ),
            limit: Type.Optional(
              Type.Integer({ description: '`quota_exceeded`: maximum number of emails a month.' }),
            ),
            used: Type.Optional(
              Type.Integer({ description: '`quota_exceeded`: number of emails counted this month.' }),
            ),
            resetsAt: Type.Optional(
              Type.String({ description: '`quota_exceeded`: when the next month begins.' }),
            ),
          },
          { description: 'Details for programs; each code has its own fields.' },
        ),
      ),
      requestId: Type.String({ description: 'The same as the header X-Request-Id.' }),
    }),
  },
  { title: 'Problem', description: 'Every refusal and every failure.' },
);

/** Returns the envelope of an error without further fields. */
export function problemOf(type: AnyCode, message: string, requestId: string) {
  return { error: { type, message, requestId } };
}

/** Sends any error as a response. It is Fastify's error handler. */
export function sendProblem(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = withFieldRefusals(request, asRefusal(error));
  if (refusal) return sendRefusal(refusal, request, reply);
  log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  return reply.code(500).send(problemOf('internal_error', 'Something went wrong on our side', request.id));
}

function sendRefusal(refusal: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { param, issues, details } = refusal.options;
  const unavailable = refusal.code === 'unavailable' ? UNAVAILABLE_RETRY_AFTER_SECONDS : undefined;
  const { retryAfterSeconds = unavailable } = refusal.options;
  if (retryAfterSeconds !== undefined) reply.header('retry-after', retryAfterSeconds);
  if (STATUS[refusal.code] === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(STATUS[refusal.code]).send({
    error: {
      type: refusal.code,
      message: refusal.message,
      ...(param !== undefined && { param }),
      ...(issues && { issues }),
      ...(details && { details }),
      requestId: request.id,
    },
  });
}

function asRefusal(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (!isFastifyError(error)) return undefined;
  if (error.validation) {
    return validationRefusal(error.validation, error.validationContext === 'body' ? 'body' : 'request');
  }
  if (error.statusCode === 413) return new AppError('payload_too_large', 'The request body is too large');
  if (error.statusCode === 415) {
    return new AppError('unsupported_media_type', 'The body must be sent as application/json');
  }
  // A path parameter that is longer than any id or address names nothing.
  if (error.statusCode === 414) return notFound('Path');
  if (error.statusCode === 400)
    return new AppError('validation_error', `The request cannot be read: ${error.message}`);
  return undefined;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ('statusCode' in error || 'validation' in error);
}

/**
 * Returns the refusal for a value that its schema does not allow. `whole` is named when the value as a whole is wrong.
 */
export function validationRefusal(
  findings: readonly object[],
  whole: 'body' | 'request' = 'request',
): AppError {
  const issues = describeFindings(findings as readonly Finding[]);
  const [{ path, message } = { path: '', message: 'is not valid' }] = issues;
  if (path === '') return new AppError('validation_error', `The ${whole} ${message}`, { issues });
  return new AppError('validation_error', `\`${path}\` ${message}`, { param: path, issues });
}
