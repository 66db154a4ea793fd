/** Stores the requests of each tenant and mode, up to a number of rows and up to an age. */
import { sql } from 'kysely';
import type { RequestLogRow } from '../db/api-tables.ts';
import type { ExpiryRange, ExpirySlice } from '../db/expiry.ts';
import { defineRead, defineWrite, type Tx } from '../db/operation.ts';
import { inSlice, type Page, type PageRequest, readPage } from '../db/page.ts';
import { TABLES } from '../db/tables.ts';

/** Maximum number of requests that are kept of one tenant in one mode: about 2 MB. */
export const MAX_KEPT_REQUESTS = 10_000;
/** Maximum number of rows that one trim deletes, so that its write stays short. The next trim deletes the rest. */
const MAX_TRIMMED = 2_000;
/** Maximum number of tenants and modes that one slice of retention visits. */
const MAX_OWNERS_PER_SLICE = 50;

/** The tenant and the mode of some requests. */
export type LogOwner = Pick<RequestLogRow, 'tenantId' | 'mode'>;

/** Columns in the order in which packed rows have them. */
const COLUMNS = Object.keys(TABLES.requestLog.columns) as readonly (keyof RequestLogRow)[];

/** Returns rows as one text, which crosses to the writer thread and into SQLite much faster than objects do. */
export function packRequests(rows: readonly RequestLogRow[]): string {
  return JSON.stringify(rows.map((row) => COLUMNS.map((name) => row[name])));
}

type Appended = {
  /** The rows, packed. */
  packed: string;
  /** Owners of rows that may have too many by now. */
  trimmed: readonly LogOwner[];
};

/** Adds requests to the log. Those of a tenant that is deleted, or is being deleted, are left out. */
export const appendRequests = defineWrite(
  'requestLog.append',
  async (tx, { packed, trimmed }: Appended): Promise<void> => {
    const values = COLUMNS.map((_, index) => sql`value ->> ${sql.lit(index)}`);
    const tenantId = values[COLUMNS.indexOf('tenantId')];
    await sql`INSERT INTO "requestLog" (${sql.join(COLUMNS.map((name) => sql.ref(name)))})
      SELECT ${sql.join(values)} FROM json_each(${packed})
       WHERE EXISTS (SELECT 1 FROM tenants WHERE tenants.id = ${tenantId} AND tenants.status <> 'deleting')
          ON CONFLICT DO NOTHING`.execute(tx);
    for (const owner of trimmed) await trim(tx, owner);
  },
  { priority: 'bulk' },
);

/** Deletes the oldest requests of an owner that has more than the maximum. */
async function trim(tx: Tx, owner: LogOwner): Promise<void> {
  const [oldestKept] = await requestsOf(tx, owner)
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .offset(MAX_KEPT_REQUESTS - 1)
    .execute();
  if (oldestKept) await deleteBefore(tx, owner, { id: oldestKept.id, rows: MAX_TRIMMED });
}

/** Deletes the oldest rows of an owner, at most a number of them. Returns the number of rows deleted. */
async function deleteBefore(
  tx: Tx,
  owner: LogOwner,
  { id, rows }: { id: string; rows: number },
): Promise<number> {
  const { tenantId, mode } = owner;
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM "requestLog" WHERE "tenantId" = ${tenantId} AND mode = ${mode} AND id IN (
      SELECT id FROM "requestLog" WHERE "tenantId" = ${tenantId} AND mode = ${mode} AND id < ${id}
       ORDER BY id LIMIT ${rows})`.execute(tx);
  return Number(numAffectedRows);
}

function requestsOf(tx: Tx, { tenantId, mode }: LogOwner) {
  return tx.selectFrom('requestLog').where('tenantId', '=', tenantId).where('mode', '=', mode);
}

/** Conditions of the requests on a page. All that are given must hold. */
export type RequestFilter = {
  /** First digit of the status. */
  statusClass?: number;
  method?: string;
  keyId?: string;
  /** Beginning of the path. */
  path?: string;
};

type Listed = { owner: LogOwner; filter: RequestFilter; page: PageRequest };

/** Lists requests, the newest first. A filter may visit all rows of the owner, so it is a long read. */
export const listRequests = defineRead(
  'requestLog.list',
  (tx, { owner, filter, page }: Listed): Promise<Page<RequestLogRow>> =>
    readPage(page, (slice) => inSlice(filtered(tx, owner, filter), 'id', slice).execute()),
);

function filtered(tx: Tx, owner: LogOwner, { statusClass, method, keyId, path }: RequestFilter) {
  let query = requestsOf(tx, owner).selectAll();
  if (statusClass !== undefined)
    query = query.where('status', '>=', statusClass * 100).where('status', '<', (statusClass + 1) * 100);
  if (method !== undefined) query = query.where('method', '=', method);
  if (keyId !== undefined) query = query.where(sql<boolean>`"keyId" = ${keyId}`);
  if (path !== undefined) query = query.where(sql<boolean>`substr(path, 1, length(${path})) = ${path}`);
  return query;
}

/**
 * Deletes requests that came before an id. A slice visits one tenant and mode after another; its cursor is the last one whose old rows
 * are all gone.
 */
export const expireRequests = defineWrite(
  'requestLog.expire',
  async (tx, { after, before, rows }: ExpiryRange): Promise<ExpirySlice> => {
    let [cursor, deleted] = [after, 0];
    for (let visited = 0; visited < MAX_OWNERS_PER_SLICE; visited++) {
      const owner = await findOwnerAfter(tx, cursor);
      if (!owner) return { next: undefined, deleted };
      deleted += await deleteBefore(tx, owner, { id: before, rows: rows - deleted });
      if (deleted >= rows) return { next: cursor, deleted };
      cursor = cursorOf(owner);
    }
    return { next: cursor, deleted };
  },
  { priority: 'bulk' },
);

function cursorOf({ tenantId, mode }: LogOwner): string {
  return `${tenantId} ${mode}`;
}

async function findOwnerAfter(tx: Tx, cursor: string): Promise<LogOwner | undefined> {
  const [tenantId = '', mode = ''] = cursor.split(' ');
  const { rows } = await sql<LogOwner>`
    SELECT "tenantId", mode FROM "requestLog" WHERE ("tenantId", mode) > (${tenantId}, ${mode})
     ORDER BY "tenantId", mode LIMIT 1`.execute(tx);
  return rows[0];
}
