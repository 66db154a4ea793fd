/**
 * Brings due queues to the threads that own their sites (share.ts). Each thread hears of all due mail and takes the queues whose home it is.
 * It looks up the route of such a queue, and passes the queue on when another thread owns its site. It does so again whenever mail is due
 * there, without a lookup for as long as the route is valid.
 *
 * A queue may be known to two threads for a moment, for example when its MX records have changed. Both may claim from it: a claim changes the
 * state of its recipients in one write, so that no recipient is claimed twice, and each thread claims for its own sites alone.
 */
import type { Clock } from '../system/clock.ts';
import { createLru } from '../system/lru.ts';
import type { DueQueue } from './due-store.ts';
import type { Destination } from './schedule/events.ts';
import { homeOf, type Share, WHOLE } from './share.ts';

/** The other delivery threads, as one of them sees them. */
export type Peers = {
  readonly share: Share;
  /** Tells a thread that mail may be due in a queue, whose site it seems to own. It may be lost: a later scan finds the mail again. */
  send(thread: number, queue: DueQueue): void;
  /** Calls `take` with the queues that other threads send. Returns a function that ends this. */
  listen(take: (queues: readonly DueQueue[]) => void): () => void;
};

/** A thread that delivers alone has no peers. */
export const ALONE: Peers = { share: WHOLE, send() {}, listen: () => () => {} };

/** The site of a queue belongs to another thread. `ttlMs` is the time for which its route is valid. */
export type Elsewhere = { kind: 'elsewhere'; thread: number; ttlMs: number };

/** Maximum number of queues whose owners are remembered. The route of another queue is looked up again. */
const MAX_PASSED = 100_000;
/**
 * Minimum time after which a thread passes the same queue on once more. When the DNS answers of two threads differ, each may take the
 * other one for the owner, and they would pass the queue to and fro.
 */
const MIN_PASSED_MS = 30_000;
const PASSED_AGAIN = 'its hosts change too often';

/** Times are milliseconds of the monotonic clock. */
type Passed = { thread: number; at: number; until: number };

export class Dealer {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #peers: Peers;
  readonly #passed = createLru<string, Passed>(MAX_PASSED);

  constructor({ clock, peers }: { clock: Pick<Clock, 'elapsed'>; peers: Peers }) {
    this.#clock = clock;
    this.#peers = peers;
  }

  /** Returns the due queues whose home it is, without those that it passes on to their owners. */
  deal(queues: readonly DueQueue[]): readonly DueQueue[] {
    const { share } = this.#peers;
    if (share.count === 1) return queues;
    const now = this.#clock.elapsed();
    return queues.filter((queue) => {
      if (homeOf(queue.key, share) !== share.index) return false;
      const passed = this.#passed.get(queue.key);
      if (!passed || passed.until <= now) return true;
      this.#peers.send(passed.thread, queue);
      return false;
    });
  }

  /**
   * Passes a queue on to the owner of its site, unless this thread did so a moment ago and has got it back: then it waits. The owner is
   * not remembered when the route is no longer current.
   */
  passOn(queue: string, { thread, ttlMs }: Elsewhere, { isCurrent }: { isCurrent: boolean }): Destination {
    const now = this.#clock.elapsed();
    const before = this.#passed.get(queue);
    if (before && now < before.at + MIN_PASSED_MS)
      return { kind: 'wait', until: before.at + MIN_PASSED_MS, reason: PASSED_AGAIN };
    const until = isCurrent ? now + Math.max(ttlMs, MIN_PASSED_MS) : now;
    this.#passed.set(queue, { thread, at: now, until });
    // Retries may be due among its mail. Where there are none, the owner looks for them in vain once.
    this.#peers.send(thread, { key: queue, hasRetries: true });
    return { kind: 'elsewhere' };
  }

  /** Forgets the owners of all queues, because their routes may have changed. */
  forget(): void {
    this.#passed.clear();
  }
}
