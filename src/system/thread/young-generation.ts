/** Bounds the memory that each thread keeps for short-lived objects. */
import { setFlagsFromString } from 'node:v8';

/**
 * Maximum size of a thread's young generation, in MB: three semi-spaces of 4. Node's default would give a busy thread about
 * 100 MB more. A thread that reaches the limit of its old generation gets 16 MB more in which to end (node_worker.cc of
 * Node). Survivors of one collection of a larger young generation could need more than that, and V8 would end the whole
 * process.
 */
export const YOUNG_MEGABYTES = 12;

/**
 * Lets the limits of each new thread hold. The flag with which bin/postrider bounds the young generation of the main
 * thread would replace them. The main thread keeps its bound, because V8 reads the flag only when a heap is made.
 */
export function unbindThreadsFromFlag(): void {
  setFlagsFromString('--max-semi-space-size=0');
}
