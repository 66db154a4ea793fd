/** One shell for all examples, as a reader has: what one of them sets, the next one finds. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type Answer, answerCalls, CALLS, type Call } from './stand-ins.ts';

export type Shell = {
  /** What it printed on both outputs, and the exit code of its last command. */
  run(text: string): Promise<{ output: string; code: number }>;
  close(): Promise<void>;
};

type Options = {
  env: Record<string, string>;
  /** Answers the calls of programs that writeStandIns has written. */
  answer: (call: Call) => Promise<Answer>;
};

export function openShell(directory: string, { env, answer }: Options): Shell {
  const child = spawn('/bin/sh', [], { cwd: directory, env, stdio: ['pipe', 'pipe', 'inherit', 'pipe'] });
  const { stdin, stdout } = child;
  const calls = child.stdio[CALLS];
  if (!stdin || !stdout || !(calls instanceof Readable)) throw new Error('the shell has no pipes');
  void answerCalls(calls, answer);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let count = 0;
  return {
    async run(text) {
      const file = join(directory, `example-${++count}`);
      writeFileSync(`${file}.sh`, text);
      stdin.write(`. '${file}.sh' >'${file}.out' 2>&1 </dev/null\necho "$?"\n`);
      const { value } = await lines.next();
      return { output: readFileSync(`${file}.out`, 'utf8'), code: Number(value) };
    },
    async close() {
      stdin.end();
      await ended;
    },
  };
}
