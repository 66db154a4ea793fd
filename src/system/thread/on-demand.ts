/** Starts threads that an installation needs only once it has a certain kind of work: each takes some twenty megabytes. */
import type { Work } from '../worker.ts';

export type StartableThread = { start(): Promise<void> };

type Demand = Pick<Work<never>, 'name' | 'wakeOn' | 'concerns'> & {
  /** Returns true when there is work for the thread. It is asked after each wake-up, and every half minute. */
  isNeeded(): Promise<boolean>;
};

/**
 * Starts the thread if it is needed.
 * @throws the error for which it could not start
 */
export async function startIfNeeded(
  thread: StartableThread,
  { isNeeded }: Pick<Demand, 'isNeeded'>,
): Promise<void> {
  if (await isNeeded()) await thread.start();
}

/** Returns the work that starts the thread once it is needed. */
export function createThreadStart(thread: StartableThread, { isNeeded, ...work }: Demand): Work<never> {
  let wasNeeded = false;
  return {
    ...work,
    async lease() {
      if (!wasNeeded) {
        wasNeeded = await isNeeded();
        // A thread that could not start is logged, and started again by itself.
        if (wasNeeded) void thread.start().catch(() => {});
      }
      return { items: [], nextDueAt: undefined };
    },
    run: async () => {},
  };
}
