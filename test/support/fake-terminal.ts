/** A `Terminal` that keeps what a command wrote. Nobody sits at it, unless a test says so. */
import type { Terminal } from '../../src/cli/terminal.ts';

export type FakeTerminal = Terminal & {
  /** Everything on standard output, and on standard error. */
  readonly output: string;
  readonly errors: string;
  /** What Ctrl-C does. */
  interrupt(): void;
};

export function fakeTerminal(
  env: Record<string, string> = {},
  person: { interactive?: boolean; answer?: string } = {},
): FakeTerminal {
  let output = '';
  let errors = '';
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  return {
    env,
    interactive: person.interactive ?? false,
    print: (text) => {
      output += `${text}\n`;
    },
    complain: (text) => {
      errors += `${text}\n`;
    },
    ask: async () => person.answer ?? '',
    untilStopped: () => stopped,
    interrupt: () => stop(),
    get output() {
      return output;
    },
    get errors() {
      return errors;
    },
  };
}
