/**
 * Checks a body that is a list of items which another route accepts one by one. Each item is checked by itself, so
 * that an error names its item. The body's own schema describes the whole list for the document.
 */
import type { FastifyInstance } from 'fastify';
import type { Static, TArray, TObject } from 'typebox';
import { AppError } from '../../system/errors.ts';
import { nearMissesOf } from './near-misses.ts';
import { validationRefusal } from './problem.ts';
import { mergeRefusals } from './read-fields.ts';

type CheckedItems<Item extends TObject> = {
  /** Validator of the route. It checks a body except for the contents of its items. */
  validatorCompiler: NonNullable<FastifyInstance['validatorCompiler']>;
  /**
   * Returns the checked item.
   * @throws AppError validation_error, as the route for single items throws it
   */
  check: (item: unknown) => Static<Item>;
};

/** Returns the checks for a list. `list` names the field of `body` that contains the items. */
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
