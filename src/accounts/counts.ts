/** Counts messages as folders do. */
import { DELETED, SEEN } from './flags.ts';
import type { FolderRow, MessageRow } from './tables.ts';

type Counts = Pick<FolderRow, 'messageCount' | 'unseenCount' | 'deletedCount' | 'sizeBytes'>;

/** Returns the counts of these messages. */
export function countsOf(messages: Iterable<Pick<MessageRow, 'flags' | 'sizeBytes'>>): Counts {
  const counts = { messageCount: 0, unseenCount: 0, deletedCount: 0, sizeBytes: 0 };
  for (const { flags, sizeBytes } of messages) {
    counts.messageCount++;
    counts.unseenCount += (flags & SEEN) === 0 ? 1 : 0;
    counts.deletedCount += (flags & DELETED) === 0 ? 0 : 1;
    counts.sizeBytes += sizeBytes;
  }
  return counts;
}

/** Returns the counts as a difference that subtracts them. */
export function negate({ messageCount, unseenCount, deletedCount, sizeBytes }: Counts): Counts {
  return {
    messageCount: -messageCount,
    unseenCount: -unseenCount,
    deletedCount: -deletedCount,
    sizeBytes: -sizeBytes,
  };
}

/** Counts who needs something, such as a file or a content, so that it is not removed meanwhile. */
export class UseCounts<Key extends string | number> {
  readonly #counts = new Map<Key, number>();

  add(key: Key): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Takes back one `add`. */
  delete(key: Key): void {
    const count = this.#counts.get(key) ?? 0;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }

  has(key: Key): boolean {
    return this.#counts.has(key);
  }
}
