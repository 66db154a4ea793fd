/** Caches the answers of a short query until the rows that they come from have changed (db/table-changes.ts). */
import { LRUCache } from 'lru-cache';
import type { TableChanges, WatchedTable } from './table-changes.ts';

type AnswerCacheOptions<Key, Answer> = {
  changes: Pick<TableChanges, 'count'>;
  /** The only tables that the answers come from. */
  tables: readonly WatchedTable[];
  /** Returns the key of the rows that an answer depends on alone; by default that of the answer. */
  rowKeyOf?: (key: Key) => string;
  /** Maximum sum of the sizes of all answers. Those that were not used for longest are dropped. */
  maxSize: number;
  /** Returns the size of an answer, at least 1. */
  sizeOf: (answer: Answer) => number;
};

/** An answer, and the count of changes before it was read. */
type Cached<Answer> = { answer: Answer; count: number };

export class AnswerCache<Key extends string, Answer> {
  readonly #answers: LRUCache<Key, Cached<Answer>>;
  readonly #count: (key: Key) => number;

  constructor({ changes, tables, rowKeyOf, maxSize, sizeOf }: AnswerCacheOptions<Key, Answer>) {
    this.#answers = new LRUCache({ maxSize, sizeCalculation: ({ answer }) => sizeOf(answer) });
    // Counts only grow, so that the sum differs after each change of any of the tables.
    this.#count = (key) => {
      const rowKey = rowKeyOf ? rowKeyOf(key) : key;
      return tables.reduce((sum, table) => sum + changes.count(table, rowKey), 0);
    };
  }

  /** Returns the cached answer, or that of `read`. */
  async get(key: Key, read: () => Promise<Answer>): Promise<Answer> {
    const count = this.#count(key);
    const cached = this.#answers.get(key);
    if (cached?.count === count) return cached.answer;
    const answer = await read();
    // A change that is committed during the read has a later count, so an answer that may be older than it is not used again.
    this.#answers.set(key, { answer, count });
    return answer;
  }
}
