/**
 * What routes answer, as the document says it: the refusals of one status are one response, with the envelope, the codes
 * it may carry and an example of each; and the headers of answers, each described once.
 */
import { type AnyCode, problemSchema, statusOf } from '../problem.ts';
import { REFUSALS } from './refusals.ts';
import type { Schemas } from './schemas.ts';

export type Answers = {
  /** By name. Filled by `refusals`. */
  responses: Record<string, object>;
  headers: Record<string, object>;
  /** By status, for an operation that may refuse with these codes. */
  refusals(codes: readonly AnyCode[]): Record<string, object>;
  /** Of an answer to a known caller; `more`: names of headers that it has besides. */
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
const ONLY_LIMITED = 'Only where the plan has a limit.';

const HEADERS = {
  'X-Request-Id': header('Names this request in the logs of the service.', 'string', true),
  'RateLimit-Limit': header(`Requests a second that the plan allows. ${ONLY_LIMITED}`, 'integer'),
  'RateLimit-Policy': header(`The limit, its window in seconds and its burst. ${ONLY_LIMITED}`, 'string'),
  'RateLimit-Remaining': header(`Requests that may follow at once. ${ONLY_LIMITED}`, 'integer'),
  'RateLimit-Reset': header(`Seconds until all of the burst is there again. ${ONLY_LIMITED}`, 'integer'),
  'WWW-Authenticate': header('`Bearer` (RFC 9110 11.6.1).', 'string', true),
  'Retry-After': header(
    'Seconds after which the same request may succeed (RFC 9110 10.2.3).',
    'integer',
    true,
  ),
  'Idempotency-Replayed': header(
    '`true`: an earlier request had the same Idempotency-Key, and this is its answer.',
    'string',
  ),
};

/** `more`: headers that answers may carry besides, with what they say. */
export function createAnswers(schemas: Schemas, more: Readonly<Record<string, string>>): Answers {
  const responses: Record<string, object> = {};
  const added = Object.entries(more).map(([name, says]) => [name, header(says, 'integer')] as const);
  const headers: Record<string, object> = { ...HEADERS, ...Object.fromEntries(added) };
  const knownCaller = [...KNOWN_CALLER, ...Object.keys(more)];
  const references = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

  function refusal(status: number, codes: readonly AnyCode[]): object {
    const name = codes.map(pascalCase).join('Or');
    const known = status === 401 ? EVERY_ANSWER : knownCaller;
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
    refusals(codes) {
      const byStatus = Map.groupBy(new Set(codes), statusOf);
      const sorted = [...byStatus].sort(([one], [other]) => one - other);
      return Object.fromEntries(
        sorted.map(([status, group]) => [String(status), refusal(status, group.sort())]),
      );
    },
    headersOf: (besides) => references([...knownCaller, ...besides]),
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

/** `not_found` is `NotFound`. */
function pascalCase(code: string): string {
  return code.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
