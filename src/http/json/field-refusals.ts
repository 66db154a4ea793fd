/**
 * Refuses fields by their names alone, before the schema is checked: misspelled fields, and fields that cannot be
 * changed. The refusals are kept with the request until the schema is checked, so that one answer lists every wrong
 * field.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AppError } from '../../system/errors.ts';
import { mergeRefusals } from './read-fields.ts';

declare module 'fastify' {
  interface FastifyRequest {
    fieldRefusals: readonly AppError[] | undefined;
  }
}

/** Refuses a request with field refusals when its schema allows it. */
export function refuseFields(server: FastifyInstance): void {
  server.decorateRequest('fieldRefusals', undefined);
  server.addHook('preHandler', (request, _reply, done) => {
    const [first, ...others] = request.fieldRefusals ?? [];
    done(first && mergeRefusals(first, ...others));
  });
}

/** Adds refusals to a request. They are reported together with those of its schema. */
export function addFieldRefusals(request: FastifyRequest, refusals: readonly AppError[]): void {
  if (refusals.length > 0) request.fieldRefusals = [...(request.fieldRefusals ?? []), ...refusals];
}

/** Returns the schema's refusal with the field refusals before it, or any other outcome unchanged. */
export function withFieldRefusals(
  request: Pick<FastifyRequest, 'fieldRefusals'>,
  refusal: AppError | undefined,
): AppError | undefined {
  const [first, ...others] = request.fieldRefusals ?? [];
  if (!first || refusal?.code !== 'validation_error') return refusal;
  return mergeRefusals(first, ...others, refusal);
}
