/** Runs a load and watches what it costs: the system's processor time and memory, and what else took the processors. */
import type { HttpLoad, HttpLoadResult } from './http-load.ts';
import { machineCpuMs, threadCpuMs, treeCpuMs, treeMemory } from './process-tree.ts';
import { runModule, until } from './program.ts';
import type { Measure } from './row.ts';
import type { Sink } from './sink.ts';

export type LoadResult = Omit<HttpLoadResult, 'refusal' | 'refused'>;

/** Nothing here takes longer unless it has stopped. */
const DELIVERY_TIMEOUT_MS = 60_000;

/** Rejects when any answer was not 200. */
export async function runHttpLoad(load: HttpLoad): Promise<LoadResult> {
  const result = await runModule<HttpLoadResult>('http-load.ts', load);
  if (result.refusal !== undefined) throw new Error(`the load was refused: ${result.refusal}`);
  return result;
}

/** From the first request to the last answer. */
export function observeAccepting(roots: readonly number[], load: HttpLoad): Promise<Measure> {
  return observe(roots, load.requests, () => runHttpLoad(load));
}

/** From the first message handed in to the last one counted by the sink. */
export function observeSending(
  roots: readonly number[],
  messages: number,
  sink: Sink,
  load: () => Promise<LoadResult>,
): Promise<Measure> {
  const before = sink.messages();
  return observe(roots, messages, async () => {
    const sinkCpuBefore = treeCpuMs([sink.pid]);
    const running = load();
    const delivered = until(
      'all messages are delivered',
      DELIVERY_TIMEOUT_MS,
      () => sink.messages() - before >= messages,
    );
    const deliveredAtMs = delivered.then(() => Date.now());
    const [result, endedAtMs] = await Promise.all([running, deliveredAtMs]);
    return { ...result, endedAtMs, cpuMs: result.cpuMs + treeCpuMs([sink.pid]) - sinkCpuBefore };
  });
}

/** A thread that takes less is left out of the table. */
const MIN_SHOWN_US = 5;
const US_PER_MS = 1_000;

/** Adds to the measure what each thread of the process has cost, in µs a message. Threads of one name count together. */
export async function withThreads(
  pid: number,
  messages: number,
  run: () => Promise<Measure>,
): Promise<Measure> {
  const before = threadCpuMs(pid);
  const measure = await run();
  const costs = [...threadCpuMs(pid)].map(
    ([name, cpuMs]) => [name, ((cpuMs - (before.get(name) ?? 0)) * US_PER_MS) / messages] as const,
  );
  const shown = costs.filter(([, us]) => us >= MIN_SHOWN_US).sort(([, one], [, other]) => other - one);
  const threads = Object.fromEntries(shown.map(([name, us]) => [`CPU of thread ${name}, µs/msg`, us]));
  return { ...measure, details: { ...measure.details, ...threads } };
}

export async function observe(
  roots: readonly number[],
  messages: number,
  run: () => Promise<LoadResult>,
): Promise<Measure> {
  const before = { system: treeCpuMs(roots), machine: machineCpuMs(), own: process.cpuUsage() };
  const observedFrom = performance.now();
  const { startedAtMs, endedAtMs, p50Ms, p99Ms, cpuMs } = await run();
  const observedMs = performance.now() - observedFrom;
  const systemMs = treeCpuMs(roots) - before.system;
  const machineMs = machineCpuMs() - before.machine;
  const own = process.cpuUsage(before.own);
  const loadMs = cpuMs + (own.user + own.system) / 1000;
  return {
    figure: (messages * 1000) / (endedAtMs - startedAtMs),
    ...(Number.isNaN(p50Ms) ? {} : { p50Ms, p99Ms }),
    cpuMsPerMessage: systemMs / messages,
    memory: treeMemory(roots),
    cores: {
      system: systemMs / observedMs,
      load: loadMs / observedMs,
      others: Math.max(machineMs - systemMs - loadMs, 0) / observedMs,
    },
  };
}
