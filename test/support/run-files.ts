/**
 * Runs test files, each in a process of its own, and tells of them as `node --test` does. Unlike that, it waits for no
 * process without end, and takes no file for passed that has not told of all its tests: one that exits before has failed.
 * One that is late with its tests is ended and has failed. One that has passed all its tests and
 * does not end is ended and run once more: Node itself can stand still while it ends (nodejs/node#54918), and what a test
 * left open would hold the second process too.
 */
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

export type RunOptions = {
  /** For the processes, before the file. */
  nodeArguments?: string[];
  filesAtATime: number;
  /** For one test; it fails by its name. */
  testMs: number;
  /** For one file, from the start of its process to its end. */
  fileMs: number;
};

type TestEvent = {
  type: string;
  data: {
    name?: string;
    file?: string;
    message?: string;
    nesting?: number;
    success?: boolean;
    counts?: Counts;
    details?: { duration_ms: number; error: Error };
  };
};
type Counts = Record<'tests' | 'suites' | 'passed' | 'failed' | 'cancelled' | 'skipped' | 'todo', number>;
type Outcome = {
  events: TestEvent[];
  counts: Counts;
  /** The file has told of all its tests, and none has failed. */
  hasPassed: boolean;
  isLate: boolean;
};

const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

/** Prints to standard output, in the order of the files. True when all is as it should be. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<boolean> {
  const startedAt = performance.now();
  const reporter = spec();
  reporter.pipe(process.stdout);
  const total = { ...NONE };
  for (const ending of inTurn(files, options.filesAtATime, (file) => outcomeOf(file, options))) {
    const { events, counts } = await ending;
    for (const event of events) reporter.write(event);
    for (const name of Object.keys(NONE) as (keyof Counts)[]) total[name] += counts[name];
  }
  for (const line of summary(total, performance.now() - startedAt)) reporter.write(note(line));
  await new Promise<void>((ended) => reporter.once('end', ended).end());
  return total.failed === 0 && total.cancelled === 0;
}

/** Promises of all, in their order, with so many under way at a time. */
function inTurn<T>(
  files: readonly string[],
  atATime: number,
  work: (file: string) => Promise<T>,
): Promise<T>[] {
  const all = files.map((file) => ({ file, ...Promise.withResolvers<T>() }));
  const left = [...all];
  async function workOn(): Promise<void> {
    for (let next = left.shift(); next; next = left.shift()) {
      await work(next.file).then(next.resolve, next.reject);
    }
  }
  for (let place = 0; place < atATime; place++) void workOn();
  return all.map(({ promise }) => promise);
}

async function outcomeOf(file: string, options: RunOptions): Promise<Outcome> {
  const first = await runFile(file, options);
  if (!first.isLate || !first.hasPassed) return first;
  const second = await runFile(file, options);
  second.events.push(note(`${file} passed all its tests and did not end: run again`));
  return second;
}

async function runFile(file: string, { testMs, fileMs, nodeArguments = [] }: RunOptions): Promise<Outcome> {
  const limit = AbortSignal.timeout(fileMs);
  const options = { files: [file], execArgv: nodeArguments, timeout: testMs, signal: limit };
  const outcome: Outcome = { events: [], counts: NONE, hasPassed: false, isLate: false };
  let hasTold = false;
  for await (const event of run(options) as AsyncIterable<TestEvent>) {
    const { type, data } = event;
    if (type === 'test:summary' && data.file !== undefined) {
      hasTold = true;
      outcome.hasPassed = data.success === true;
    } else if (type === 'test:summary') outcome.counts = data.counts ?? NONE;
    // A diagnostic without a file speaks of the run, of which this is a part.
    else if (type !== 'test:diagnostic' || data.file !== undefined) outcome.events.push(event);
  }
  outcome.isLate = limit.aborted;
  const { failed, cancelled } = outcome.counts;
  if (hasTold || failed > 0 || cancelled > 0) return outcome;
  return { ...outcome, ...untold(file, outcome.events) };
}

/** For Node the file would be one test, and that one has passed. */
function untold(file: string, events: TestEvent[]): Pick<Outcome, 'events' | 'counts'> {
  const error = new Error('The process ended by itself before all tests had, or there is none');
  error.stack = error.message;
  const data = { name: file, nesting: 0, details: { duration_ms: 0, error } };
  const others = events.filter((event) => event.type !== 'test:pass' || event.data.name !== file);
  return {
    events: [...others, { type: 'test:fail', data }],
    counts: { ...NONE, tests: 1, failed: 1 },
  };
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
