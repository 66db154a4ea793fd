/** A `Terminal` that records the output of a command. It is not interactive unless a test asks for that. */
import type { Terminal } from '../../src/cli/terminal.ts';

export type FakeTerminal = Terminal & {
  /** Text on standard output. */
  readonly output: string;
  /** Text on standard error. */
  readonly errors: string;
  /** Has the effect of Ctrl-C. */
  interrupt(): void;
  /** Has the effect of SIGHUP. */
  hangUp(): void;
};

/** Returns a terminal with these variables. `person.answer` is the answer to every question, and
 * `person.input` the text on standard input. */
export function fakeTerminal(
  env: Record<string, string> = {},
  person: { interactive?: boolean; answer?: string; input?: string } = {},
): FakeTerminal {
  let output = '';
  let errors = '';
  let stop = () => {};
  let reload = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  return {
    env,
    interactive: person.interactive ?? false,
    print: (text) => {
      output += `${text}\n`;
    },
    async write(bytes) {
      for await (const piece of bytes) output += Buffer.from(piece).toString('latin1');
    },
    complain: (text) => {
      errors += `${text}\n`;
    },
    ask: async () => person.answer ?? '',
    readPassword: async () => person.input ?? '',
    async *readLines() {
      yield* (person.input ?? '').split('\n');
    },
    untilStopped: () => stopped,
    onReload: (run) => {
      reload = run;
    },
    interrupt: () => stop(),
    hangUp: () => reload(),
    get output() {
      return output;
    },
    get errors() {
      return errors;
    },
  };
}
