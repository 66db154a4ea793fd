/** Whether anybody else had to wait for a request: what all requests of a daemon have in common is its event loop. */
import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

/** Long beyond what any load of the machine adds to a request of milliseconds. */
const STALL_MS = 2_000;
const RESOLUTION_MS = 20;

/** @throws AssertionError when the event loop stood still meanwhile */
export async function withoutStall<Result>(about: string, run: () => Promise<Result>): Promise<Result> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // Its timer has to fire before what is to be seen, and after it.
  await setImmediate();
  const result = await run();
  for (let turn = 0; turn < 2; turn++) await setImmediate();
  delay.disable();
  const longestMs = delay.max / 1e6;
  assert.ok(longestMs < STALL_MS, `the event loop stood still for ${longestMs} ms: ${about}`);
  return result;
}
