/** Checks a script and compiles it. A script that checks never fails in a run for a reason that its text shows. */
import { Compiler, EnoughErrors } from './compile/compiler.ts';
import { Registry } from './compile/registry.ts';
import { EXTENSIONS } from './extensions/table.ts';
import type { CheckedScript } from './run/run.ts';
import { parseScript } from './syntax/parser.ts';
import { LineIndex, ScriptFault } from './syntax/script-error.ts';

/** Maximum size of a script. Scripts of a thousand rules have some 200 KB. */
const MAX_SCRIPT_OCTETS = 256 * 1024;

const registry = new Registry(EXTENSIONS);

/** Returns the script in the form in which it runs, or its errors: the first error of syntax, or the first 20 of others. */
export function checkScript(text: string): CheckedScript {
  if (Buffer.byteLength(text) > MAX_SCRIPT_OCTETS) {
    const message = `a script has at most ${MAX_SCRIPT_OCTETS} octets`;
    return { kind: 'invalid', errors: [{ line: 1, column: 1, message }] };
  }
  const compiler = new Compiler(new LineIndex(text), registry);
  const { errors, notes } = compiler;
  try {
    const run = compiler.compileBlock(parseScript(text));
    if (errors.length > 0) return { kind: 'invalid', errors };
    const { includes, needsBody, regexSize } = notes;
    return { kind: 'valid', script: { run, includes, needsBody, regexSize } };
  } catch (error) {
    if (error instanceof ScriptFault) compiler.report(error);
    else if (!(error instanceof EnoughErrors)) throw error;
    return { kind: 'invalid', errors };
  }
}
