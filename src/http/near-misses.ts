/**
 * Unknown fields are ignored, but `reply_to` for `replyTo` is a mistake worth an answer: dropped silently it would send
 * another mail than was meant (api.md 1.1).
 */
import type { FastifyInstance } from 'fastify';
import { invalid } from '../system/errors.ts';

export function rejectNearMisses(server: FastifyInstance): void {
  server.addHook('preValidation', async (request) => {
    const known = propertiesOf(request.routeOptions.schema?.body);
    if (!known || typeof request.body !== 'object' || request.body === null) return;
    for (const field of Object.keys(request.body)) {
      const meant = camelCase(field);
      if (!known.has(field) && known.has(meant)) {
        throw invalid(field, `\`${field}\` is not a field; did you mean \`${meant}\`?`);
      }
    }
  });
}

function propertiesOf(schema: unknown): Set<string> | undefined {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return undefined;
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? new Set(Object.keys(properties)) : undefined;
}

function camelCase(field: string): string {
  return field.replace(/[_-]+([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
