/**
 * Describes the responses of routes for the document. All refusals with one status are one response, with the
 * envelope, its possible codes and an example of each. Headers of responses are described once.
 */
import type { RouteOptions } from 'fastify';
import { type AnyCode, statusOf } from '../../transport/refusal.ts';
import { problemSchema } from '../problem.ts';
import { REFUSALS } from './refusals.ts';
import type { Schemas } from './schemas.ts';

/** Numeric headers that the responses of some routes have in addition to those of every server. */
export type SomeHeaders = {
  /** Name of the whole set, such as `Quota`. It becomes part of the names of responses that have these headers. */
  name: string;
  /** Descriptions of the headers, by name: what the value means, and when the header is present. */
  says: Readonly<Record<string, string>>;
  isOn(route: RouteOptions): boolean;
};

type Answers = {
  /** Responses by name. `refusals` adds to them. */
  responses: Record<string, object>;
  headers: Record<string, object>;
  of(route: RouteOptions): AnswersOfRoute;
};

export type AnswersOfRoute = {
  /** Returns responses by status, for an operation that may refuse with these codes. */
  refusals(codes: readonly AnyCode[]): Record<string, object>;
  /** Returns the headers of a response to a known caller. `more` names additional headers. */
  headersOf(more: readonly string[]): Record<string, object>;
};

const EVERY_ANSWER = ['X-Request-Id'];
const KNOWN_CALLER = [
  ...EVERY_ANSWER,
  'RateLimit-Limit',
  'RateLimit-Policy',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

const header = (description: string, type: 'string' | 'integer', isRequired = false) => ({
  description,
  ...(isRequired && { required: true }),
  schema: { type },
});
const ONLY_LIMITED = 'Present only when the plan has a limit.';

const HEADERS = {
  'X-Request-Id': header('Id of this request. If a request fails, the log names it.', 'string', true),
  'RateLimit-Limit': header(`Maximum number of requests per second. ${ONLY_LIMITED}`, 'integer'),
  'RateLimit-Policy': header(`The limit, its window in seconds and its burst. ${ONLY_LIMITED}`, 'string'),
  'RateLimit-Remaining': header(`Number of requests that may follow at once. ${ONLY_LIMITED}`, 'integer'),
  'RateLimit-Reset': header(
    `Time until the whole burst is available again, in seconds. ${ONLY_LIMITED}`,
    'integer',
  ),
  'WWW-Authenticate': header('`Bearer` (RFC 9110 section 11.6.1).', 'string', true),
  'Retry-After': header(
    'Time after which the same request may succeed, in seconds (RFC 9110 section 10.2.3).',
    'integer',
    true,
  ),
  'Idempotency-Replayed': header(
    '`true` when an earlier request had the same Idempotency-Key, and this is its response.',
    'string',
  ),
};

/** Returns the responses of a document, which are collected while its routes are described. */
export function createAnswers(schemas: Schemas, some: SomeHeaders | undefined): Answers {
  const responses: Record<string, object> = {};
  const added = Object.entries(some?.says ?? {}).map(([name, says]) => [name, header(says, 'integer')]);
  const headers: Record<string, object> = { ...HEADERS, ...Object.fromEntries(added) };
  const references = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

  function refusal(status: number, codes: readonly AnyCode[], more: SomeHeaders | undefined): object {
    const isKnown = status !== 401;
    const suffix = isKnown && more ? `With${more.name}` : '';
    const name = `${codes.map(pascalCase).join('Or')}${suffix}`;
    const known = isKnown ? [...KNOWN_CALLER, ...Object.keys(more?.says ?? {})] : EVERY_ANSWER;
    responses[name] ??= {
      description: codes.map((code) => `\`${code}\`: ${REFUSALS[code].when}`).join('\n\n'),
      headers: references([...known, ...headersOfStatus(status)]),
      content: {
        'application/json': {
          schema: {
            allOf: [
              schemas.reference(problemSchema),
              {
                type: 'object',
                properties: { error: { type: 'object', properties: { type: { enum: codes } } } },
              },
            ],
          },
          examples: Object.fromEntries(codes.map((code) => [code, { value: example(code) }])),
        },
      },
    };
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    responses,
    headers,
    of(route) {
      const more = some?.isOn(route) ? some : undefined;
      return {
        refusals(codes) {
          const byStatus = Map.groupBy(new Set(codes), statusOf);
          const sorted = [...byStatus].sort(([one], [other]) => one - other);
          return Object.fromEntries(
            sorted.map(([status, group]) => [String(status), refusal(status, group.sort(), more)]),
          );
        },
        headersOf: (besides) => references([...KNOWN_CALLER, ...Object.keys(more?.says ?? {}), ...besides]),
      };
    },
  };
}

function headersOfStatus(status: number): readonly string[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

function example(code: AnyCode): object {
  const { when: _, ...said } = REFUSALS[code];
  return { error: { type: code, ...said, requestId: 'req_01khq3z5vgxw1r8t6n2m4c9b7d' } };
}

/** Converts a code to the name of a response: `not_found` becomes `NotFound`. */
function pascalCase(code: string): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
