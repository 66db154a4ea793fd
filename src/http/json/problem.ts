/**
 * The error envelope of the API; transport/refusal.ts has the status of each code. Any unexpected error is a 500
 * without details.
 */
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { AppError, type AppErrorOptions } from '../../system/errors.ts';
import type { Log } from '../../system/log.ts';
import {
  ANY_CODES,
  type AnyCode,
  asTransportRefusal,
  isFastifyError,
  problemOf,
  startRefusal,
} from '../transport/refusal.ts';
import { withFieldRefusals } from './field-refusals.ts';
import { describeFindings, type Finding } from './findings.ts';

const typeField = Symbol('problem type');

declare module 'fastify' {
  interface FastifyReply {
    /** Code of the error that was sent. It is a field, because entries of a WeakMap would keep the reply in memory for longer. */
    [typeField]?: AnyCode;
  }
}

export const problemSchema = Type.Object(
  {
    error: Type.Object({
      type: Type.Enum(ANY_CODES, { description: 'Error code for programs. Codes do not change.' }),
      message: Type.String({ description: 'Description of the error for people.' }),
      param: Type.Optional(Type.String({ description: 'Field that the error is about, such as `to[1]`.' })),
      issues: Type.Optional(
        Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
          description: 'Wrong fields and what is wrong with each, at most 20. The first is `param`.',
        }),
      ),
      details: Type.Optional(
        Type.Object(
          {
            id: Type.Optional(
              Type.String({ description: '`already_exists`: the id of the existing record if it is yours.' }),
            ),
            scheduledEmails: Type.Optional(
              Type.Integer({ description: '`domain_in_use`: emails that are scheduled from the domain.' }),
            ),
            scheduledBroadcasts: Type.Optional(
              Type.Integer({
                description:
                  '`domain_in_use`, or `invalid_state` of an audience: broadcasts from the domain or to the audience that are scheduled, ' +
                  'being sent or paused.',
              }),
            ),
            limit: Type.Optional(
              Type.Integer({ description: '`quota_exceeded`: maximum number of emails per month.' }),
            ),
            used: Type.Optional(
              Type.Integer({ description: '`quota_exceeded`: number of emails counted this month.' }),
            ),
            resetsAt: Type.Optional(
              Type.String({ description: '`quota_exceeded`: time at which the next month begins.' }),
            ),
          },
          { description: 'Details for programs; each code has its own fields.' },
        ),
      ),
      requestId: Type.String({ description: 'Id of the request, as in the header X-Request-Id.' }),
    }),
  },
  { title: 'Problem', description: 'Body of every response that reports an error.' },
);

/** Body of a response that reports an error, as in `problemSchema`. */
export type Problem = {
  error: { type: AnyCode; message: string; requestId: string } & Pick<
    AppErrorOptions,
    'param' | 'issues' | 'details'
  >;
};

/** Another shape of errors, for all paths that begin with `prefix`. */
export type ProblemShape = {
  prefix: string;
  /** Returns the body of the response. It may set another status. */
  showProblem(reply: FastifyReply, problem: Problem): object;
};

type Sending = { log: Log; shapes: readonly ProblemShape[] };

/** Sends any error as a response. It is Fastify's error handler. */
export function sendProblem({ log, shapes }: Sending, error: unknown, reply: FastifyReply): FastifyReply {
  const { request } = reply;
  const refusal = withFieldRefusals(request, asRefusal(error));
  const problem = refusal ? startProblem(reply, refusal) : startFailure(reply);
  if (!refusal)
    log.error({ err: error, requestId: request.id, route: request.routeOptions.url }, 'request failed');
  const shape = shapes.find(({ prefix }) => isUnder(prefix, request.url));
  return reply.send(shape ? shape.showProblem(reply, problem) : problem);
}

function isUnder(prefix: string, url: string): boolean {
  return url.startsWith(prefix) && ['/', '?', undefined].includes(url[prefix.length]);
}

function startFailure(reply: FastifyReply): Problem {
  reply[typeField] = 'internal_error';
  reply.code(500);
  return problemOf('internal_error', 'The server failed to process the request', reply.request.id);
}

/** Returns the code of the error that a reply is; undefined for a success. */
export function problemTypeOf(reply: FastifyReply): AnyCode | undefined {
  return reply[typeField];
}

function startProblem(reply: FastifyReply, refusal: AppError): Problem {
  const { param, issues, details } = refusal.options;
  reply[typeField] = refusal.code;
  startRefusal(reply, refusal);
  return {
    error: {
      type: refusal.code,
      message: refusal.message,
      ...(param !== undefined && { param }),
      ...(issues && { issues }),
      ...(details && { details }),
      requestId: reply.request.id,
    },
  };
}

function asRefusal(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (isFastifyError(error) && error.validation) {
    return validationRefusal(error.validation, error.validationContext === 'body' ? 'body' : 'request');
  }
  return asTransportRefusal(error, 'application/json');
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
