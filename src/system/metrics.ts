/**
 * Metrics in the text format of Prometheus: one registry for the process, and the delay of the event loop. Names
 * begin with `postrider_` and end with their base unit. Labels have few, bounded values, never an address or a
 * domain.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, Timer } from './clock.ts';

export type Metrics = {
  /** Number of HTTP requests that were answered. `route` is the pattern, such as `/v1/emails/:id`, or `none`. */
  readonly httpRequests: Counter<'method' | 'route' | 'status'>;
  /** Time from the head of a request to its response, in seconds. */
  readonly httpDuration: Histogram<'method' | 'route'>;
  /** Number of requests that were refused because of overload. `reason` names the overloaded resource. */
  readonly shedRequests: Counter<'reason'>;
  counter<Label extends string = never>(
    name: string,
    help: string,
    labels?: readonly Label[],
  ): Counter<Label>;
  histogram<Label extends string = never>(
    name: string,
    help: string,
    options: { buckets: readonly number[]; labels?: readonly Label[] },
  ): Histogram<Label>;
  /**
   * Registers a value that is read whenever the metrics are. A later gauge of the same name replaces the earlier one.
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): void;
  /** Event-loop delay of the last whole second. All zeros while the loop is not watched. */
  readonly loopDelay: LoopDelay;
  /** Starts measuring the event loop. The returned `stop` ends it. */
  watchLoop(): { stop(): void };
  /** Returns all metrics as text, and its media type. */
  show(): Promise<{ contentType: string; text: string }>;
};

/** Delays in milliseconds beyond the time that a timer was set for. */
export type LoopDelay = {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

const PREFIX = 'postrider_';
/** Period with which the event loop is sampled, in milliseconds. */
const LOOP_RESOLUTION_MS = 10;
const LOOP_WINDOW_MS = 1_000;
const DURATION_BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const NO_DELAY: LoopDelay = { meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };

/** Returns the metrics of the process. */
export function createMetrics(clock: Clock): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const loop = createLoopWatch(clock);
  const metrics = {
    counter: <Label extends string = never>(name: string, help: string, labels: readonly Label[] = []) =>
      new Counter({ name: PREFIX + name, help, labelNames: labels, registers }),
    histogram: <Label extends string = never>(
      name: string,
      help: string,
      { buckets, labels = [] }: { buckets: readonly number[]; labels?: readonly Label[] },
    ) => new Histogram({ name: PREFIX + name, help, buckets: [...buckets], labelNames: labels, registers }),
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      registry.removeSingleMetric(PREFIX + name);
      const gauge: Gauge = new Gauge({
        name: PREFIX + name,
        help,
        registers,
        collect: async () => gauge.set(await read()),
      });
    },
  };
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  metrics.gauge(
    'event_loop_delay_p50_seconds',
    'Median delay of the event loop.',
    () => loop.recent.p50Ms / 1_000,
  );
  metrics.gauge('event_loop_delay_p99_seconds', 'Delay of the event loop.', () => loop.recent.p99Ms / 1_000);
  metrics.gauge(
    'event_loop_delay_max_seconds',
    'Longest delay since the last time it was asked for.',
    () => loop.takeMax() / 1_000,
  );
  return {
    ...metrics,
    httpRequests: metrics.counter('http_requests_total', 'HTTP requests answered.', [
      'method',
      'route',
      'status',
    ]),
    httpDuration: metrics.histogram('http_request_duration_seconds', 'Time to answer.', {
      buckets: DURATION_BUCKETS_SECONDS,
      labels: ['method', 'route'],
    }),
    shedRequests: metrics.counter('http_requests_shed_total', 'Requests refused under load.', ['reason']),
    get loopDelay() {
      return loop.recent;
    },
    watchLoop: loop.watch,
    show: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

function createLoopWatch(clock: Clock) {
  let recent = NO_DELAY;
  let maxMs = 0;
  return {
    get recent() {
      return recent;
    },
    takeMax() {
      const taken = maxMs;
      maxMs = recent.maxMs;
      return taken;
    },
    watch() {
      const histogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
      histogram.enable();
      let timer: Timer;
      const roll = (): void => {
        recent = readDelay(histogram);
        maxMs = Math.max(maxMs, recent.maxMs);
        histogram.reset();
        timer = clock.after(LOOP_WINDOW_MS, roll);
      };
      timer = clock.after(LOOP_WINDOW_MS, roll);
      return {
        stop() {
          timer.cancel();
          histogram.disable();
          recent = NO_DELAY;
        },
      };
    },
  };
}

type NanosecondHistogram = { count: number; mean: number; max: number; percentile(percent: number): number };

/**
 * Converts the histogram of Node. It holds the time between two samples, which equals the resolution when nothing is
 * late.
 */
function readDelay(histogram: NanosecondHistogram): LoopDelay {
  if (histogram.count === 0) return NO_DELAY;
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LOOP_RESOLUTION_MS);
  return {
    meanMs: late(histogram.mean),
    p50Ms: late(histogram.percentile(50)),
    p99Ms: late(histogram.percentile(99)),
    maxMs: late(histogram.max),
  };
}
