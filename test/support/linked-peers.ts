/** Connects dispatchers of one process as delivery threads are connected: what one sends reaches the other a moment later. */
import type { Peers } from '../../src/queue/dealer.ts';
import type { DueQueue } from '../../src/queue/due-store.ts';
import type { Clock } from '../../src/system/clock.ts';

/** Time that a message to another dispatcher takes, by the clock. */
const MESSAGE_MS = 1;

/** Returns what each of `count` dispatchers sees of the others. */
export function linkPeers(count: number, clock: Pick<Clock, 'after'>): Peers[] {
  const takes = Array.from({ length: count }, () => (_queues: readonly DueQueue[]) => {});
  return takes.map((_take, index) => ({
    share: { index, count },
    send: (thread, queue) => void clock.after(MESSAGE_MS, () => takes[thread]?.([queue])),
    listen(take) {
      takes[index] = take;
      return () => {
        takes[index] = () => {};
      };
    },
  }));
}
