/** Returns the memory to the system that only the start of the program needed. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Time from the start until its garbage is collected, in milliseconds. The first clients connect in the first seconds, and the collection
 * stops this thread for less than a tenth of a second.
 */
const COLLECTED_AFTER_MS = 5_000;

/**
 * Collects garbage once, some seconds after the start. Loading the program leaves about 60 MB of it in the main thread, and V8 collects
 * nothing in a program that then has little to do.
 */
export function collectGarbageOfStart(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('globalThis.gc');
    setFlagsFromString('--no-expose-gc');
    if (typeof collect === 'function') collect();
  }, COLLECTED_AFTER_MS).unref();
}
