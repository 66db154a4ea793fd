/**
 * Unknown fields of an update are ignored, but one that the resource has and the update cannot change is a mistake worth
 * an answer: dropped silently, it would seem to have been changed (api.md 1.6).
 */
import type { FastifyRequest } from 'fastify';
import { invalid } from '../system/errors.ts';

type ObjectSchema = { properties: object };

/** For the `preValidation` of a route: before what is missing is blamed. @throws AppError validation_error */
export function refuseImmutable(resource: readonly ObjectSchema[], change: ObjectSchema) {
  const known = resource.flatMap(({ properties }) => Object.keys(properties));
  const immutable = known.filter((field) => !Object.hasOwn(change.properties, field));
  return async ({ body }: Pick<FastifyRequest, 'body'>): Promise<void> => {
    if (typeof body !== 'object' || body === null) return;
    const field = immutable.find((name) => Object.hasOwn(body, name));
    if (field !== undefined) throw invalid(field, `\`${field}\` cannot be changed`);
  };
}
