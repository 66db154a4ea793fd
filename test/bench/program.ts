/** Processes of a benchmark: started by it, ended by it at the latest when it ends itself. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export type Program = AsyncDisposable & {
  pid: number;
  /** Resolves with the next line of standard output; rejects when the process ends without one. */
  line(): Promise<string>;
  /** SIGTERM, then SIGKILL; resolves when the process is gone. */
  stop(): Promise<void>;
  /** Resolves at a clean end, rejects with what it wrote to standard error at any other. */
  ended: Promise<void>;
};

const STOP_TIMEOUT_MS = 10_000;
const OUTPUT_KEPT = 4_096;
const TYPESCRIPT = new URL('../../bin/typescript.ts', import.meta.url).href;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** Runs a module of this folder in a Node process of its own; `input` reaches it as JSON in its first argument. */
export function startModule(name: string, input: unknown, env: Record<string, string> = {}): Program {
  const file = fileURLToPath(new URL(name, import.meta.url));
  return startProgram(process.execPath, ['--import', TYPESCRIPT, file, JSON.stringify(input)], {
    env: { ...process.env, ...env },
  });
}

/** Runs such a module to its end, and returns its answer: one line of JSON. */
export async function runModule<Answer>(name: string, input: unknown): Promise<Answer> {
  const program = startModule(name, input);
  const answer = JSON.parse(await program.line()) as Answer;
  await program.ended;
  return answer;
}

export function startProgram(
  program: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'env' | 'stdio'> = {},
): Program {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  running.add(child);
  let errors = '';
  child.stderr?.on('data', (part: Buffer) => {
    errors = (errors + part.toString()).slice(-OUTPUT_KEPT);
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0 || signal === 'SIGTERM') resolve();
      else reject(new Error(`${program} ended with ${code ?? signal}: ${errors.trim()}`));
    });
  }).finally(() => running.delete(child));
  // Whoever waits for it hears of it; a program that is only stopped has nobody waiting.
  ended.catch(() => {});
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended.catch(() => {});
    clearTimeout(timer);
  };
  return { pid: child.pid ?? 0, line: lineReader(child, ended), stop, ended, [Symbol.asyncDispose]: stop };
}

function lineReader(child: ChildProcess, ended: Promise<void>): () => Promise<string> {
  let text = '';
  child.stdout?.on('data', (part: Buffer) => {
    text += part.toString();
  });
  const take = (): string | undefined => {
    const end = text.indexOf('\n');
    if (end < 0) return undefined;
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    return line;
  };
  return async () => {
    for (;;) {
      const line = take();
      if (line !== undefined) return line;
      const more = child.stdout ? once(child.stdout, 'data') : ended;
      await Promise.race([more, ended]);
      const last = take();
      if (last !== undefined) return last;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('ended without a line');
    }
  };
}

/** Asks until the answer is yes. Throws after `timeoutMs`. */
export async function until(
  what: string,
  timeoutMs: number,
  ask: () => boolean | Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await ask())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await delay(POLL_MS);
  }
}

const POLL_MS = 5;
