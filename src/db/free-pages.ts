/**
 * Returns pages that deletions have freed to the file system. Only databases made with `auto_vacuum=INCREMENTAL`
 * can do so while they are in use (db/connection.ts); `postrider db compact` rewrites older ones.
 */
import type { Database } from 'better-sqlite3';
import { connectionOf } from './dialect.ts';
import { defineWrite } from './operation.ts';

const INCREMENTAL = 2;
/** Share of the file that stays free, because new mail soon needs it. */
const KEPT_SHARE = 0.05;

/** Numbers of pages given back, and of those that can still be given back. */
type ReleasedPages = { released: number; left: number };

/**
 * Returns at most `pages` free pages to the file system. SQLite moves pages from the end of the file into free ones,
 * and shortens it.
 */
export const releasePages = defineWrite(
  'db.releasePages',
  async (tx, { pages }: { pages: number }): Promise<ReleasedPages> => {
    const database = connectionOf(tx);
    if (readPragma(database, 'auto_vacuum') !== INCREMENTAL) return { released: 0, left: 0 };
    const kept = Math.ceil(readPragma(database, 'page_count') * KEPT_SHARE);
    const spare = Math.max(0, readPragma(database, 'freelist_count') - kept);
    const released = Math.min(pages, spare);
    // The statement frees one page a step, and `exec` runs it to its end.
    if (released > 0) database.exec(`PRAGMA incremental_vacuum(${released})`);
    return { released, left: spare - released };
  },
  { priority: 'bulk' },
);

function readPragma(database: Database, name: string): number {
  return Number(database.pragma(name, { simple: true }));
}
