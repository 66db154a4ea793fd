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

/**
 * Defines a statement on the tables of the main database, unless `build` names the type of others. The query is built
 * at its first use, and prepared once for each connection.
 */
export function statement<Params extends object, Row, Schema = Tables>(
  build: (db: Kysely<Schema>, param: Param<Params>) => Compilable<Row>,
): Statement<Params, Row, Schema> {
  let compiled: { sql: string; parameters: readonly unknown[] } | undefined;
  const compile = () => {
    compiled ??= build(
      new Kysely<Schema>({ dialect: BUILDING_DIALECT }),
      (name) => new Placeholder(name) as never,
    ).compile();
    return compiled;
  };
  /** Prepared statements by connection. An entry is freed together with its connection. */
  const prepared = new WeakMap<Kysely<Schema>, PreparedStatement<unknown[], Row>>();
  const prepare = (db: Kysely<Schema>) => {
    const one = connectionOf(db).prepare<unknown[], Row>(compile().sql);
    prepared.set(db, one);
    return one;
  };
  const run = (db: Kysely<Schema>, params: Params): Row[] => {
    const one = prepared.get(db) ?? prepare(db);
    const values = compile().parameters.map((value) =>
      value instanceof Placeholder ? params[value.parameter as keyof Params] : value,
    );
    // All rows are read, even for `first`: a write that returns rows checks its foreign keys after the last of them.
    if (one.reader) return one.all(values);
    one.run(values);
    return [];
  };
  return {
    all: (db, params) => runnerOf(db)(() => run(db, params)),
    first: (db, params) => runnerOf(db)(() => run(db, params)[0]),
  };
}
