import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../src/system/metrics.ts';
import { createFakeClock } from '../support/fake-clock.ts';

async function gaugeOf(metrics: ReturnType<typeof createMetrics>, name: string): Promise<number> {
  const line = (await metrics.show()).text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

test('memory is that of the process, and a gauge is asked whenever it is shown', async () => {
  const metrics = createMetrics(createFakeClock(0));
  assert.ok((await gaugeOf(metrics, 'postrider_process_resident_memory_bytes')) > 10_000_000);
  let depth = 1;
  metrics.gauge('queue_depth', 'Messages waiting.', () => depth);
  assert.equal(await gaugeOf(metrics, 'postrider_queue_depth'), 1);
  depth = 7;
  assert.equal(await gaugeOf(metrics, 'postrider_queue_depth'), 7);
  metrics.gauge('queue_depth', 'Messages waiting.', () => 9);
  assert.equal(await gaugeOf(metrics, 'postrider_queue_depth'), 9);
});

test('gauges with labels show what there is now', async () => {
  const metrics = createMetrics(createFakeClock(0));
  let values = [{ labels: { name: 'a' }, value: 1 }];
  metrics.gauges('depth', 'Depth.', { labels: ['name'], read: () => values });
  assert.match((await metrics.show()).text, /^postrider_depth\{name="a"\} 1$/m);
  values = [{ labels: { name: 'b' }, value: 2 }];
  const { text } = await metrics.show();
  assert.deepEqual(text.match(/^postrider_depth.*$/gm), ['postrider_depth{name="b"} 2']);
});

test('counters and histograms of other threads are added, and each name occurs once', async () => {
  const metrics = createMetrics(createFakeClock(0));
  metrics.counter('tries_total', 'Tries.', ['outcome']).inc({ outcome: 'delivered' });
  metrics.histogram('wait_seconds', 'Wait.', { buckets: [1, 2] }).observe(1.5);
  const { text, contentType } = await metrics.show();
  assert.match(text, /^postrider_tries_total\{outcome="delivered"\} 1$/m);
  assert.match(text, /^postrider_wait_seconds_bucket\{le="2"\} 1$/m);
  assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  metrics.counter('tries_total', 'Tries.', ['outcome']).inc({ outcome: 'delivered' });
  assert.match((await metrics.show()).text, /^postrider_tries_total\{outcome="delivered"\} 2$/m);
});

test('the metrics of a thread are read without a file, also when the process has none left', async (t) => {
  t.mock.method(process, 'memoryUsage', () => {
    throw new Error('EMFILE: too many open files');
  });
  const metrics = createMetrics(createFakeClock(0), 'access');
  assert.ok((await gaugeOf(metrics, 'postrider_thread_heap_used_bytes')) > 1_000_000);
});

test('two registries do not share metrics', async () => {
  const [one, other] = [createMetrics(createFakeClock(0)), createMetrics(createFakeClock(0))];
  one.shedRequests.inc({ reason: 'x' });
  assert.ok(!(await other.show()).text.includes('reason="x"'));
});

/** Holds the event loop. */
function block(durationMs: number): void {
  const until = performance.now() + durationMs;
  while (performance.now() < until);
}

/** Turns of the event loop that the histogram's own timer needs. Its period is shorter than `durationMs`. */
const MIN_TURNS = 5;

/** Real turns of the event loop, so that the histogram's own timer fires, however late this process runs. */
async function turns(durationMs: number): Promise<void> {
  const until = performance.now() + durationMs;
  while (performance.now() < until) await new Promise(setImmediate);
  for (let turn = 0; turn < MIN_TURNS; turn += 1) await new Promise(setImmediate);
}

test('a held event loop is seen for a second, its worst until it was shown', async () => {
  const clock = createFakeClock(0);
  const metrics = createMetrics(clock);
  assert.deepEqual(metrics.loopDelay, { meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 });
  const watch = metrics.watchLoop();
  await turns(30);
  block(400);
  await turns(30);
  await clock.advance(1_000);
  assert.deepEqual(metrics.loopDelay, { meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }, 'the start is no load');
  await turns(30);
  await clock.advance(1_000);
  assert.ok(metrics.loopDelay.maxMs < 300, `${metrics.loopDelay.maxMs}`);
  await turns(30);
  block(400);
  await turns(30);
  await clock.advance(1_000);
  assert.ok(metrics.loopDelay.maxMs >= 300, `${metrics.loopDelay.maxMs}`);
  assert.ok(metrics.loopDelay.meanMs > 0 && metrics.loopDelay.meanMs <= metrics.loopDelay.maxMs);
  await turns(30);
  await clock.advance(1_000);
  assert.ok(metrics.loopDelay.maxMs < 300, `${metrics.loopDelay.maxMs}`);
  assert.ok((await gaugeOf(metrics, 'postrider_event_loop_delay_max_seconds')) >= 0.3);
  assert.ok((await gaugeOf(metrics, 'postrider_event_loop_delay_max_seconds')) < 0.3);
  watch.stop();
  await clock.advance(10_000);
  assert.deepEqual(metrics.loopDelay, { meanMs: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 });
});
