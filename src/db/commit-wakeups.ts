/**
 * Wake-ups that a write asks for. The writer thread collects them while a group runs, and the main thread sends them once the
 * group is on disk. A write that knows that it has made work thus needs no caller who remembers to wake the worker.
 */
import type { WakeupName } from '../system/wakeups.ts';

/** Names of wake-ups, each with its subjects. */
export type RequestedWakeups = readonly (readonly [name: WakeupName, subjects: readonly string[]])[];

const requested = new Map<WakeupName, Set<string>>();

/**
 * Wakes the listeners of this name after the commit of the write that is running, with this subject. The wake-up of a write that is
 * rolled back is sent too, because a wake-up without work does no harm.
 */
export function wakeAfterCommit(name: WakeupName, subject: string): void {
  const subjects = requested.get(name) ?? new Set();
  requested.set(name, subjects);
  subjects.add(subject);
}

/** Returns the wake-ups that the writes of a group have requested, and forgets them. */
export function takeRequestedWakeups(): RequestedWakeups {
  const taken = [...requested].map(([name, subjects]) => [name, [...subjects]] as const);
  requested.clear();
  return taken;
}
