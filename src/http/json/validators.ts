/**
 * Compiles the schemas of requests at their first use. Compiling the schemas of all routes at once takes half of the
 * time of a start.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifyInstance } from 'fastify';
import { compileOnce } from './compile-once.ts';

type Errors = NonNullable<ValidateFunction['errors']>;

/** Maximum number of values of a request that is searched for every wrong field; a larger one is refused for the first. */
const MAX_SEARCHED_VALUES = 2_000;
/** Maximum length of a key in such a request: each error copies the keys that lead to it. */
const MAX_SEARCHED_KEY_CHARACTERS = 1_000;

/** Validators of all servers of this process. Bodies are not coerced; query strings and paths are text, so they are. */
const BODY = createCompilers({ coerceTypes: false });
const TEXT = createCompilers({ coerceTypes: true });

/** Installs the validators. */
export function checkSchemas(server: FastifyInstance): void {
  server.setValidatorCompiler<object>(({ schema, httpPart }) =>
    createValidator(httpPart === 'body' ? BODY : TEXT, schema),
  );
}

type Compilers = Record<'first' | 'all', (schema: object) => () => ValidateFunction>;

function createCompilers(options: { coerceTypes: boolean }): Compilers {
  const first = createAjv(options);
  const all = createAjv({ ...options, allErrors: true });
  return {
    first: compileOnce((schema) => first.compile(schema)),
    all: compileOnce((schema) => all.compile(schema)),
  };
}

function createAjv(options: { coerceTypes: boolean; allErrors?: boolean }): Ajv {
  return new Ajv({ strict: false, removeAdditional: false, useDefaults: true, verbose: true, ...options });
}

/**
 * Returns a validator that stops at the first error, which is cheap. A refused value is then checked once more for
 * every wrong field, so that the caller can correct all of them at once. A value is not checked again when it is so large
 * that this would delay other requests.
 */
function createValidator(compilers: Compilers, schema: object) {
  const findFirst = compilers.first(schema);
  const findAll = compilers.all(schema);
  const check = (value: unknown): boolean => {
    const first = findFirst();
    check.errors = null;
    if (first(value)) return true;
    check.errors = first.errors ?? null;
    if (isSearchable(value)) {
      const all = findAll();
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
