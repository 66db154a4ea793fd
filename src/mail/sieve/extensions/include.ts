/** The commands `include`, `return` and `global` (RFC 6609), and `error` with the test `ihave` (RFC 5463). */
import type { CommandDefinition, Extension } from '../definition.ts';
import type { Flow, Run, Script, ScriptName } from '../run/run.ts';
import { isIdentifier } from './variables.ts';

/** Maximum depth of included scripts. RFC 6609 section 3.1 asks for three with the first one. Our own limit. */
const MAX_DEPTH = 10;
/** Maximum length of the name of a script in characters. RFC 5804 section 1.6 asks for at least 128. */
const MAX_NAME_CHARACTERS = 512;
/** Matches control characters and separators, which names do not have (RFC 5804 section 1.6). */
const FORBIDDEN = /[\p{Cc}\u2028\u2029]/u;

type Include = ScriptName & { isOnce: boolean; isOptional: boolean };

const INCLUDE: CommandDefinition = {
  name: 'include',
  tags: [
    { name: ':personal', group: 'location' },
    { name: ':global', group: 'location' },
    { name: ':once' },
    { name: ':optional' },
  ],
  parameters: [{ name: 'script', type: 'constant' }],
  compile(call) {
    const name = call.constant('script');
    if (name === '' || name.length > MAX_NAME_CHARACTERS || FORBIDDEN.test(name))
      throw call.fault('this is not the name of a script', 'script');
    const location = call.has(':global') ? 'global' : 'personal';
    call.notes.includes.push({ location, name });
    const include = { location, name, isOnce: call.has(':once'), isOptional: call.has(':optional') } as const;
    return (run) => runIncluded(run, include);
  },
};

function runIncluded(run: Run, include: Include): Flow {
  const key = `${include.location}/${include.name}`;
  if (include.isOnce && (run.included.has(key) || run.including.includes(key))) return undefined;
  const script = findScript(run, include, key);
  if (!script) return undefined;
  const shown = JSON.stringify(include.name);
  if (run.including.includes(key)) run.fail(`the script ${shown} includes itself`);
  if (run.including.length >= MAX_DEPTH) run.fail(`scripts are included more than ${MAX_DEPTH} deep`);
  run.included.add(key);
  run.including.push(key);
  const flow = run.inScript(include.name, script);
  run.including.pop();
  return flow === 'stop' ? flow : undefined;
}

function findScript(run: Run, { name, isOptional }: Include, key: string): Script | undefined {
  const checked = run.input.scripts.get(key);
  const shown = JSON.stringify(name);
  if (checked?.kind === 'valid') return checked.script;
  if (!checked) return isOptional ? undefined : run.fail(`the script ${shown} does not exist`);
  const [error] = checked.errors;
  return run.fail(`the script ${shown} has an error on line ${error?.line}: ${error?.message}`);
}

const GLOBAL: CommandDefinition = {
  name: 'global',
  parameters: [{ name: 'names', type: 'constants' }],
  compile(call) {
    if (!call.uses('variables')) throw call.fault('`global` needs `require "variables"`');
    for (const name of call.constants('names')) {
      if (!isIdentifier(name)) throw call.fault(`\`${name}\` is not the name of a variable`, 'names');
      const key = name.toLowerCase();
      if (call.notes.variables.has(key) && !call.notes.globals.has(key))
        throw call.fault(`the variable \`${name}\` was set before it became global`, 'names');
      call.notes.globals.add(key);
    }
    return () => undefined;
  },
};

export const INCLUDE_SCRIPTS: Extension = {
  name: 'include',
  commands: [INCLUDE, { name: 'return', compile: () => () => 'return' }, GLOBAL],
};

/** The test `ihave` and the command `error` (RFC 5463). `compile/compiler.ts` puts errors off that the script may avoid. */
export const IHAVE: Extension = {
  name: 'ihave',
  commands: [
    {
      name: 'error',
      parameters: [{ name: 'message', type: 'text' }],
      compile(call) {
        const message = call.text('message');
        return (run) => run.fail(message.read(run));
      },
    },
  ],
  tests: [
    {
      name: 'ihave',
      parameters: [{ name: 'capabilities', type: 'constants' }],
      compile(call) {
        const capabilities = call.constants('capabilities');
        const hasAll = capabilities.every((capability) => call.isKnown(capability));
        // Later commands may use them, as if they were required (RFC 5463 section 4).
        if (hasAll) for (const capability of capabilities) call.enableByTest(capability);
        return () => hasAll;
      },
    },
  ],
};
