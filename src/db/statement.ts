/**
 * A query built by Kysely once, with named parameters, and run many times: what the hot path uses, because building
 * and compiling a query costs more than SQLite takes to run it. The run is the prepared statement itself; Kysely's way
 * to it (connection, plug-ins, a promise for each) would double the price of a small query.
 */
import type { Statement as PreparedStatement } from 'better-sqlite3';
import {
  type Compilable,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { connectionOf } from './dialect.ts';
import type { Tables } from './tables.ts';

export type Statement<Params, Row> = {
  all(db: Kysely<Tables>, params: Params): Promise<Row[]>;
  first(db: Kysely<Tables>, params: Params): Promise<Row | undefined>;
};

/** Stands for a parameter while the query is built. */
class Placeholder {
  readonly parameter: PropertyKey;

  constructor(parameter: PropertyKey) {
    this.parameter = parameter;
  }
}

export type Param<Params> = <Key extends keyof Params>(name: Key) => Params[Key];

const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * A parameter of a join, an `ORDER BY` or a `LIMIT`. SQLite otherwise plans such a query anew at every run (20 to 35
 * microseconds against 5 to 7), to see whether the value would change the plan.
 */
export function constant<Value>(value: Value): RawBuilder<Value> {
  return sql<Value>`(SELECT ${value})`;
}

export function statement<Params extends object, Row>(
  build: (db: Kysely<Tables>, param: Param<Params>) => Compilable<Row>,
): Statement<Params, Row> {
  let compiled: { sql: string; parameters: readonly unknown[] } | undefined;
  const compile = () => (compiled ??= build(builder, (name) => new Placeholder(name) as never).compile());
  /** Of each connection; goes when the connection does. */
  const prepared = new WeakMap<Kysely<Tables>, PreparedStatement<unknown[], Row>>();
  const prepare = (db: Kysely<Tables>) => {
    const one = connectionOf(db).prepare<unknown[], Row>(compile().sql);
    prepared.set(db, one);
    return one;
  };
  const run = (db: Kysely<Tables>, params: Params): Row[] => {
    const one = prepared.get(db) ?? prepare(db);
    const values = compile().parameters.map((value) =>
      value instanceof Placeholder ? params[value.parameter as keyof Params] : value,
    );
    // Every row is taken, also for the first: a write that returns rows checks its foreign keys after the last of them.
    if (one.reader) return one.all(values);
    one.run(values);
    return [];
  };
  return {
    all: async (db, params) => run(db, params),
    first: async (db, params) => run(db, params)[0],
  };
}
