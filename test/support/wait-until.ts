/** Waits for what happens in real time. */
import assert from 'node:assert/strict';
import { pause } from './pause.ts';

/** Time limit that only a failing test reaches. */
const PATIENCE_MS = 60_000;

/** Waits until sockets, files or threads have made the condition true. A fake clock stands still meanwhile. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what = 'it holds',
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `waited in vain until ${what}`);
    await pause();
  }
}
