/**
 * A body that is a list of what another route takes one of. Each item is checked by itself, as if it had come alone, so
 * that what is wrong with one is said of that one; the body's own schema says it whole, for the document.
 */
import type { FastifyInstance } from 'fastify';
import type { Static, TArray, TObject } from 'typebox';
import { AppError, mergeRefusals } from '../system/errors.ts';
import { nearMissesOf } from './near-misses.ts';
import { validationRefusal } from './problem.ts';

export type CheckedItems<Item extends TObject> = {
  /** For the route: checks a body but for what its items hold. */
  validatorCompiler: NonNullable<FastifyInstance['validatorCompiler']>;
  /** @throws AppError validation_error, as the route that takes one of them would */
  check: (item: unknown) => Static<Item>;
};

/** `list`: the field of `body` the items are in. */
export function checkedByItem<Item extends TObject>(
  server: FastifyInstance,
  body: TObject<Record<string, TArray<Item>>>,
  list: string,
): CheckedItems<Item> {
  const compile = server.validatorCompiler;
  const listSchema = body.properties[list];
  if (!compile || !listSchema) throw new Error(`the body has no list "${list}" to check by item`);
  const item: Item = listSchema.items;
  const envelope = { ...body, properties: { ...body.properties, [list]: { ...listSchema, items: {} } } };
  const route = { method: 'POST', url: '', httpPart: 'body' };
  const validate = compile({ ...route, schema: item });
  const findNearMisses = nearMissesOf(Object.keys(item.properties));
  return {
    validatorCompiler: (part) => compile(part.httpPart === 'body' ? { ...part, schema: envelope } : part),
    check(value) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw new AppError('validation_error', `Each of \`${list}\` must be an object`);
      const misspelled = findNearMisses(value);
      const isValid = validate(value) !== false || !Array.isArray(validate.errors);
      const [first, ...others] = isValid
        ? misspelled
        : [...misspelled, validationRefusal(validate.errors ?? [])];
      if (first) throw mergeRefusals(first, ...others);
      return value as Static<Item>;
    },
  };
}
