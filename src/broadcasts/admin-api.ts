/**
 * Registers the operator's routes for broadcasts. They are served on the control socket alone, never on a network port.
 */

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import type { Continuation } from '../db/continued.ts';
import { continuedQuery, DEFAULT_ITEMS } from '../db/continued-query.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { orNotFound } from '../system/errors.ts';
import { getTenant } from '../tenants/store.ts';
import { control } from './control.ts';
import { broadcastFilter } from './schemas.ts';
import { showBroadcastSummary } from './show.ts';
import { resumeBroadcast } from './start.ts';
import { findListed, type Listed, listNewestBroadcasts, withProgress } from './store.ts';

/** `tenant` is an id or a name. */
const listQuery = Type.Object({
  ...continuedQuery,
  tenant: Type.Optional(Type.String()),
  status: broadcastFilter.status,
});

/** A page of broadcasts as the control socket answers with it, the newest first. */
export type OperatorBroadcasts = Continuation & { broadcasts: OperatorBroadcast[] };

type Change = 'pause' | 'resume' | 'cancel';

/** Registers `GET /broadcasts`, `GET /broadcasts/:id` and `POST /broadcasts/:id/pause`, `/resume` and `/cancel`. */
export function registerBroadcastAdmin(server: FastifyInstance, app: App): void {
  const { read } = app.db;
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/broadcasts',
    { schema: { querystring: listQuery } },
    async ({ query: { tenant, status, after, limit = DEFAULT_ITEMS } }): Promise<OperatorBroadcasts> => {
      const tenantId = tenant === undefined ? undefined : (await getTenant(read, tenant)).id;
      const behind = after === undefined ? {} : { startingAfter: after };
      const { items, hasMore } = await listNewestBroadcasts(read, { tenantId, status, limit, ...behind });
      return {
        hasMore,
        next: hasMore ? (items.at(-1)?.id ?? null) : null,
        broadcasts: await Promise.all(items.map((row) => showForOperator(read, row))),
      };
    },
  );
  server.get<{ Params: { id: string } }>('/broadcasts/:id', async ({ params }) =>
    showForOperator(read, await getListed(read, params.id)),
  );
  for (const change of ['pause', 'resume', 'cancel'] as const)
    server.post<{ Params: { id: string } }>(`/broadcasts/:id/${change}`, async ({ params }) => {
      await changeAsOwner(app, await getListed(read, params.id), change);
      return showForOperator(read, await getListed(read, params.id));
    });
}

/** A broadcast as the control socket answers with it: the record of the API's list, with tenant and mode. */
export type OperatorBroadcast = Awaited<ReturnType<typeof showForOperator>>;

async function showForOperator(tx: Tx, row: Listed) {
  const { tenantId, mode } = row;
  return { ...showBroadcastSummary(await withProgress(tx, row)), tenantId, mode };
}

/**
 * Returns the broadcast of any tenant with this id.
 * @throws AppError not_found
 */
async function getListed(tx: Tx, id: string): Promise<Listed> {
  return orNotFound(await findListed(tx, id as BroadcastRow['id']), 'Broadcast');
}

async function changeAsOwner(app: App, { id, tenantId, mode }: Listed, change: Change): Promise<void> {
  // The limits of the author's key are not known here, as when a scheduled broadcast starts.
  const author = { tenantId, mode, domainId: null, approval: null };
  switch (change) {
    case 'pause':
      await control(app, { owner: author, id, cause: 'paused' });
      return;
    case 'resume':
      await resumeBroadcast(app, author, id);
      return;
    case 'cancel':
      await control(app, { owner: author, id, cause: 'canceled' });
  }
}
