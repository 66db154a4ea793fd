/**
 * Runs test files in a few processes (test-host.ts), each of which takes one file after another, and reports them as
 * `node --test` does. A file that ends its process, has no test, does not catch an error, or leaves something open has
 * failed, and the files after it run in a new process.
 */
import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

export type RunOptions = {
  /** Arguments of Node for the processes. */
  nodeArguments?: string[];
  filesAtATime: number;
  /** Time limit of one test; a test that exceeds it fails by its name. */
  testMs: number;
  /** Time limit of one file, including the time for loading it and for closing what it has opened. */
  fileMs: number;
};

export type TestEvent = {
  type: string;
  data: {
    name?: string;
    message?: string;
    nesting?: number;
    success?: boolean;
    counts?: Counts;
    details?: { duration_ms: number; error?: unknown };
  };
};
/** A request to run a file, or to list the resources that keep the process alive. */
export type HostRequest = { file: string; testMs: number } | 'open';
/** `cpuMs` comes with the last event: the CPU time of the file, with the processes that it has started and that have ended. */
type HostMessage = { event: TestEvent; cpuMs?: number } | { open: string[] } | { uncaught: string };

type Counts = Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>;
export type Outcome = { file: string; events: TestEvent[]; counts: Counts; cpuMs: number };

const HOST = fileURLToPath(new URL('test-host.ts', import.meta.url));
const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };
const HEAVIEST = 30;
/** Maximum time in which a process lists its open resources, and in which it ends. */
const ANSWER_MS = 5_000;
/** Matches the counts, which Node also reports as diagnostics. */
const COUNT = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/;

/** Runs the files and prints their results to standard output, in the order of the files. Resolves with the results. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Outcome[]> {
  const startedAt = performance.now();
  const reporter = spec();
  reporter.pipe(process.stdout);
  const total = { ...NONE };
  const outcomes: Outcome[] = [];
  for (const ending of runAll(files, options)) {
    const outcome = await ending;
    outcomes.push(outcome);
    for (const event of outcome.events) reporter.write(event);
    for (const name of Object.keys(NONE) as (keyof Counts)[]) total[name] += outcome.counts[name];
  }
  for (const line of summary(total, performance.now() - startedAt)) reporter.write(note(line));
  await new Promise<void>((ended) => reporter.once('end', ended).end());
  return outcomes;
}

/** Returns true when no test has failed or was cancelled. */
export function havePassed(outcomes: readonly Outcome[]): boolean {
  return outcomes.every(({ counts }) => counts.failed === 0 && counts.cancelled === 0);
}

/** Returns a line for each of the files that took most CPU time. */
export function heaviest(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .toSorted((one, other) => other.cpuMs - one.cpuMs)
    .slice(0, HEAVIEST)
    .map(({ file, cpuMs }) => `${(cpuMs / 1000).toFixed(1).padStart(6)} s  ${file}`);
}

/** Returns a promise for each file, in their order. */
function runAll(files: readonly string[], options: RunOptions): Promise<Outcome>[] {
  const all = files.map((file) => ({ file, ...Promise.withResolvers<Outcome>() }));
  const left = [...all];
  async function work(): Promise<void> {
    let host: ChildProcess | undefined;
    for (let next = left.shift(); next; next = left.shift()) {
      if (!isAlive(host)) host = fork(HOST, [], { ...FORK, execArgv: options.nodeArguments ?? [] });
      await runFile(host, next.file, options).then(next.resolve, next.reject);
    }
    if (isAlive(host)) await end(host);
  }
  for (let place = 0; place < options.filesAtATime; place++) void work();
  return all.map(({ promise }) => promise);
}

const FORK: ForkOptions = { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] };

/** Returns false as soon as the process has ended. Its channel may look connected for a while longer. */
function isAlive(host: ChildProcess | undefined): host is ChildProcess {
  return host?.connected === true && host.exitCode === null && host.signalCode === null;
}

/**
 * Ends a process. It is killed when it does not end by itself, which can happen after all files have ended
 * (nodejs/node#54918).
 */
async function end(host: ChildProcess): Promise<void> {
  const late = setTimeout(() => host.kill('SIGKILL'), ANSWER_MS);
  const ended = once(host, 'exit');
  host.disconnect();
  await ended;
  clearTimeout(late);
}

async function runFile(host: ChildProcess, file: string, options: RunOptions): Promise<Outcome> {
  const events: TestEvent[] = [];
  let cpuMs = 0;
  const { promise, resolve } = Promise.withResolvers<TestEvent | string>();
  const onMessage = (message: HostMessage) => {
    if ('open' in message)
      return resolve(`The file has not ended in time. Its process has open: ${message.open}`);
    if ('uncaught' in message) return resolve(`An error was not caught: ${message.uncaught}`);
    cpuMs = message.cpuMs ?? 0;
    if (message.event.type === 'test:summary') resolve(message.event);
    else events.push(message.event);
  };
  const onExit = (code: number | null, signal: string | null) =>
    resolve(`The process ended by itself (${signal ?? code}) before all tests had`);
  const late = setTimeout(() => {
    host.send('open' satisfies HostRequest, () => {});
    deaf = setTimeout(() => resolve('The process does not answer'), ANSWER_MS);
  }, options.fileMs);
  let deaf: NodeJS.Timeout | undefined;
  host.on('message', onMessage).on('exit', onExit);
  // A process that has ended meanwhile is reported by its exit.
  host.send({ file, testMs: options.testMs } satisfies HostRequest, () => {});
  const last = await promise;
  clearTimeout(late);
  clearTimeout(deaf);
  host.off('message', onMessage).off('exit', onExit);
  if (typeof last !== 'string') return { ...outcomeOf(file, events, last), cpuMs };
  if (host.exitCode === null && host.signalCode === null) {
    const ended = once(host, 'exit');
    host.kill('SIGKILL');
    await ended;
  }
  return { ...failed({ file, events: withoutCounts(events), counts: NONE }, last), cpuMs };
}

type Finished = Omit<Outcome, 'cpuMs'>;

/** Returns the outcome of a file. A file without tests fails, although Node reports it as one passed test. */
function outcomeOf(file: string, told: readonly TestEvent[], { data }: TestEvent): Finished {
  const counts = data.counts ?? NONE;
  const events = withoutCounts(told);
  const outcome = { file, events, counts };
  if (told.some(({ type, data }) => type === 'test:pass' && data.name === file)) {
    return failed({ file, events: [], counts: NONE }, 'There is no test in the file');
  }
  if (counts.tests === 0) return failed(outcome, 'There is no test in the file, or it did not load');
  const isRed = counts.failed > 0 || counts.cancelled > 0;
  return data.success || isRed ? outcome : failed(outcome, 'Something failed outside of the tests');
}

function failed({ file, events, counts }: Finished, reason: string): Finished {
  const data = { name: file, nesting: 0, details: { duration_ms: 0, error: errorOf({ text: reason }) } };
  const more = { tests: counts.tests + 1, failed: counts.failed + 1 };
  return { file, events: [...events, { type: 'test:fail', data }], counts: { ...counts, ...more } };
}

/** Returns the events without the counts of the file, which may have come before it failed. */
function withoutCounts(events: readonly TestEvent[]): TestEvent[] {
  return events.filter(({ data }) => !COUNT.test(data.message ?? '')).map(readable);
}

/** Restores the error of a failure, because errors do not cross between processes completely. */
function readable(event: TestEvent): TestEvent {
  const { details } = event.data;
  if (details?.error === undefined) return event;
  const error = errorOf(details.error as { text: string });
  return { type: event.type, data: { ...event.data, details: { ...details, error } } };
}

function errorOf({ text, failureType }: { text: string; failureType?: string }): Error {
  return Object.defineProperty(Object.assign(new Error(text), { stack: text }), 'failureType', {
    value: failureType,
  });
}

function note(message: string): TestEvent {
  return { type: 'test:diagnostic', data: { nesting: 0, message } };
}

function summary(counts: Counts, durationMs: number): string[] {
  const { tests, suites, passed, failed, cancelled, skipped, todo } = counts;
  const figures = { tests, suites, pass: passed, fail: failed, cancelled, skipped, todo };
  const lines = Object.entries(figures).map(([name, count]) => `${name} ${count}`);
  return [...lines, `duration_ms ${durationMs.toFixed(0)}`];
}
