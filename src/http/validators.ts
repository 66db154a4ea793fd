/**
 * Compiles the schemas of requests at their first use. Compiling the schemas of all routes at once takes half of the
 * time of a start.
 */
import { Ajv, type AnySchema, type ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';

type Errors = NonNullable<ValidateFunction['errors']>;

/** Maximum number of values of a request that is searched for every wrong field; a larger one is refused for the first. */
const MAX_SEARCHED_VALUES = 2_000;
/** Maximum length of a key in such a request: each error copies the keys that lead to it. */
const MAX_SEARCHED_KEY_CHARACTERS = 1_000;

/** Installs the validators. Bodies are not coerced; query strings and paths are text, so their values are. */
export function checkSchemas(server: FastifyInstance): void {
  const body = {
    first: createAjv({ coerceTypes: false }),
    all: createAjv({ coerceTypes: false, allErrors: true }),
  };
  const text = {
    first: createAjv({ coerceTypes: true }),
    all: createAjv({ coerceTypes: true, allErrors: true }),
  };
  server.setValidatorCompiler<AnySchema>(({ schema, httpPart }) =>
    compileLater(httpPart === 'body' ? body : text, schema),
  );
}

function createAjv(options: { coerceTypes: boolean; allErrors?: boolean }): Ajv {
  return new Ajv({ strict: false, removeAdditional: false, useDefaults: true, verbose: true, ...options });
}

/**
 * Returns a validator that stops at the first error, which is cheap. A refused value is then checked once more for
 * every wrong field (decisions.md 37), unless it is so large that this would delay other requests.
 */
function compileLater(ajv: { first: Ajv; all: Ajv }, schema: AnySchema) {
  let first: ValidateFunction | undefined;
  let all: ValidateFunction | undefined;
  const check = (value: unknown): boolean => {
    first ??= ajv.first.compile(schema);
    check.errors = null;
    if (first(value)) return true;
    check.errors = first.errors ?? null;
    if (isSearchable(value)) {
      all ??= ajv.all.compile(schema);
      all(value);
      check.errors = all.errors ?? check.errors;
    }
    return false;
  };
  check.errors = null as Errors | null;
  return check;
}

/**
 * Returns true when the value is small enough to be checked for every wrong field. It visits at most
 * MAX_SEARCHED_VALUES values.
 */
function isSearchable(value: unknown): boolean {
  const open: unknown[] = [value];
  for (let seen = 1; open.length > 0; seen++) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, child] of Object.entries(next)) {
      if (key.length > MAX_SEARCHED_KEY_CHARACTERS || seen + open.length >= MAX_SEARCHED_VALUES) return false;
      open.push(child);
    }
  }
  return true;
}
