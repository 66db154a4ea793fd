/** The one error envelope of the API (api.md 1.1) and the status of each code. Anything unforeseen is a 500 that says nothing. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, type ErrorCode, type Issue, notFound } from '../system/errors.ts';
import type { Log } from '../system/log.ts';

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
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

export const problemSchema = Type.Object(
  {
    error: Type.Object({
      type: Type.String({ description: 'The code; stable, made for programs.' }),
      message: Type.String({ description: 'What went wrong, for people.' }),
      param: Type.Optional(Type.String({ description: 'The field it is about.' })),
      issues: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      requestId: Type.String(),
    }),
  },
  { description: 'Error' },
);

/** Fastify's error handler. */
export function sendProblem(
  log: Log,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = asRefusal(error);
  if (refusal) return sendRefusal(refusal, request, reply);
  log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  return reply.code(500).send({
    error: { type: 'internal_error', message: 'Something went wrong on our side', requestId: request.id },
  });
}

function sendRefusal(refusal: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { param, issues, details, retryAfterSeconds } = refusal.options;
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
  if (error.validation) return validationRefusal(error.validation);
  if (error.statusCode === 413) return new AppError('payload_too_large', 'The request body is too large');
  if (error.statusCode === 415) {
    return new AppError('unsupported_media_type', 'The body must be sent as application/json');
  }
  // A parameter longer than any id or address is one that nothing has.
  if (error.statusCode === 414) return notFound('Path');
  if (error.statusCode === 400)
    return new AppError('validation_error', `The request cannot be read: ${error.message}`);
  return undefined;
}

function isFastifyError(error: unknown): error is FastifyError {
  return error instanceof Error && ('statusCode' in error || 'validation' in error);
}

type SchemaIssue = NonNullable<FastifyError['validation']>[number];

/** Ajv's findings, said with the caller's own field names. */
function validationRefusal(findings: readonly SchemaIssue[]): AppError {
  const { path, message } = describe(mostTelling(findings));
  const issues = [{ path, message }];
  if (path === '') return new AppError('validation_error', `The request ${message}`, { issues });
  return new AppError('validation_error', `\`${path}\` ${message}`, { param: path, issues });
}

/**
 * Where a field may be a string or a list, Ajv reports why it is neither. The deepest finding says most, and among those
 * at one place a wrong type says least.
 */
function mostTelling(findings: readonly SchemaIssue[]): SchemaIssue {
  const score = ({ instancePath, keyword }: SchemaIssue) =>
    instancePath.split('/').length * 4 + (keyword === 'anyOf' ? 0 : keyword === 'type' ? 1 : 2);
  return findings.reduce((best, finding) => (score(finding) > score(best) ? finding : best));
}

function describe(finding: SchemaIssue): Issue {
  const path = toPath(finding.instancePath);
  const missing = finding.params['missingProperty'];
  if (typeof missing === 'string')
    return { path: path === '' ? missing : `${path}.${missing}`, message: 'is required' };
  const allowed = finding.params['allowedValues'];
  if (Array.isArray(allowed)) return { path, message: `must be one of ${allowed.join(', ')}` };
  return { path, message: finding.message ?? 'is not valid' };
}

/** `/attachments/1/path` is `attachments[1].path`. */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`),
      '',
    );
}
