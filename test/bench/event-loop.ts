/** How late the daemon's event loop is while something runs, by its own watch: the gauges of its `/metrics`. */
import type { DaemonProcess } from '../support/daemon.ts';
import { median } from './percentile.ts';
import type { Measure } from './row.ts';

const GAUGES = {
  p99: 'postrider_event_loop_delay_p99_seconds',
  max: 'postrider_event_loop_delay_max_seconds',
} as const;
/** The daemon's own window: each answer tells of another second. */
const PERIOD_MS = 1_000;

type Sample = { p99Ms: number; maxMs: number };

/** The measure of `run`, with the loop's delay where the daemon tells. An error tells what the daemon wrote last. */
export async function withLoopDelay(
  daemon: Pick<DaemonProcess, 'request' | 'output'>,
  run: () => Promise<Measure>,
): Promise<Measure> {
  // The first answer takes the maximum of what was before.
  await readSample(daemon);
  const samples: Promise<Sample | undefined>[] = [];
  const timer = setInterval(() => samples.push(readSample(daemon)), PERIOD_MS);
  try {
    const measure = await run();
    const found = (await Promise.all(samples)).filter((sample) => sample !== undefined);
    if (found.length === 0) return measure;
    const p99Ms = median(found.map((sample) => sample.p99Ms));
    return { ...measure, loop: { p99Ms, maxMs: Math.max(...found.map((sample) => sample.maxMs)) } };
  } catch (error) {
    throw explain(daemon, error);
  } finally {
    clearInterval(timer);
  }
}

/** Undefined when it shows no metrics, or no such gauge. */
async function readSample(daemon: Pick<DaemonProcess, 'request'>): Promise<Sample | undefined> {
  const { status, body } = await daemon.request('GET', '/metrics', undefined);
  if (status !== 200) return undefined;
  const p99Seconds = readGauge(String(body), GAUGES.p99);
  const maxSeconds = readGauge(String(body), GAUGES.max);
  if (p99Seconds === undefined || maxSeconds === undefined) return undefined;
  return { p99Ms: p99Seconds * 1_000, maxMs: maxSeconds * 1_000 };
}

/** A line of Prometheus' text format: `name value`. */
function readGauge(text: string, name: string): number | undefined {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}

/** Returns the error with what the daemon wrote last. */
export function explain(daemon: Pick<DaemonProcess, 'output'>, error: unknown): Error {
  return new Error(`${error}; ${daemon.output().trim().split('\n').at(-1)}`, { cause: error });
}
