/**
 * A query built by Kysely once, with named parameters, and run many times: what the hot path uses, because building
 * and compiling a query costs more than SQLite takes to run it.
 */
import {
  type Compilable,
  CompiledQuery,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
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
  let compiled: CompiledQuery<Row> | undefined;
  const all = async (db: Kysely<Tables>, params: Params): Promise<Row[]> => {
    compiled ??= build(builder, (name) => new Placeholder(name) as never).compile();
    const parameters = compiled.parameters.map((value) =>
      value instanceof Placeholder ? params[value.parameter as keyof Params] : value,
    );
    const query = CompiledQuery.raw(compiled.sql, parameters) as CompiledQuery<Row>;
    return (await db.executeQuery(query)).rows;
  };
  return { all, first: async (db, params) => (await all(db, params))[0] };
}
