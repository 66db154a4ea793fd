/** Keeps the answers of a short query in memory until one of the tables that they come from has changed (db/table-changes.ts). */
import { LRUCache } from 'lru-cache';
import type { TableChanges, WatchedTable } from './table-changes.ts';

type KeptAnswersOptions<Answer> = {
  changes: Pick<TableChanges, 'count'>;
  tables: readonly WatchedTable[];
  /** Maximum sum of the sizes of all answers. Those that were not used for longest are dropped. */
  maxSize: number;
  /** Returns the size of an answer, at least 1. */
  sizeOf: (answer: Answer) => number;
};

export class KeptAnswers<Key extends string, Answer extends object> {
  readonly #answers: LRUCache<Key, Answer>;
  readonly #count: () => number;
  /** Count of changes that the answers belong to. */
  #keptAt = 0;

  constructor({ changes, tables, maxSize, sizeOf }: KeptAnswersOptions<Answer>) {
    this.#answers = new LRUCache({ maxSize, sizeCalculation: sizeOf });
    this.#count = () => tables.reduce((sum, table) => sum + changes.count(table), 0);
  }

  /** Returns the kept answer, or that of `read`. */
  async get(key: Key, read: () => Promise<Answer>): Promise<Answer> {
    const count = this.#count();
    if (count !== this.#keptAt) this.#answers.clear();
    this.#keptAt = count;
    const kept = this.#answers.get(key);
    if (kept) return kept;
    const answer = await read();
    // The answer may be older than a change that was committed meanwhile.
    if (this.#count() === count) this.#answers.set(key, answer);
    return answer;
  }
}
