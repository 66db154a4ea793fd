/**
 * Counts the committed changes of a few tables whose rows are asked for all the time and rarely change, so that the main thread
 * can keep answers in memory (db/kept-answers.ts). Each commit makes SQLite drop the pages that a reading connection
 * holds, so under load even a small query reads them again.
 *
 * Temporary triggers on the writing connection notice the changes, whichever write makes them. The writer thread counts them
 * after COMMIT has returned and before it answers: whoever has the answer to a write finds it counted.
 */
import type { Database } from 'better-sqlite3';

/** The watched tables, and the columns that the kept answers depend on. New and deleted rows always count. */
const WATCHED = {
  domains: ['tenantId', 'name', 'verifiedSince', 'failingSince'],
  inboundRoutes: ['tenantId', 'address', 'domain', 'enabled'],
  tenants: ['plan'],
  plans: ['storedMegabytes'],
} as const satisfies Record<string, readonly string[]>;

export type WatchedTable = keyof typeof WATCHED;

const TABLES = Object.keys(WATCHED) as WatchedTable[];

export class TableChanges {
  /** Memory for the main thread and the writer thread: the constructor takes it there. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array;

  constructor(memory = new SharedArrayBuffer(TABLES.length * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#counts = new Int32Array(memory);
  }

  /** Returns a number that differs after each committed change of the table. */
  count(table: WatchedTable): number {
    return Atomics.load(this.#counts, TABLES.indexOf(table));
  }

  /**
   * Watches the tables through the writing connection. Returns the function that the writer calls after each COMMIT. Changes that
   * were rolled back are counted with the next commit, which is only a little slower.
   */
  watch(connection: Database): () => void {
    const changed = new Set<number>();
    connection.function('note_table_change', (index: unknown) => {
      changed.add(Number(index));
      return null;
    });
    for (const [index, table] of TABLES.entries()) createTriggers(connection, table, index);
    return () => {
      for (const index of changed) Atomics.add(this.#counts, index, 1);
      changed.clear();
    };
  }
}

function createTriggers(connection: Database, table: WatchedTable, index: number): void {
  const columns = WATCHED[table].map((column) => `"${column}"`).join(', ');
  for (const event of ['INSERT', 'DELETE', `UPDATE OF ${columns}`]) {
    const name = `watch_${table}_${event.slice(0, 6)}`;
    connection.exec(
      `CREATE TEMP TRIGGER ${name} AFTER ${event} ON main.${table} BEGIN SELECT note_table_change(${index}); END`,
    );
  }
}
