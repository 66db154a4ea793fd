/**
 * Reads and writes rows by the values of their columns. The SQL is built once for a set of columns and prepared once for each
 * connection, so the hot path uses these functions too. A query that joins tables, compares otherwise than by equality or needs the
 * condition of a partial index is a `statement` (db/statement.ts).
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { runnerOf } from './dialect.ts';
import type { Tx } from './operation.ts';
import { constant, PreparedQuery } from './statement.ts';
import type { Columns, Described, NewRow, Row, RowsOf, Table } from './table.ts';
import { TABLES } from './tables.ts';

/** The values that columns of a row have. None of them is null. */
type Where<Of extends Table> = { readonly [Name in keyof Row<Of>]?: NonNullable<Row<Of>[Name]> };

type Query<Schema> = PreparedQuery<Record<string, unknown>, Schema>;

/** Returns the functions for the tables of a database. */
export function rowFunctions<Tables extends Described>(tables: Tables) {
  return { ...insertFunctions(tables), ...functionsOfConditions<Tables>() };
}

function insertFunctions<Tables extends Described>(tables: Tables) {
  type Schema = RowsOf<Tables>;

  /** Returns a function that calls `execute` with a query that inserts a row, and with its values. */
  function inserter<Result>(
    ending: (table: string, columns: Columns) => RawBuilder<unknown>,
    execute: (tx: Tx<Schema>, query: Query<Schema>, values: readonly unknown[]) => Promise<Result>,
  ) {
    const inserts = new Map<string, { names: string[]; query: Query<Schema> }>();
    const insertInto = (table: keyof Tables & string) => {
      const { columns } = tables[table] as Table;
      const names = newColumns(columns);
      const build =
        () => sql`INSERT INTO ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
        VALUES (${sql.join(names.map(() => null))}) ${ending(table, columns)}`;
      const insert = { names, query: rawQuery<Schema>(build) };
      inserts.set(table, insert);
      return insert;
    };
    return <Name extends keyof Tables & string>(
      tx: Tx<Schema>,
      table: Name,
      row: NewRow<Tables[Name]>,
    ): Promise<Result> => {
      const { names, query } = inserts.get(table) ?? insertInto(table);
      return execute(
        tx,
        query,
        names.map((name) => (row as Record<string, unknown>)[name] ?? null),
      );
    };
  }

  return {
    /** Inserts a row. */
    insertRow: inserter(() => sql``, runOn),
    /** Inserts a row and returns the number that it got. */
    insertNumbered: inserter(
      () => sql``,
      (tx, query, values) => runnerOf(tx)(() => Number(query.prepare(tx).run(values).lastInsertRowid)),
    ),
    /** Inserts a row unless there is one with its key already. Returns true when it was inserted. */
    insertRowOnce: inserter(
      () => sql`ON CONFLICT DO NOTHING`,
      async (tx, query, values) => (await runOn(tx, query, values)) > 0,
    ),
    /** Inserts a row, or stores its values in the row that has its key. */
    putRow: inserter((_table, columns) => onKey(columns, (name) => sql.ref(`excluded.${name}`)), runOn),
    /** Inserts a row, or adds its values to those of the row that has its key. */
    addToRow: inserter(
      (table, columns) =>
        onKey(columns, (name) => sql`${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`),
      runOn,
    ),
  };
}

function functionsOfConditions<Tables extends Described>() {
  type Schema = RowsOf<Tables>;
  type Name = keyof Tables & string;
  const queries = new Map<string, Query<Schema>>();

  /** Returns the query of this name, which says all that its SQL depends on. */
  function queryOf(name: string, build: () => RawBuilder<unknown>): Query<Schema> {
    const known = queries.get(name);
    if (known) return known;
    const query = rawQuery<Schema>(build);
    queries.set(name, query);
    return query;
  }

  return {
    /** Changes columns of rows. Returns the number of the rows. */
    updateRows<Of extends Name>(
      tx: Tx<Schema>,
      table: Of,
      { set, where }: { set: Partial<Row<Tables[Of]>>; where: Where<Tables[Of]> },
    ): Promise<number> {
      const query = queryOf(
        `update ${table} ${Object.keys(set)} ${Object.keys(where)}`,
        () => sql`UPDATE ${sql.table(table)} SET ${sql.join(equations(set))} WHERE ${conditionOf(where)}`,
      );
      return runOn(tx, query, [...Object.values(set), ...Object.values(where)]);
    },
    /** Deletes rows. Returns their number. */
    deleteRows<Of extends Name>(tx: Tx<Schema>, table: Of, where: Where<Tables[Of]>): Promise<number> {
      const query = queryOf(
        `delete ${table} ${Object.keys(where)}`,
        () => sql`DELETE FROM ${sql.table(table)} WHERE ${conditionOf(where)}`,
      );
      return runOn(tx, query, Object.values(where));
    },
    /** Returns a row, or undefined when there is none. */
    async findRow<Of extends Name>(tx: Tx<Schema>, table: Of, where: Where<Tables[Of]>) {
      const query = queryOf(
        `find ${table} ${Object.keys(where)}`,
        () => sql`SELECT * FROM ${sql.table(table)} WHERE ${conditionOf(where)}`,
      );
      return (await readOn<Row<Tables[Of]>, Schema>(tx, query, Object.values(where)))[0];
    },
    /** Returns the number of rows. */
    async countRows<Of extends Name>(tx: Tx<Schema>, table: Of, where: Where<Tables[Of]>): Promise<number> {
      const query = queryOf(
        `count ${table} ${Object.keys(where)}`,
        () => sql`SELECT count(*) AS count FROM ${sql.table(table)} WHERE ${conditionOf(where)}`,
      );
      return (await readOn<{ count: number }, Schema>(tx, query, Object.values(where)))[0]?.count ?? 0;
    },
    /** Counts rows up to one more than the maximum, so that the caller knows that there are more. */
    async countRowsUpTo<Of extends Name>(
      tx: Tx<Schema>,
      table: Of,
      { where, maximum }: { where: Where<Tables[Of]>; maximum: number },
    ): Promise<number> {
      const query = queryOf(
        `count up to ${table} ${Object.keys(where)}`,
        () =>
          sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${sql.table(table)} WHERE ${conditionOf(where)} LIMIT ${null})`,
      );
      const values = [...Object.values(where), maximum + 1];
      return (await readOn<{ count: number }, Schema>(tx, query, values))[0]?.count ?? 0;
    },
    /** Returns some columns of a row, or undefined when there is none. */
    async findColumns<Of extends Name, Column extends keyof Row<Tables[Of]> & string>(
      tx: Tx<Schema>,
      table: Of,
      { select, where }: { select: readonly Column[]; where: Where<Tables[Of]> },
    ) {
      const query = queryOf(
        `find ${table} ${select} ${Object.keys(where)}`,
        () => sql`SELECT ${sql.join(select.map((name) => sql.ref(name)))} FROM ${sql.table(table)}
          WHERE ${conditionOf(where, constant)} LIMIT 1`,
      );
      return (await readOn<Pick<Row<Tables[Of]>, Column>, Schema>(tx, query, Object.values(where)))[0];
    },
    /** Returns rows in the order of a column. */
    listRows<Of extends Name>(
      tx: Tx<Schema>,
      table: Of,
      { where, orderBy }: { where: Where<Tables[Of]>; orderBy: keyof Row<Tables[Of]> & string },
    ) {
      const query = queryOf(
        `list ${table} ${Object.keys(where)} ${orderBy}`,
        () =>
          sql`SELECT * FROM ${sql.table(table)} WHERE ${conditionOf(where, constant)} ORDER BY ${sql.ref(orderBy)}`,
      );
      return readOn<Row<Tables[Of]>, Schema>(tx, query, Object.values(where));
    },
  };
}

async function readOn<Found, Schema>(tx: Tx<Schema>, query: Query<Schema>, values: readonly unknown[]) {
  return (await runnerOf(tx)(() => query.prepare(tx).all(values))) as Found[];
}

function runOn<Schema>(tx: Tx<Schema>, query: Query<Schema>, values: readonly unknown[]): Promise<number> {
  return runnerOf(tx)(() => query.prepare(tx).run(values).changes);
}

function rawQuery<Schema>(build: () => RawBuilder<unknown>): Query<Schema> {
  return new PreparedQuery((db: Kysely<Schema>) => ({
    compile: () => build().compile(db) as ReturnType<RawBuilder<Record<string, unknown>>['compile']>,
  }));
}

/** Returns the names of the columns that a new row has. */
function newColumns(columns: Columns): string[] {
  return Object.keys(columns).filter((name) => !columns[name]?.isNumbered);
}

/** Returns the clause that changes the row that has the key of the new one. */
function onKey(columns: Columns, newValue: (name: string) => RawBuilder<unknown>): RawBuilder<unknown> {
  const keys = newColumns(columns).filter((name) => columns[name]?.isKey);
  const others = newColumns(columns).filter((name) => !columns[name]?.isKey);
  return sql`ON CONFLICT (${sql.join(keys.map((name) => sql.ref(name)))})
    DO UPDATE SET ${sql.join(others.map((name) => sql`${sql.ref(name)} = ${newValue(name)}`))}`;
}

function equations(values: object): RawBuilder<unknown>[] {
  return Object.keys(values).map((name) => sql`${sql.ref(name)} = ${null}`);
}

function conditionOf(
  where: object,
  parameterOf: (value: unknown) => RawBuilder<unknown> = (value) => sql`${value}`,
): RawBuilder<unknown> {
  const conditions = Object.keys(where).map((name) => sql`${sql.ref(name)} = ${parameterOf(null)}`);
  return sql.join(conditions, sql` AND `);
}

export const {
  insertRow,
  insertNumbered,
  insertRowOnce,
  putRow,
  addToRow,
  updateRows,
  deleteRows,
  countRows,
  countRowsUpTo,
  findRow,
  findColumns,
  listRows,
} = rowFunctions(TABLES);
