/** Whether anybody else had to wait for a request: what all requests of a daemon have in common is its event loop. */
import assert from 'node:assert/strict';

/** Processor time of the one thread, so that other load of the machine adds little. */
const STALL_MS = 500;
const LOOK_EVERY_MS = 1;

/** @throws AssertionError when the event loop was at one thing for too long meanwhile */
export async function withoutStall<Result>(about: string, run: () => Promise<Result>): Promise<Result> {
  let longestMs = 0;
  let before = usedMs();
  const look = () => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - before);
    before = now;
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  try {
    return await run();
  } finally {
    look();
    clearInterval(looking);
    assert.ok(longestMs < STALL_MS, `the event loop stood still for ${longestMs} ms: ${about}`);
  }
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
