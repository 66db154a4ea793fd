/** Names of variables, and where their values are (RFC 5229 section 3, RFC 6609 section 3.4). */
import type { ScriptContext } from '../compile/definition.ts';
import type { Run } from '../run/run.ts';

export type Variable = { read(run: Run): string; write(run: Run, value: string): void };

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const GLOBAL = 'global.';

/**
 * Maximum length of a value. RFC 5229 section 6 asks for 4,000 characters; a longer value is cut. Our own limit.
 */
const MAX_VALUE_CHARACTERS = 8_192;
/** Maximum number of variables of a script. RFC 5229 section 6 asks for 128. Our own limit. */
const MAX_VARIABLES = 256;

/** Returns true for a name without a namespace. */
export function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name);
}

/**
 * Returns the variable of a name in any case, which may be in the namespace `global`.
 * @throws RangeError when there can be no such variable
 */
export function variableOf(name: string, context: ScriptContext): Variable {
  const key = name.toLowerCase();
  const isInGlobal = key.startsWith(GLOBAL) && context.uses('include');
  const plain = isInGlobal ? key.slice(GLOBAL.length) : key;
  if (!isIdentifier(plain)) throw new RangeError(`\`${name}\` is not the name of a variable`);
  const isShared = isInGlobal || context.notes.globals.has(key);
  const valuesOf = (run: Run) => (isShared ? run.globals : run.variables);
  return {
    read: (run) => valuesOf(run).get(plain) ?? '',
    write(run, value) {
      const values = valuesOf(run);
      if (!values.has(plain) && values.size >= MAX_VARIABLES)
        run.fail(`a script has at most ${MAX_VARIABLES} variables`);
      values.set(plain, value.slice(0, MAX_VALUE_CHARACTERS).toWellFormed());
    },
  };
}

/**
 * Returns the variable that a command sets.
 * @throws RangeError when there can be no such variable, or the script has too many
 */
export function variableToSet(name: string, context: ScriptContext): Variable {
  const variable = variableOf(name, context);
  const { variables } = context.notes;
  variables.add(name.toLowerCase());
  if (variables.size > MAX_VARIABLES) throw new RangeError(`a script has at most ${MAX_VARIABLES} variables`);
  return variable;
}
