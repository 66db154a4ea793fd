/** Searches of a memory session whose results are updated. They run anew at every change, and what is different is told. */
import { type ResultRun, writeNoUpdate, writeSearchUpdate } from '../../src/mail/imap/encode/search.ts';
import type { FetchItem } from '../../src/mail/imap/fetch-item.ts';
import type { SearchQuery } from '../../src/mail/imap/session.ts';

/** The product updates the results of as many searches of a session. */
const MAX_CONTEXTS = 10;

type Searched = {
  /** Returns the sequence number that a message has for the client. */
  numberOf(uid: number): number;
  /** Returns the UIDs that a search finds, in its order. */
  find(query: SearchQuery): number[];
};

export type MemoryContexts = ReturnType<typeof createMemoryContexts>;

/** Returns the searches of a session whose results are updated. */
export function createMemoryContexts({ numberOf, find }: Searched) {
  const contexts = new Map<string, { query: SearchQuery; results: number[] }>();

  /** Tells one result at a time, from the first position to the last. */
  function removeFrom(
    query: SearchQuery,
    results: number[],
    isRemoved: (uid: number) => boolean,
  ): ResultRun[] {
    const runs: ResultRun[] = [];
    for (let index = 0; index < results.length; ) {
      const uid = results[index] as number;
      if (isRemoved(uid)) {
        results.splice(index, 1);
        runs.push(runOf(query, index, uid));
      } else index++;
    }
    return together(query, runs);
  }

  function runOf({ uid, arrangement }: SearchQuery, index: number, of: number): ResultRun {
    return { position: arrangement.kind === 'sort' ? index + 1 : 0, numbers: [uid ? of : numberOf(of)] };
  }

  function together({ arrangement }: SearchQuery, runs: ResultRun[]): ResultRun[] {
    if (arrangement.kind === 'sort' || runs.length === 0) return runs;
    return [{ position: 0, numbers: runs.flatMap(({ numbers }) => numbers) }];
  }

  return {
    has: (tag: string) => contexts.has(tag),
    *begin(query: SearchQuery, results: readonly number[]): Generator<Buffer, void, undefined> {
      if (contexts.size < MAX_CONTEXTS) contexts.set(query.tag, { query, results: [...results] });
      else yield Buffer.from(writeNoUpdate(query.tag, 'Too many'));
    },
    cancel(tags: readonly string[]): void {
      for (const tag of tags) contexts.delete(tag);
    },
    /** Returns responses about messages that were removed. */
    removed: (gone: ReadonlySet<number>): string[] =>
      [...contexts.values()].map(({ query, results }) =>
        writeSearchUpdate(query, { removed: removeFrom(query, results, (uid) => gone.has(uid)), added: [] }),
      ),
    /** Returns responses about other changes. `onAdded` is called for each result, with the items that are wanted of it. */
    changed(onAdded: (uid: number, items: readonly FetchItem[]) => void): string[] {
      const updates = [...contexts.values()].map(({ query, results }) => {
        const now = find(query);
        const removed = removeFrom(query, results, (uid) => !now.includes(uid));
        const added: ResultRun[] = [];
        for (const [index, uid] of now.entries()) {
          if (results[index] === uid) continue;
          results.splice(index, 0, uid);
          added.push(runOf(query, index, uid));
          onAdded(uid, query.esearch?.update ?? []);
        }
        return writeSearchUpdate(query, { removed, added: together(query, added) });
      });
      return updates.filter((update) => update !== '');
    },
  };
}
