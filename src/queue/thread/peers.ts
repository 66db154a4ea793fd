/** The ways between the delivery threads: each has a port to each other one, over which it tells that mail is due in queues (dealer.ts). */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { createPortCalls, servePortCalls } from '../../system/thread/calls.ts';
import type { Peers } from '../dealer.ts';
import type { DueQueue } from '../due-store.ts';
import type { Share } from '../share.ts';

/** The function of a delivery thread that takes the queues which another one sends. */
type TakeCalls = { take(queues: readonly DueQueue[]): Promise<void> };

/** The place of a thread among the others. `to` and `from` have its ports by the index of the other end; its own is undefined. */
export type Place = {
  share: Share;
  to: readonly (MessagePort | undefined)[];
  from: readonly (MessagePort | undefined)[];
};

/** Maximum number of queues that wait until a thread has taken those before. Others are lost, and found by a later scan. */
const MAX_WAITING = 100_000;

/** Returns the places of `count` threads. */
export function connectPlaces(count: number): Place[] {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const channels = indexes.map((from) =>
    indexes.map((to) => (to === from ? undefined : new MessageChannel())),
  );
  return indexes.map((index) => ({
    share: { index, count },
    to: indexes.map((other) => channels[index]?.[other]?.port1),
    from: indexes.map((other) => channels[other]?.[index]?.port2),
  }));
}

/** Returns the ports of a place, which move to its thread. */
export function portsOf({ to, from }: Place): MessagePort[] {
  return [...to, ...from].filter((port) => port !== undefined);
}

/** The other threads as the thread at a place sees them. */
export class PortPeers implements Peers {
  readonly share: Share;
  readonly #place: Place;
  readonly #senders: readonly (QueueSender | undefined)[];
  #take: (queues: readonly DueQueue[]) => void = () => {};

  constructor(place: Place) {
    this.share = place.share;
    this.#place = place;
    this.#senders = place.to.map((port) => port && new QueueSender(createPortCalls<TakeCalls>(port)));
    for (const port of place.from)
      if (port) servePortCalls(port, { take: async (queues: readonly DueQueue[]) => this.#take(queues) });
  }

  send(thread: number, queue: DueQueue): void {
    this.#senders[thread]?.send(queue);
  }

  listen(take: (queues: readonly DueQueue[]) => void): () => void {
    this.#take = take;
    return () => {
      this.#take = () => {};
    };
  }

  close(): void {
    for (const port of portsOf(this.#place)) port.close();
  }
}

/** Sends queues to one thread: those of one turn of the event loop together, and further ones once these were taken. */
class QueueSender {
  readonly #calls: TakeCalls;
  /** Queues by their keys, each with whether a retry is due there. */
  #waiting = new Map<string, boolean>();
  #isSending = false;

  constructor(calls: TakeCalls) {
    this.#calls = calls;
  }

  send({ key, hasRetries }: DueQueue): void {
    if (this.#waiting.size < MAX_WAITING)
      this.#waiting.set(key, hasRetries || this.#waiting.get(key) === true);
    if (this.#isSending) return;
    this.#isSending = true;
    setImmediate(() => void this.#sendWaiting());
  }

  async #sendWaiting(): Promise<void> {
    while (this.#waiting.size > 0) {
      const queues = [...this.#waiting].map(([key, hasRetries]) => ({ key, hasRetries }));
      this.#waiting = new Map();
      // A thread that has ended takes nothing, and this one ends with it.
      await this.#calls.take(queues).catch(() => {});
    }
    this.#isSending = false;
  }
}
