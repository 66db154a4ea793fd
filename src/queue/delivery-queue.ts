/**
 * A delivery queue is the mail of one mode, kind and tenant for one domain. Its rows are in the database; while it has
 * mail that is due, this class holds the next few messages in memory. Queues are served in turn, so a long queue, or one
 * whose host does not answer, delays no other.
 */
import type { MessageRow, Mode } from '../db/tables.ts';

/** Maximum number of messages of a queue in memory. The others stay in the database (engine.md 4, memory). */
export const MAX_MESSAGES_IN_MEMORY = 64;

export type DeliveryQueueName = { mode: Mode; kind: MessageRow['kind']; tenantId: string; domain: string };

/** Test mail goes nowhere, wherever it is addressed to: one line for all of it. */
const NO_DOMAIN = '-';

export function queueKeyOf(
  { mode, kind, tenantId }: Omit<DeliveryQueueName, 'domain'>,
  domain: string,
): string {
  return `${mode} ${kind} ${tenantId} ${mode === 'live' ? domain : NO_DOMAIN}`;
}

export function parseQueueKey(key: string): DeliveryQueueName {
  const [mode, kind, tenantId = '', domain = ''] = key.split(' ');
  return {
    mode: mode === 'live' ? 'live' : 'test',
    kind: kind === 'broadcast' ? 'broadcast' : 'transactional',
    tenantId,
    domain,
  };
}

/** Answers with the messages of up to `limit` recipients that are due in the queue, the longest waiting first, but for
 * those in `except`. */
export type ReadQueue = (queue: string, limit: number, except: readonly string[]) => Promise<string[]>;

export class DeliveryQueue {
  readonly key: string;
  readonly name: DeliveryQueueName;
  /** Until when its route holds, on the monotonic clock. */
  routedUntil = 0;
  readonly #read: ReadQueue;
  #waiting: string[] = [];
  /** Handed out, and not yet claimed on disk: a read still answers with them. */
  readonly #handedOut = new Set<string>();
  #mayHaveMore = true;

  constructor(key: string, read: ReadQueue) {
    this.key = key;
    this.name = parseQueueKey(key);
    this.#read = read;
  }

  /** Whether nothing of it is due, in memory or on its way to disk. */
  get isDone(): boolean {
    return this.#waiting.length === 0 && this.#handedOut.size === 0 && !this.#mayHaveMore;
  }

  /** Whether some of it is on its way to disk. */
  get isBeingClaimed(): boolean {
    return this.#handedOut.size > 0;
  }

  /** Something fell due in the queue. */
  notify(): void {
    this.#mayHaveMore = true;
  }

  /** The next message to claim; undefined when nothing more is due, or is known to be until `claimed` is called. Rejects
   * when it could not be read, and may be asked again. */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && this.#mayHaveMore) await this.#fill();
    const messageId = this.#waiting.shift();
    if (messageId !== undefined) this.#handedOut.add(messageId);
    return messageId;
  }

  /** The claim is on disk, or has failed. Either may have left some of the message's recipients in the line. */
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
