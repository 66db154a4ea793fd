/**
 * Runs programs of the examples in this process, because starting a process for each of a hundred calls takes half a
 * minute of CPU time. In the shell, a script with the name of the program hands its arguments over and prints the answer.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export type Call = {
  program: string;
  arguments: string[];
  /** Working directory of the shell. */
  directory: string;
  /** Standard input, if an argument is `@-` or `--password-stdin`; otherwise ''. */
  input: string;
};

export type Answer = { output: string; errors: string; code: number };

/** Descriptor in the shell of the pipe that announces calls. */
export const CALLS = 3;

/** The script reads its answer from a named pipe, whose end it waits for. */
const script = (folder: string) => `#!/bin/sh
call='${folder}'/$$
for argument; do
  if [ "$argument" = @- ] || [ "$argument" = --password-stdin ]; then cat >"$call.input"; fi
done
printf '%s\\0' "$0" "$PWD" "$@" >"$call.arguments"
mkfifo "$call.output"
echo "$call" >&${CALLS}
cat "$call.output"
cat "$call.errors" >&2
read -r code <"$call.code"
exit "$code"
`;

/** Writes the scripts, whose paths start in the directory. */
export function writeStandIns(directory: string, programs: readonly string[]): void {
  const folder = join(directory, 'calls');
  mkdirSync(folder);
  for (const program of programs) {
    writeFileSync(join(directory, program), script(folder));
    chmodSync(join(directory, program), 0o755);
  }
}

/** Answers the calls that the shell announces in `announced`, until it ends. A failure is the output of the call. */
export async function answerCalls(
  announced: Readable,
  answer: (call: Call) => Promise<Answer>,
): Promise<void> {
  for await (const path of createInterface({ input: announced })) {
    const { output, errors, code } = await answer(callAt(path)).catch((error: unknown) => ({
      ...{ output: '', errors: `error: ${error}\n`, code: 1 },
    }));
    writeFileSync(`${path}.errors`, errors);
    writeFileSync(`${path}.code`, `${code}\n`);
    await writeFile(`${path}.output`, output);
  }
}

function callAt(path: string): Call {
  const [program = '', directory = '', ...rest] = readFileSync(`${path}.arguments`, 'utf8').split('\0');
  const takesInput = rest.includes('@-') || rest.includes('--password-stdin');
  const input = takesInput ? readFileSync(`${path}.input`, 'utf8') : '';
  return { program, directory, arguments: rest.slice(0, -1), input };
}
