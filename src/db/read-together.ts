/**
 * Runs the reads of one turn of the event loop in one transaction. A read of its own looks for new commits first, and after each
 * commit SQLite reads every page anew.
 */
import type { Kysely } from 'kysely';
import { connectionOf } from './dialect.ts';

type Find<Schema, Key, Found> = (db: Kysely<Schema>, key: Key) => Promise<Found>;

/**
 * Returns a function that finds rows for callers of the same turn together.
 *
 * @param find runs one prepared statement, before it waits for anything
 */
export function readingTogether<Schema, Key, Found>(
  db: Kysely<Schema>,
  find: Find<Schema, Key, Found>,
): (key: Key) => Promise<Found> {
  let waiting: (() => void)[] = [];
  const readAll = connectionOf(db).transaction(() => {
    for (const read of waiting) read();
    waiting = [];
  });
  return (key) =>
    new Promise((resolve) => {
      if (waiting.length === 0) process.nextTick(readAll);
      waiting.push(() => resolve(find(db, key)));
    });
}
