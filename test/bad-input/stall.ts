/** Whether anybody else had to wait for a request: what all requests of a daemon have in common is its event loop. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** Long beyond what any load of the machine adds to a request of milliseconds. */
const STALL_MS = 2_000;

/** @throws AssertionError when the event loop stood still meanwhile */
export async function withoutStall<Result>(about: string, run: () => Promise<Result>): Promise<Result> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await nextCount(delay);
  const result = await run();
  await nextCount(delay);
  delay.disable();
  const longestMs = delay.max / 1e6;
  assert.ok(longestMs < STALL_MS, `the event loop stood still for ${longestMs} ms: ${about}`);
  return result;
}

/** It counts from one turn of its timer to the next, so one has to come before what is to be seen, and one after it. */
async function nextCount(delay: ReturnType<typeof monitorEventLoopDelay>): Promise<void> {
  const before = delay.count;
  while (delay.count === before) await setImmediate();
}
