/** The pages of a database file that have changed, each in its newest version. */
export type ChangedPages = {
  /** Size of a page in bytes, a power of two from 512 to 65,536. */
  pageBytes: number;
  /** Number of pages of the whole database after the change. A database that became smaller ends there. */
  databasePages: number;
  /** Numbers of the pages, which begin at 1, in no order. */
  numbers: Uint32Array<ArrayBuffer>;
  /** Bytes of the pages, in the order of their numbers. They are alone in their memory, which can move to another thread. */
  contents: Uint8Array<ArrayBuffer>;
};

/** Result of a collection: undefined when nothing has changed, and `lost` when not all changes are known. The database is copied anew then. */
export type CollectedPages = ChangedPages | 'lost' | undefined;

export type NumberedPage = { number: number; bytes: Uint8Array };

/** Yields the pages, which are views of the memory that holds all of them. */
export function* eachPage({ pageBytes, numbers, contents }: ChangedPages): Generator<NumberedPage> {
  for (const [index, number] of numbers.entries())
    yield { number, bytes: contents.subarray(index * pageBytes, (index + 1) * pageBytes) };
}
