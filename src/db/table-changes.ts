/**
 * Counts the committed changes of a few tables whose rows are asked for all the time and rarely change, so that threads can
 * keep answers in memory (db/answer-cache.ts). Each commit makes SQLite drop the pages that a reading connection
 * holds, so under load even a small query reads them again.
 *
 * Changes are counted by the value of a column, the key, so that a tenant who changes its rows all the time makes hardly any
 * answer about others be read again. Keys share a fixed number of counters: the memory has a bound, and a change that counts for
 * another key too costs a query and is never wrong.
 *
 * Temporary triggers on the writing connection notice the changes, whichever write makes them. The writer thread counts them
 * after COMMIT has returned and before it answers: whoever has the answer to a write finds it counted.
 */
import type { Database } from 'better-sqlite3';

/** The columns of what is posted to that a post depends on (webhooks/posting/kind.ts). */
const RECEIVER_COLUMNS = [
  'failingSince',
  'warnedAt',
  'consecutiveFailures',
  'suspendedUntil',
  'secretSealed',
] as const;

/**
 * The watched tables: their keys, and the columns that the kept answers about a key depend on. New and deleted rows always count. The
 * values of two keys of one table share its counters.
 */
const WATCHED = {
  domains: {
    name: [
      ...['tenantId', 'status', 'verifiedSince', 'failingSince', 'deletedAt'],
      ...[
        'openTracking',
        'clickTracking',
        'trackingHost',
        'trackingCheckedAt',
        'returnPathHost',
        'productType',
      ],
    ],
    id: ['tenantId', 'name', 'selector', 'privateKeySealed'],
  },
  domainKeys: { domainId: ['selector', 'algorithm', 'state', 'privateKeySealed'] },
  mailboxes: { domain: ['address', 'status', 'passwordLogin', 'passwordHash'] },
  appPasswords: { mailboxId: ['expiresAt'] },
  mailboxAliases: { domain: ['address', 'mailboxId'] },
  mailboxFilters: { mailboxId: ['script'] },
  mailboxScripts: { mailboxId: ['name', 'content', 'isActive'] },
  inboundRoutes: {
    tenantId: ['address', 'domain', 'enabled'],
    id: ['tenantId', 'destination', 'enabled', ...RECEIVER_COLUMNS],
  },
  webhookEndpoints: {
    id: ['url', 'status', 'previousSecretSealed', 'previousSecretUntil', ...RECEIVER_COLUMNS],
  },
  tenants: { id: ['plan', 'status'] },
  plans: { name: ['storedMegabytes'] },
} as const satisfies Record<string, Readonly<Record<string, readonly string[]>>>;

export type WatchedTable = keyof typeof WATCHED;

const TABLES = Object.keys(WATCHED) as WatchedTable[];
/** Number of counters of each table, which take 16 KB. */
const COUNTERS = 4_096;
/** Constants of the hash FNV-1a for 32 bits. */
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export class TableChanges {
  /** Memory for all threads: the constructor takes it there. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array;

  constructor(memory = new SharedArrayBuffer(TABLES.length * COUNTERS * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#counts = new Int32Array(memory);
  }

  /** Returns a number that differs after each committed change of the rows with this key. */
  count(table: WatchedTable, key: string): number {
    return Atomics.load(this.#counts, counterOf(TABLES.indexOf(table), key));
  }

  /**
   * Watches the tables through the writing connection. Returns the function that the writer calls after each COMMIT. Changes that
   * were rolled back are counted with the next commit, which is only a little slower.
   */
  watch(connection: Database): () => void {
    const changed = new Set<number>();
    connection.function('note_table_change', (index: unknown, key: unknown) => {
      changed.add(counterOf(Number(index), String(key)));
      return null;
    });
    for (const [index, table] of TABLES.entries()) createTriggers(connection, table, index);
    return () => {
      for (const counter of changed) Atomics.add(this.#counts, counter, 1);
      changed.clear();
    };
  }
}

/** Returns the index of the counter of a key. */
function counterOf(tableIndex: number, key: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), FNV_PRIME);
  return tableIndex * COUNTERS + ((hash >>> 0) % COUNTERS);
}

/** A row that gets another key has changed for both. */
function createTriggers(connection: Database, table: WatchedTable, index: number): void {
  for (const [key, columns] of Object.entries<readonly string[]>(WATCHED[table])) {
    const updated = [key, ...columns].map((column) => `"${column}"`).join(', ');
    for (const [event, rows] of [
      ['INSERT', ['NEW']],
      ['DELETE', ['OLD']],
      [`UPDATE OF ${updated}`, ['OLD', 'NEW']],
    ] as const) {
      const name = `watch_${table}_${key}_${event.slice(0, 6)}`;
      const notes = rows.map((row) => `SELECT note_table_change(${index}, ${row}."${key}");`);
      connection.exec(
        `CREATE TEMP TRIGGER ${name} AFTER ${event} ON main.${table} BEGIN ${notes.join(' ')} END`,
      );
    }
  }
}
