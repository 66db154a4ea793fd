/**
 * Wake-ups that a write asks for. The writer thread collects them while a group runs, and the main thread sends them once the
 * group is on disk. A write that knows that it has made work thus needs no caller who remembers to wake the worker.
 */
import type { WakeupName } from '../system/wakeups.ts';

const requested = new Set<WakeupName>();

/**
 * Wakes the listeners of this name after the commit of the write that is running. The wake-up of a write that is rolled back is
 * sent too, because a wake-up without work does no harm.
 */
export function wakeAfterCommit(name: WakeupName): void {
  requested.add(name);
}

/** Returns the names that the writes of a group have requested, and forgets them. */
export function takeRequestedWakeups(): WakeupName[] {
  const names = [...requested];
  requested.clear();
  return names;
}
