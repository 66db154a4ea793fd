/** Runs programs that need a terminal, and presses their keys. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from './until.ts';

export type Terminal = {
  /** Presses keys, then waits until the program writes this text. What was written before does not count. */
  press(keys: string, text: string | RegExp): Promise<void>;
  /** Presses keys, and waits for the end of the program. Returns everything that it has written. */
  quit(keys: string): Promise<string>;
};

const TIMEOUT_MS = 120_000;
const SIZE = 'stty cols 120 rows 40';

/** Starts a command line of sh(1), and waits until the program writes this text. */
export async function startInTerminal(
  command: string,
  { env, text }: { env: Record<string, string>; text: string | RegExp },
): Promise<Terminal> {
  // script(1) gives the program a terminal.
  const program = spawn('script', ['-qec', `${SIZE}; exec ${command}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: TIMEOUT_MS,
  });
  const exited = once(program, 'exit');
  let [written, from] = ['', 0];
  program.stdout.setEncoding('utf8').on('data', (part: string) => (written += part));
  const shows = async (expected: string | RegExp) => {
    const isWritten = async () => {
      // Sequences that move the cursor and change the colour are left out, because they stand inside of words.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with the control character ESC
      const plain = written.slice(from).replace(/\x1b(\[[\d;?]*[a-zA-Z]|[()]\w|[=>])/g, '');
      return typeof expected === 'string' ? plain.includes(expected) : expected.test(plain);
    };
    await until(`${command} shows ${expected}`, isWritten).catch((error: unknown) => {
      program.kill();
      throw new Error(`it has written: ${written.slice(-2000)}`, { cause: error });
    });
  };
  await shows(text);
  return {
    async press(keys, expected) {
      from = written.length;
      program.stdin.write(keys);
      await shows(expected);
    },
    async quit(keys) {
      program.stdin.write(keys);
      await exited;
      return written;
    },
  };
}
