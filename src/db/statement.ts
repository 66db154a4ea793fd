/**
 * Queries that are built by Kysely once, with named parameters, and run many times. The hot path uses them, because
 * building and compiling a query costs more than SQLite takes to run it. They run as prepared statements; Kysely's
 * execution (a connection, plug-ins and several promises) would double the cost of a small query.
 */
import type { Statement as PreparedStatement } from 'better-sqlite3';
import {
  type Compilable,
  type Dialect,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { connectionOf, runnerOf } from './dialect.ts';
import type { Tables } from './tables.ts';

type Statement<Params, Row, Schema = Tables> = {
  all(db: Kysely<Schema>, params: Params): Promise<Row[]>;
  first(db: Kysely<Schema>, params: Params): Promise<Row | undefined>;
};

/** Stands for a parameter while the query is built. */
class Placeholder {
  readonly parameter: PropertyKey;

  constructor(parameter: PropertyKey) {
    this.parameter = parameter;
  }
}

export type Param<Params> = <Key extends keyof Params>(name: Key) => Params[Key];

/** Builds queries without a connection. */
const BUILDING_DIALECT: Dialect = {
  createAdapter: () => new SqliteAdapter(),
  createDriver: () => new DummyDriver(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};

/**
 * Returns an SQL expression for a parameter of a join, an `ORDER BY` or a `LIMIT`. SQLite otherwise plans such a
 * query anew at every run (20 to 35 microseconds instead of 5 to 7), to check whether the value changes the plan.
 */
export function constant<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`(SELECT ${value})`;
}

/** Returns placeholders for several columns. */
export function paramsOf<Params, Key extends keyof Params>(
  param: Param<Params>,
  names: readonly Key[],
): Pick<Params, Key> {
  return Object.fromEntries(names.map((name) => [name, param(name)])) as Pick<Params, Key>;
}

/** A query that is compiled at its first use, and prepared once for each connection. */
export class PreparedQuery<Row, Schema = Tables> {
  readonly #build: (db: Kysely<Schema>) => Compilable<Row>;
  #compiled: { sql: string; parameters: readonly unknown[] } | undefined;
  /** An entry is freed together with its connection. */
  readonly #prepared = new WeakMap<Kysely<Schema>, PreparedStatement<unknown[], Row>>();

  constructor(build: (db: Kysely<Schema>) => Compilable<Row>) {
    this.#build = build;
  }

  /** Returns the SQL of the query and its parameters, in their order. */
  compile(): { sql: string; parameters: readonly unknown[] } {
    this.#compiled ??= this.#build(new Kysely<Schema>({ dialect: BUILDING_DIALECT })).compile();
    return this.#compiled;
  }

  /** Returns the query as a statement of a connection. */
  prepare(db: Kysely<Schema>): PreparedStatement<unknown[], Row> {
    const known = this.#prepared.get(db);
    if (known) return known;
    const prepared = connectionOf(db).prepare<unknown[], Row>(this.compile().sql);
    this.#prepared.set(db, prepared);
    return prepared;
  }
}

/** Defines a statement on the tables of the main database, unless `build` names the type of others. */
export function statement<Params extends object, Row, Schema = Tables>(
  build: (db: Kysely<Schema>, param: Param<Params>) => Compilable<Row>,
): Statement<Params, Row, Schema> {
  const query = new PreparedQuery<Row, Schema>((db) => build(db, (name) => new Placeholder(name) as never));
  const run = (db: Kysely<Schema>, params: Params): Row[] => {
    const prepared = query.prepare(db);
    const values = query
      .compile()
      .parameters.map((value) =>
        value instanceof Placeholder ? params[value.parameter as keyof Params] : value,
      );
    // All rows are read, even for `first`: a write that returns rows checks its foreign keys after the last of them.
    if (prepared.reader) return prepared.all(values);
    prepared.run(values);
    return [];
  };
  return {
    all: (db, params) => runnerOf(db)(() => run(db, params)),
    first: (db, params) => runnerOf(db)(() => run(db, params)[0]),
  };
}
