/**
 * A delivery queue is the mail of one mode, kind and tenant for one domain. Its rows are in the database; while it
 * has mail that is due, this class holds the next few messages in memory. Queues are served round-robin, so a long
 * queue, or one whose host does not answer, delays no other.
 */
import { type DeliveryQueueName, parseQueueKey } from '../queue-key.ts';

/** Maximum number of messages of a queue in memory. The others stay in the database. */
export const MAX_MESSAGES_IN_MEMORY = 64;

/**
 * Returns message ids for up to `limit` recipients that are due in the queue, the longest waiting first. Messages in
 * `except` are left out.
 */
export type ReadQueue = (queue: string, limit: number, except: readonly string[]) => Promise<string[]>;

export class DeliveryQueue {
  readonly key: string;
  readonly name: DeliveryQueueName;
  /** Time until which the route of the queue is valid, in milliseconds of the monotonic clock. */
  routedUntil = 0;
  readonly #read: ReadQueue;
  #waiting: string[] = [];
  /** Messages that were handed out and are not yet claimed in the database. A read would return them again. */
  readonly #handedOut = new Set<string>();
  #mayHaveMore = true;

  constructor(key: string, read: ReadQueue) {
    this.key = key;
    this.name = parseQueueKey(key);
    this.#read = read;
  }

  /** True when no mail of the queue is due, neither in memory nor in a claim that is being written. */
  get isDone(): boolean {
    return this.#waiting.length === 0 && this.#handedOut.size === 0 && !this.#mayHaveMore;
  }

  /** True when a claim of the queue's mail is being written. */
  get isBeingClaimed(): boolean {
    return this.#handedOut.size > 0;
  }

  /** Records that mail has become due in the queue. */
  notify(): void {
    this.#mayHaveMore = true;
  }

  /**
   * Returns the id of the next message to claim. Returns undefined when no more mail is known to be due; `notify` and
   * `claimed` change that. Rejects when the queue cannot be read; the caller may try again.
   */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && this.#mayHaveMore) await this.#fill();
    const messageId = this.#waiting.shift();
    if (messageId !== undefined) this.#handedOut.add(messageId);
    return messageId;
  }

  /**
   * Records that the claim of a message is written or has failed. Some of the message's recipients may still be due.
   */
  claimed(messageId: string): void {
    this.#handedOut.delete(messageId);
    this.#mayHaveMore = true;
  }

  async #fill(): Promise<void> {
    this.#mayHaveMore = false;
    const found = await this.#read(this.key, MAX_MESSAGES_IN_MEMORY, [...this.#handedOut]).catch((error) => {
      this.#mayHaveMore = true;
      throw error;
    });
    if (found.length === MAX_MESSAGES_IN_MEMORY) this.#mayHaveMore = true;
    this.#waiting = [...new Set(found)];
  }
}
