/**
 * Unknown fields of an update are ignored, but a field of the resource that cannot be changed is refused: if it were
 * dropped silently, the caller would believe that it was changed.
 */
import type { FastifyRequest } from 'fastify';
import { invalid } from '../../system/errors.ts';
import { addFieldRefusals } from './field-refusals.ts';

type ObjectSchema = { properties: object };

/** Returns the `preValidation` hook of a route: it runs before missing fields are reported. */
export function refuseImmutable(resource: readonly ObjectSchema[], change: ObjectSchema) {
  const known = resource.flatMap(({ properties }) => Object.keys(properties));
  const immutable = new Set(known.filter((field) => !Object.hasOwn(change.properties, field)));
  return async (request: FastifyRequest): Promise<void> => {
    const { body } = request;
    if (typeof body !== 'object' || body === null) return;
    const given = [...immutable].filter((field) => Object.hasOwn(body, field));
    addFieldRefusals(
      request,
      given.map((field) => invalid(field, `\`${field}\` cannot be changed`)),
    );
  };
}
