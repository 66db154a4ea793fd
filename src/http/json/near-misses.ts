/**
 * Unknown fields are ignored, but `reply_to` or `Reply-To` instead of `replyTo` is refused: if it were dropped
 * silently, the mail would differ from what the caller meant. `starting_after` in a query is refused too: otherwise the
 * caller would receive the same page again and again.
 */
import type { FastifySchema, preValidationHookHandler } from 'fastify';
import { type AppError, invalid } from '../../system/errors.ts';
import { addFieldRefusals } from './field-refusals.ts';
import { MAX_ISSUES } from './read-fields.ts';

/** Returns the hook of a route that refuses misspelled fields and parameters. */
export function rejectNearMisses({ body, querystring }: FastifySchema): preValidationHookHandler {
  const findInBody = nearMissesOf(propertiesOf(body) ?? []);
  const findInQuery = nearMissesOf(propertiesOf(querystring) ?? [], 'parameter');
  return (request, _reply, done) => {
    addFieldRefusals(request, findInBody(request.body));
    addFieldRefusals(request, findInQuery(request.query));
    done();
  };
}

type FindNearMisses = (given: unknown) => AppError[];

/** Returns a function that makes a refusal for each misspelling of a known name, at most MAX_ISSUES. */
export function nearMissesOf(
  known: readonly string[],
  kind: 'field' | 'parameter' = 'field',
): FindNearMisses {
  const exact = new Set(known);
  const meantBy = meantAmong(known);
  return (given) => {
    const refusals: AppError[] = [];
    if (typeof given !== 'object' || given === null || exact.size === 0) return refusals;
    for (const name of Object.keys(given)) {
      const meant = exact.has(name) ? undefined : meantBy(name);
      if (meant === undefined) continue;
      refusals.push(invalid(name, `\`${name}\` is not a ${kind}; did you mean \`${meant}\`?`));
      if (refusals.length === MAX_ISSUES) break;
    }
    return refusals;
  };
}

/** Returns the known field that differs from `field` only in case, `_` and `-`; undefined when there is none. */
export function findMeant<Field extends string>(field: string, known: readonly Field[]): Field | undefined {
  return meantAmong(known)(field);
}

/** Returns `findMeant` for many fields. The known names are normalised once, not for each of up to 40,000 fields. */
export function meantAmong<Field extends string>(known: readonly Field[]) {
  const bySpelling = new Map(known.map((name) => [plain(name), name] as const));
  return (field: string): Field | undefined => bySpelling.get(plain(field));
}

/** Returns the names of the fields in the schema of an object. */
export function propertiesOf(schema: unknown): readonly string[] | undefined {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return undefined;
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
}

function plain(field: string): string {
  return field.replace(/[_-]/g, '').toLowerCase();
}
