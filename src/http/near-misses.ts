/**
 * Unknown fields are ignored, but `reply_to` or `Reply-To` for `replyTo` is a mistake worth an answer: dropped silently
 * it would send another mail than was meant (api.md 1.1).
 */
import type { FastifyInstance } from 'fastify';
import { invalid } from '../system/errors.ts';

export function rejectNearMisses(server: FastifyInstance): void {
  server.addHook('preValidation', async (request) => {
    const known = propertiesOf(request.routeOptions.schema?.body);
    if (!known || typeof request.body !== 'object' || request.body === null) return;
    for (const field of Object.keys(request.body)) {
      const meant = known.includes(field) ? undefined : findMeant(field, known);
      if (meant !== undefined) {
        throw invalid(field, `\`${field}\` is not a field; did you mean \`${meant}\`?`);
      }
    }
  });
}

/** The known field that differs from `field` in case, `_` and `-` alone, if it differs at all. */
export function findMeant<Field extends string>(field: string, known: readonly Field[]): Field | undefined {
  const spelling = plain(field);
  return known.find((name) => plain(name) === spelling);
}

function propertiesOf(schema: unknown): readonly string[] | undefined {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return undefined;
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined;
}

function plain(field: string): string {
  return field.replace(/[_-]/g, '').toLowerCase();
}
