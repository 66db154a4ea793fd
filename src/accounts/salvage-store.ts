/**
 * Reads what can be read of a damaged `index.db`, key by key: where a page is damaged, the keys behind it are looked for. Nothing is
 * written to it.
 */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { migrate } from '../db/migrate.ts';
import { ACCOUNT_SCHEMA } from './migrations.ts';
import type { AccountTables } from './rows.ts';

type Table = keyof AccountTables;

/** Columns of the primary key of each table. */
const KEYS = {
  account: ['id'],
  folders: ['id'],
  subscriptions: ['name'],
  contents: ['id'],
  contentBytes: ['contentId'],
  releasedContents: ['contentId'],
  messages: ['folderId', 'uid'],
  keywordSets: ['id'],
  expunged: ['folderId', 'modseq', 'uidFrom'],
  deliveries: ['id'],
  metadata: ['id'],
  pendingEdits: ['folderId', 'modseq', 'uidFrom'],
  spamSignals: ['emailId'],
} as const satisfies Record<Table, readonly string[]>;

/** Tables that a database which was not opened since their migration does not have. */
const LATER_TABLES: readonly Table[] = ['metadata', 'pendingEdits', 'spamSignals'];

/** Number of rows that are read at once where nothing is damaged. */
const PAGE_ROWS = 50;
/** Maximum distance in which the keys behind a damaged page are looked for. No account has more messages. */
const MAX_GAP = 2 ** 32;
/** Maximum number of folders in a row whose messages cannot be read. */
const MAX_LOST_FOLDERS = 1_000;

/**
 * Opens a copy of a damaged database; undefined when nothing of it can be read. When its first pages, which say where the tables are,
 * are damaged, they are replaced in the copy by those of a new database, whose tables begin at the same places.
 */
export function openDamaged(copy: string): Database | undefined {
  const database = tryOpen(copy);
  if (database) return database;
  replaceSchema(copy);
  return tryOpen(copy);
}

function tryOpen(file: string): Database | undefined {
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { fileMustExist: true, timeout: 0 });
    database.pragma('locking_mode = EXCLUSIVE');
    database.pragma('cell_size_check = ON');
    for (const table of Object.keys(KEYS) as Table[])
      if (!LATER_TABLES.includes(table) || hasTable(database, table))
        database.prepare(`SELECT * FROM ${table} LIMIT 0`).all();
    return database;
  } catch {
    database?.close();
    return undefined;
  }
}

function hasTable(database: Database, table: Table): boolean {
  return (
    database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(table) !== undefined
  );
}

const PAGE_BYTES = 4_096;
/** Offset of the number of pages in the header of a database. */
const PAGE_COUNT_OFFSET = 28;

function replaceSchema(file: string): void {
  const fresh = new Sqlite(':memory:');
  fresh.pragma('auto_vacuum = INCREMENTAL');
  migrate(fresh, 0, ACCOUNT_SCHEMA);
  const pages = fresh
    .prepare<[], number>("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")
    .pluck()
    .all();
  const bytes = fresh.serialize();
  fresh.close();
  bytes.writeUInt32BE(Math.floor(statSync(file).size / PAGE_BYTES), PAGE_COUNT_OFFSET);
  const descriptor = openSync(file, 'r+');
  try {
    for (const page of pages) {
      const start = (page - 1) * PAGE_BYTES;
      writeSync(descriptor, bytes, start, PAGE_BYTES, start);
    }
  } finally {
    closeSync(descriptor);
  }
}

type Key = readonly (string | number)[];

/** Yields the readable rows of a table in the order of their keys, and counts in `gaps` the places where some could not be read. */
export function* readRows<Name extends Table>(
  database: Database,
  table: Name,
  gaps: { count: number },
): Generator<AccountTables[Name]> {
  if (!hasTable(database, table)) return;
  const reader = new TableReader<AccountTables[Name]>(database, table);
  let after: Key | undefined;
  for (;;) {
    const rows = reader.read(after, PAGE_ROWS) ?? reader.read(after, 1);
    if (rows?.length === 0) return;
    let isInOrder = rows !== undefined;
    for (const row of rows ?? []) {
      const key = reader.keyOf(row);
      // A damaged page may lead back to rows that were read already.
      isInOrder = isBehind(key, after);
      if (!isInOrder) break;
      yield row;
      after = key;
    }
    if (isInOrder) continue;
    gaps.count++;
    after = reader.findBehind(after);
    if (!after) return;
  }
}

function isBehind(key: Key, other: Key | undefined): boolean {
  for (const [index, value] of key.entries()) {
    const before = other?.[index];
    if (before === undefined || value > before) return true;
    if (value !== before) return false;
  }
  return false;
}

class TableReader<Row extends object> {
  readonly #database: Database;
  readonly #table: Table;
  readonly #columns: readonly string[];

  constructor(database: Database, table: Table) {
    this.#database = database;
    this.#table = table;
    this.#columns = KEYS[table];
  }

  keyOf(row: Row): Key {
    return this.#columns.map((column) => row[column as keyof Row] as string | number);
  }

  /** Returns the next rows behind a key; undefined when they cannot be read. */
  read(after: Key | undefined, count: number): Row[] | undefined {
    const columns = this.#columns.join(', ');
    const behind = after ? `WHERE (${columns}) > (${after.map(() => '?').join(', ')})` : '';
    try {
      return this.#database
        .prepare<unknown[], Row>(`SELECT * FROM ${this.#table} ${behind} ORDER BY ${columns} LIMIT ${count}`)
        .all(...(after ?? []));
    } catch {
      return undefined;
    }
  }

  /** Returns the smallest key behind which rows can be read again; undefined when there is none. */
  findBehind(after: Key | undefined): Key | undefined {
    const start = after ?? this.#columns.map(() => 0);
    const last = start.at(-1);
    if (typeof last !== 'number') return undefined;
    const outer = start.slice(0, -1);
    const canRead = (value: number) => this.read([...outer, value], 1) !== undefined;
    for (let step = 1; step <= MAX_GAP; step *= 2) {
      if (!canRead(last + step)) continue;
      let [damaged, readable] = [last + Math.floor(step / 2), last + step];
      while (readable - damaged > 1) {
        const middle = Math.floor((readable + damaged) / 2);
        if (canRead(middle)) readable = middle;
        else damaged = middle;
      }
      return [...outer, readable];
    }
    return this.#findNextFolder(outer);
  }

  #findNextFolder([folderId, ...more]: Key): Key | undefined {
    if (typeof folderId !== 'number' || more.length > 0) return undefined;
    for (let next = folderId + 1; next <= folderId + MAX_LOST_FOLDERS; next++)
      if (this.read([next, 0], 1) !== undefined) return [next, 0];
    return undefined;
  }
}
