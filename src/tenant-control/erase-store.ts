/**
 * Deletes rows of a tenant by the name of their table, for all tables whose rows nothing else depends on (owned.ts). Each function makes one
 * slice, so that other writes wait only a short time.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { deleteRows } from '../db/rows.ts';
import type { Table } from '../db/table.ts';
import { TABLES } from '../db/tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';

export type TableName = keyof typeof TABLES;

export type EraseSlice = {
  tenantId: TenantRow['id'];
  /** Where the slice begins, in the words of the step; '' at the beginning. */
  after: string;
  /** Maximum number of rows that the slice deletes. */
  rows: number;
};

export type Erased = {
  deleted: number;
  /** Where the next slice of the step begins; undefined when nothing is left. */
  next: string | undefined;
};

/** A cursor of steps that find what is left by themselves. */
export const MORE = 'more';
/** Number of rows that a slice looks at for each one that it may delete, where no index names the tenant. */
const SCANNED_PER_ROW = 4;
/** Number of parents whose rows a slice deletes. */
const PARENTS = 50;

type Key = Readonly<Record<string, string | number>>;

/** Returns what a step has come to that deletes up to a number of rows and finds the next ones by itself. */
export function erasedUpTo(rows: number, deleted: number): Erased {
  return { deleted, next: deleted < rows ? undefined : MORE };
}

/** Deletes rows that an index finds by their tenant. */
export async function eraseIndexed(
  tx: Tx,
  table: TableName,
  { tenantId, rows }: EraseSlice,
): Promise<Erased> {
  const keys = await listKeys(tx, table, sql`"tenantId" = ${tenantId} LIMIT ${rows}`);
  await deleteAll(tx, table, keys);
  return erasedUpTo(rows, keys.length);
}

type Scan = {
  /** Condition of the rows that can be those of a tenant. */
  where?: RawBuilder<unknown>;
  /** Deletes a row that it is given the key of; by default the row alone. */
  remove?: (tx: Tx, key: Key) => Promise<void>;
};

/** Deletes rows that no index finds by their tenant. It reads the table in the order of its key, from one slice to the next. */
export async function eraseScanned(
  tx: Tx,
  table: TableName,
  { tenantId, after, rows, where = sql`1`, remove }: EraseSlice & Scan,
): Promise<Erased> {
  const names = keyOf(table);
  const visited = rows * SCANNED_PER_ROW;
  const last = after === '' ? undefined : (JSON.parse(after) as (string | number)[]);
  const isBehind = last ? sql`(${columns(names)}) > (${sql.join(last)})` : sql`1`;
  const { rows: found } = await sql<Key>`
    SELECT ${columns([...names, 'tenantId'])} FROM ${sql.table(table)}
     WHERE ${where} AND ${isBehind} ORDER BY ${columns(names)} LIMIT ${visited}`.execute(tx);
  const owned = found.filter((row) => row.tenantId === tenantId);
  if (remove) for (const row of owned) await remove(tx, row);
  else await deleteAll(tx, table, owned);
  const reached = found[visited - 1];
  return { deleted: owned.length, next: reached && JSON.stringify(names.map((name) => reached[name])) };
}

type Children = {
  /** The table of the tenant whose ids the rows name. */
  parent: TableName;
  child: TableName;
  /** Column of the child with the id of the parent, which an index begins with. */
  column: string;
};

/** Deletes rows that belong to those of another table. */
export async function eraseChildren(
  tx: Tx,
  { parent, child, column }: Children,
  { tenantId, after, rows }: EraseSlice,
): Promise<Erased> {
  const { rows: parents } = await sql<{ id: string }>`SELECT id FROM ${sql.table(parent)}
     WHERE "tenantId" = ${tenantId} AND id > ${after} ORDER BY id LIMIT ${PARENTS}`.execute(tx);
  const ids = parents.map(({ id }) => id);
  if (ids.length === 0) return { deleted: 0, next: undefined };
  const keys = await listKeys(tx, child, sql`${sql.ref(column)} IN (${sql.join(ids)}) LIMIT ${rows}`);
  await deleteAll(tx, child, keys);
  const isLeft = keys.length === rows;
  const next = isLeft ? after || ' ' : ids.length < PARENTS ? undefined : ids.at(-1);
  return { deleted: keys.length, next };
}

type Naming = { table: TableName; column: string; ids: readonly string[]; tenantId?: TenantRow['id'] };

/** Deletes the rows that name one of these in a column, of one tenant when it is given. An index begins with one of the columns. */
export async function deleteNaming(tx: Tx, { table, column, ids, tenantId }: Naming): Promise<void> {
  const isOfTenant = tenantId === undefined ? sql`1` : sql`"tenantId" = ${tenantId}`;
  await sql`DELETE FROM ${sql.table(table)}
    WHERE ${sql.ref(column)} IN (${sql.join(ids)}) AND ${isOfTenant}`.execute(tx);
}

/** Returns true when a row of the table belongs to the tenant. */
async function hasRows(tx: Tx, table: TableName, tenantId: string): Promise<boolean> {
  const { rows } =
    await sql`SELECT 1 FROM ${sql.table(table)} WHERE "tenantId" = ${tenantId} LIMIT 1`.execute(tx);
  return rows.length > 0;
}

/** Tables whose rows keep the row of their tenant from being deleted. */
const HOLDING = (Object.entries(TABLES) as [TableName, Table][])
  .filter(([, { columns: all }]) => all['tenantId']?.parent?.table === 'tenants')
  .map(([name]) => name);

/** Returns true while a row exists that needs the row of the tenant. */
export async function isHeldByRows(tx: Tx, tenantId: string): Promise<boolean> {
  for (const table of HOLDING) if (await hasRows(tx, table, tenantId)) return true;
  return false;
}

function keyOf(table: TableName): string[] {
  const { columns: all } = TABLES[table] as Table;
  return Object.keys(all).filter((name) => all[name]?.isKey || all[name]?.isNumbered);
}

async function listKeys(tx: Tx, table: TableName, condition: RawBuilder<unknown>): Promise<Key[]> {
  const { rows } =
    await sql<Key>`SELECT ${columns(keyOf(table))} FROM ${sql.table(table)} WHERE ${condition}`.execute(tx);
  return rows;
}

async function deleteAll(tx: Tx, table: TableName, rows: readonly Key[]): Promise<void> {
  const names = keyOf(table);
  for (const row of rows) {
    const key = Object.fromEntries(names.map((name) => [name, row[name]]));
    await deleteRows(tx, table, key as Parameters<typeof deleteRows>[2]);
  }
}

function columns(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}
