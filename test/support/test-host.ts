/**
 * A process that runs test files one after another, so that the modules of the program are loaded once for many of
 * them. Each file has a root suite and hooks of its own. The channel to the parent does not keep the process alive
 * while a file runs: Node finishes the suite when nothing is left to wait for, so a file that leaves something open
 * never finishes here, as it would never finish alone.
 */
import asyncHooks, { type AsyncHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { unbindThreadsFromFlag } from '../../src/system/thread/young-generation.ts';
import type { HostRequest, TestEvent } from './run-files.ts';
import { trustCertificate } from './trusted-certificate.ts';

/** Property tests try the same values in each run, so that a red test stays red. A date. */
const SEED = 20_260_301;
/** Number of values that a property is tried with, unless its test names another. */
const RUNS = 40;
/** The events that the parent prints or counts. */
const SENT = new Set(['test:start', 'test:pass', 'test:fail', 'test:diagnostic', 'test:summary']);
/** Maximum number of lines that are shown of an error, so that it fits on one screen. */
const MAX_ERROR_LINES = 40;

const { channel } = process;
if (!channel) throw new Error('test-host.ts runs as a child of run-files.ts');
/** Number of earlier runs of each file, by its URL. */
const runs = new Map<string, number>();
let file = '';
fc.configureGlobal({ seed: SEED, numRuns: RUNS });
unbindThreadsFromFlag();
await trustCertificate();

// A test file is evaluated again each time it is run. The modules that it imports are shared. The first run has the plain
// URL, because Node keeps compiled modules by their URL.
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const run = runs.get(file) ?? 0;
    return resolved.url === file && run > 0 ? { ...resolved, url: `${file}?run=${run}` } : resolved;
  },
});

// Node follows every promise with hooks, in order to name the test whose callback has thrown an error that nothing
// catches. A sample of files took 15 % less CPU time without these hooks. Such an error ends its file instead.
const noHook: AsyncHook = { enable: () => noHook, disable: () => noHook };
asyncHooks.createHook = () => noHook;
const { run } = await import('node:test');
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => process.send?.({ uncaught: shown(error) }));

process.on('beforeExit', () => channel.ref());
// A process whose parent has died would go on alone, and each error that it could not report would be one more error.
process.on('disconnect', () => process.exit());
process.on('message', (request: HostRequest) => {
  if (request === 'open') process.send?.({ open: process.getActiveResourcesInfo() });
  else void runFile(request);
});

async function runFile(request: { file: string; testMs: number }): Promise<void> {
  file = pathToFileURL(request.file).href;
  channel?.unref();
  const before = cpuMs();
  const options = { files: [request.file], isolation: 'none', timeout: request.testMs } as const;
  for await (const event of run(options) as AsyncIterable<TestEvent>) {
    if (!SENT.has(event.type)) continue;
    const isLast = event.type === 'test:summary';
    process.send?.({ event: sendable(event), ...(isLast && { cpuMs: cpuMs() - before }) });
  }
  runs.set(file, (runs.get(file) ?? 0) + 1);
}

/** Returns the CPU time of this process and, on Linux, of the processes that it has started and that have ended. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  const ofChildren = process.platform === 'linux' ? readFileSync('/proc/self/stat', 'latin1') : '';
  // The fields cutime and cstime of proc(5) follow the name, which may contain spaces. Their unit is 10 ms.
  const [cutime = 0, cstime = 0] = ofChildren.slice(ofChildren.lastIndexOf(')')).split(' ').slice(14, 16);
  return (user + system) / 1000 + (Number(cutime) + Number(cstime)) * 10;
}

function sendable(event: TestEvent): TestEvent {
  const { details } = event.data;
  if (details?.error === undefined) return event;
  const { failureType, cause } = details.error as Error & { failureType?: string };
  const error = { text: shown(cause ?? details.error), failureType };
  return { type: event.type, data: { ...event.data, details: { ...details, error } } };
}

/** Returns the text of an error without the frames of Node itself. */
function shown(error: unknown): string {
  const isAssertion = error instanceof Error && error.name === 'AssertionError' && error.stack !== undefined;
  const text = isAssertion ? (error.stack ?? '') : typeof error === 'string' ? error : inspect(error);
  const lines = text.split('\n').filter((line) => !/^\s+at .*\bnode:internal\//.test(line));
  if (lines.length <= MAX_ERROR_LINES) return lines.join('\n');
  const half = MAX_ERROR_LINES / 2;
  const left = `… ${lines.length - MAX_ERROR_LINES} lines are left out …`;
  return [...lines.slice(0, half), left, ...lines.slice(-half)].join('\n');
}
