/** The measuring programs of the client libraries, which stand beside their tests: `PROGRAM TASK [ARGUMENT…]` prints one line of JSON. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Program, startProgram } from '../program.ts';
import type { Workspace } from '../workspace.ts';

export type Language = {
  name: 'Node.js' | 'Python' | 'Go' | 'PHP';
  /** Maximum of the time that the library adds to a request, in microseconds. Source: issue 30. */
  maxOverheadUs: number;
  /** Number of calls that one program makes at once. PHP has no threads. */
  callers: number;
  command: readonly string[];
};

export type Task = 'sends' | 'parallel' | 'faults' | 'attachment' | 'import';

const SDK = fileURLToPath(new URL('../../../sdk/', import.meta.url));
const GO = { GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOPROXY: 'off' };
const CALLERS = 100;

/** Compiles what has to be compiled. */
export function prepareLanguages(workspace: Workspace): Language[] {
  execFileSync(process.execPath, ['build.mjs'], { cwd: `${SDK}node` });
  const go = join(workspace.newFolder('sdk-go'), 'measure');
  execFileSync('go', ['build', '-o', go, './internal/bench'], {
    cwd: `${SDK}go`,
    env: { ...process.env, ...GO },
  });
  const node = [process.execPath, `${SDK}node/test/measure.mjs`];
  const python = ['/usr/bin/python3', `${SDK}python/tests/measure.py`];
  const php = ['/usr/bin/php8.2', '-d', 'memory_limit=-1', `${SDK}php/tests/measure.php`];
  return [
    { name: 'Node.js', maxOverheadUs: 300, callers: CALLERS, command: node },
    { name: 'Python', maxOverheadUs: 1_000, callers: CALLERS, command: python },
    { name: 'Go', maxOverheadUs: 300, callers: CALLERS, command: [go] },
    { name: 'PHP', maxOverheadUs: 1_000, callers: 1, command: php },
  ];
}

/** The daemon that a program asks, and its key. */
export type Target = { address: string; key: string };

/** Starts a task. Its standard input stays open, for which a program waits that is to stay until its connections were counted. */
export function startTask(
  { command: [program = '', ...args] }: Language,
  { address, key }: Target,
  task: readonly [Task, ...(string | number)[]],
): Program {
  // Python keeps what it has compiled, as an installed library does.
  const { PYTHONDONTWRITEBYTECODE: _, ...env } = process.env;
  return startProgram(program, [...args, ...task.map(String)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...env, SERVICE_BASE_URL: address, SERVICE_API_KEY: key },
  });
}

/** Runs a task to its end, and returns the numbers that it has printed. */
export async function runTask(
  language: Language,
  target: Target,
  task: readonly [Task, ...(string | number)[]],
): Promise<Record<string, number>> {
  await using program = startTask(language, target, task);
  const line = await program.line();
  await program.ended;
  return JSON.parse(line) as Record<string, number>;
}
