/** Tells how much memory this process may use: that of the machine, or less where a control group limits it. */
import { totalmem } from 'node:os';

/** Returns the memory in bytes. */
export function usableMemoryBytes(): number {
  // A control group without a limit reports 0 or more than there is.
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
