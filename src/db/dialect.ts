/**
 * Runs Kysely on one better-sqlite3 connection and prepares every statement once. Kysely's own dialect prepares at
 * each call, which more than halves the rate of accepted mail.
 */
import type { Database, Statement } from 'better-sqlite3';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { LRUCache } from 'lru-cache';
import { defineFunctions } from './functions.ts';
import type { Tables } from './tables.ts';

/** Maximum number of prepared statements that are kept. The program has far fewer distinct SQL texts. */
const PREPARED_STATEMENTS = 500;

const connections = new WeakMap<object, Database>();

/** Runs a query of a connection that writes too, between its transactions (db/private-database.ts). */
export type RunQuery = <Result>(query: () => Result) => Promise<Result>;

const runners = new WeakMap<object, RunQuery>();
const runAtOnce: RunQuery = async (query) => query();

/**
 * Returns a Kysely instance for the connection to a database with the tables of `Schema`, and defines the SQL
 * functions of db/functions.ts on it.
 *
 * @param runQuery runs each query; at once by default
 */
export function kyselyOn<Schema = Tables>(
  database: Database,
  runQuery: RunQuery = runAtOnce,
): Kysely<Schema> {
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SingleConnectionDriver(database, runQuery),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  defineFunctions(database);
  const db = new Kysely<Schema>({ dialect });
  connections.set(db, database);
  runners.set(db, runQuery);
  return db;
}

/** Returns the function that runs the queries of a Kysely instance. */
export function runnerOf<Schema>(db: Kysely<Schema>): RunQuery {
  return runners.get(db) ?? runAtOnce;
}

/**
 * Returns the connection of a Kysely instance, for statements that bypass Kysely (db/statement.ts).
 * @throws Error when `kyselyOn` did not create the instance
 */
export function connectionOf<Schema>(db: Kysely<Schema>): Database {
  const database = connections.get(db);
  if (!database) throw new Error('the connection was not made by db/dialect.ts');
  return database;
}

class SingleConnectionDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(database: Database, runQuery: RunQuery) {
    this.#connection = new PreparedConnection(database, runQuery);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {}

  async beginTransaction(): Promise<void> {
    throw new Error('transactions belong to the writer thread (db/writer-thread.ts)');
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class PreparedConnection implements DatabaseConnection {
  readonly #database: Database;
  readonly #runQuery: RunQuery;
  readonly #statements = new LRUCache<string, Statement<unknown[], unknown>>({ max: PREPARED_STATEMENTS });

  constructor(database: Database, runQuery: RunQuery) {
    this.#database = database;
    this.#runQuery = runQuery;
  }

  executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.#runQuery(() => this.#execute<Row>(query));
  }

  #execute<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#database.prepare<unknown[], unknown>(sql);
      this.#statements.set(sql, statement);
    }
    if (statement.reader) return { rows: statement.all(...parameters) as Row[] };
    const { changes } = statement.run(...parameters);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('rows are read in pages, not streamed');
  }
}
