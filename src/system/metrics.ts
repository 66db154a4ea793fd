/**
 * Metrics in the text format of Prometheus: one registry for each thread, and the delay of its event loop. The main
 * thread shows the sums of all threads. Names begin with `postrider_` and end with their base unit. Labels have few,
 * bounded values, never an address or a domain of mail.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock, Timer } from './clock.ts';

export type Metrics = {
  /** Number of HTTP requests that were answered. `route` is the pattern, such as `/v1/emails/:id`, or `none`. */
  readonly httpRequests: Counter<'method' | 'route' | 'status'>;
  /** Time from the head of a request to its response, in seconds. */
  readonly httpDuration: Histogram<'method' | 'route'>;
  /** Number of requests that were refused because of overload. `reason` names the overloaded resource. */
  readonly shedRequests: Counter<'reason'>;
  /** Number of times that a thread of this name was started again. */
  readonly threadRestarts: Counter<'thread'>;
  /**
   * Number of connections that were refused at once. `listener` names the section of the configuration; `reason` is
   * the limit, `total` or `address`.
   */
  readonly refusedConnections: Counter<'listener' | 'reason'>;
  readonly evictedConnections: Counter<'listener'>;
  /** Returns the counter of this name, and registers it when there is none. */
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
  /** Registers values with labels, as `gauge` does. A later value with the same labels replaces an earlier one. */
  gauges<Label extends string>(name: string, help: string, options: LabelledGauge<Label>): void;
  /** Event-loop delay of the last whole second. All zeros in the first two seconds, and while the loop is not watched. */
  readonly loopDelay: LoopDelay;
  /** Returns the 99th percentile of the event-loop delay of each thread in its last whole second, in milliseconds. */
  loopDelays(): { thread: string; p99Ms: number }[];
  /** Starts measuring the event loop. The returned `stop` ends it. */
  watchLoop(): { stop(): void };
  /** Adds the metrics of another thread to those that `show` returns. */
  addSource(read: () => readonly MetricSnapshot[]): void;
  /** Returns the metrics of this registry, without those that have no value yet. */
  snapshot(): Promise<MetricSnapshot>;
  /** Returns all metrics as text, and its media type. */
  show(): Promise<{ contentType: string; text: string }>;
};

type LabelledValues<Label extends string> = readonly { labels: Record<Label, string>; value: number }[];
type LabelledGauge<Label extends string> = {
  labels: readonly Label[];
  read: () => LabelledValues<Label> | Promise<LabelledValues<Label>>;
};

/** The metrics of a thread at one moment. They are plain data, which crosses between threads. */
export type MetricSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Delays in milliseconds beyond the time that a timer was set for. */
type LoopDelay = {
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

const PREFIX = 'postrider_';
const P99_NAME = 'event_loop_delay_p99_seconds';
/** Period with which the event loop is sampled, in milliseconds. */
const LOOP_RESOLUTION_MS = 10;
const LOOP_WINDOW_MS = 1_000;
const DURATION_BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const NO_DELAY: LoopDelay = { meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 };

/** Returns the metrics of the main thread, or those of the thread with this name, whose gauges have the name as a label. */
export function createMetrics(clock: Clock, thread?: string): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const sources: (() => readonly MetricSnapshot[])[] = [];
  const loop = createLoopWatch(clock);
  const metrics = {
    counter<Label extends string = never>(name: string, help: string, labels: readonly Label[] = []) {
      const existing = registry.getSingleMetric(PREFIX + name);
      if (existing instanceof Counter) return existing as Counter<Label>;
      return new Counter({ name: PREFIX + name, help, labelNames: labels, registers });
    },
    histogram: createHistograms(registry),
    gauge(name: string, help: string, read: () => number | Promise<number>): void {
      registry.removeSingleMetric(PREFIX + name);
      const gauge: Gauge = new Gauge({
        name: PREFIX + name,
        help,
        registers,
        collect: async () => gauge.set(await read()),
      });
    },
    gauges<Label extends string>(
      name: string,
      help: string,
      { labels: labelNames, read }: LabelledGauge<Label>,
    ): void {
      registry.removeSingleMetric(PREFIX + name);
      const gauge: Gauge<Label> = new Gauge({
        name: PREFIX + name,
        help,
        registers,
        labelNames,
        async collect() {
          const values = await read();
          gauge.reset();
          for (const { labels, value } of values) gauge.set(labels, value);
        },
      });
    },
  };
  if (thread === undefined)
    metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  // `process.memoryUsage` would open a file, and a thread whose metrics cannot be read ends.
  else metrics.gauge('thread_heap_used_bytes', 'Used heap.', () => getHeapStatistics().used_heap_size);
  showLoopDelay(metrics, loop);
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
    threadRestarts: metrics.counter('thread_restarts_total', 'Threads that were started again.', ['thread']),
    refusedConnections: metrics.counter('connections_refused_total', 'Connections beyond the limits.', [
      'listener',
      'reason',
    ]),
    evictedConnections: metrics.counter(
      'connections_evicted_total',
      'Connections without a login and a transaction that ended for newcomers, while their listener was nearly full.',
      ['listener'],
    ),
    get loopDelay() {
      return loop.recent;
    },
    loopDelays: () => [{ thread: 'main', p99Ms: loop.recent.p99Ms }, ...delaysIn(sources)],
    watchLoop: loop.watch,
    addSource: (read) => void sources.push(read),
    async snapshot() {
      const all = (await registry.getMetricsAsJSON()).filter(({ values }) => values.length > 0);
      return thread === undefined ? all : all.map((metric) => labelGauge(metric, thread));
    },
    async show() {
      const all = [await registry.getMetricsAsJSON(), ...sources.flatMap((read) => read())];
      const text = await AggregatorRegistry.aggregate(all).metrics();
      return { contentType: registry.contentType, text };
    },
  };
}

/** Returns the function that makes a histogram, or returns the one that has its name already. */
function createHistograms(registry: Registry): Metrics['histogram'] {
  return <Label extends string = never>(
    name: string,
    help: string,
    { buckets, labels = [] }: { buckets: readonly number[]; labels?: readonly Label[] },
  ) => {
    const existing = registry.getSingleMetric(PREFIX + name);
    if (existing instanceof Histogram) return existing as Histogram<Label>;
    const registers = [registry];
    return new Histogram({ name: PREFIX + name, help, buckets: [...buckets], labelNames: labels, registers });
  };
}

/** Returns the sums of counters and histograms with the same name and labels. */
export async function sumCounters(snapshots: readonly MetricSnapshot[]): Promise<MetricSnapshot> {
  const sums = await AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON();
  return sums.filter(({ type }) => `${type}` !== 'gauge');
}

/** Returns a gauge with the name of its thread as a label, since a sum over threads means nothing. Others stay. */
function labelGauge(metric: MetricSnapshot[number], thread: string): MetricSnapshot[number] {
  if (`${metric.type}` !== 'gauge') return metric;
  return {
    ...metric,
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, thread } })),
  };
}

function showLoopDelay({ gauge }: Pick<Metrics, 'gauge'>, loop: ReturnType<typeof createLoopWatch>): void {
  gauge('event_loop_delay_p50_seconds', 'Median delay of the event loop.', () => loop.recent.p50Ms / 1_000);
  gauge(P99_NAME, 'Delay of the event loop.', () => loop.recent.p99Ms / 1_000);
  gauge(
    'event_loop_delay_max_seconds',
    'Longest delay since the last time it was asked for.',
    () => loop.takeMax() / 1_000,
  );
}

/** Returns the delays that other threads have reported, whose gauges have their names as labels. */
function delaysIn(sources: readonly (() => readonly MetricSnapshot[])[]) {
  return sources
    .flatMap((read) => read().flat())
    .filter(({ name }) => name === PREFIX + P99_NAME)
    .flatMap(({ values }) =>
      values.map(({ labels, value }) => ({ thread: String(labels['thread']), p99Ms: value * 1_000 })),
    );
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
      // The first second is that of the start, which loads modules: requests are not refused because of it.
      timer = clock.after(LOOP_WINDOW_MS, () => {
        histogram.reset();
        timer = clock.after(LOOP_WINDOW_MS, roll);
      });
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
