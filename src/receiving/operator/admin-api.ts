/**
 * Registers the operator's routes for received mail: that of all tenants, and that of the installation itself. They are
 * served on the control socket alone, never on a network port.
 */

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { whileAwaited } from '../../http/transport/client-disconnect.ts';
import { findReceived, listReceivedRecipients } from '../../inbound/store.ts';
import { listTasksOf } from '../../inbound/tasks/read-store.ts';
import { listReceived, readReceivedFilter } from '../../routes/messages/list.ts';
import { receivedFilter } from '../../routes/messages/schemas.ts';
import { sendRaw } from '../../routes/messages/send-file.ts';
import type { ReceivedFilter } from '../../routes/messages/store.ts';
import { orNotFound } from '../../system/errors.ts';
import { getTenant } from '../../tenants/store.ts';
import { replayForOperator } from './replay.ts';
import { showDetails, showListed } from './show.ts';
import { countTasks } from './store.ts';

type ById = { Params: { id: ReceivedMessageRow['id'] } };

/** Maximum number of messages in one answer. */
const MAX_LISTED = 100;

/** `tenant` is an id or a name. `kind` and `state` are those of one task of the message. */
const listQuery = Type.Object({
  ...receivedFilter,
  tenant: Type.Optional(Type.String()),
  kind: Type.Optional(
    Type.Enum(['post', 'mailbox', 'bounce', 'complaint', 'report', 'unsubscribe', 'forward']),
  ),
  state: Type.Optional(Type.Enum(['pending', 'done', 'failed'])),
  flagged: Type.Optional(Type.Literal('true')),
});

/** The request runs all failed tasks again when it names no `taskId`. */
const replaySchema = Type.Object({ taskId: Type.Optional(Type.String()) });

const PATH = '/inbound/messages';
const ONE = `${PATH}/:id`;

/** Registers `GET /inbound/messages`, `GET /inbound/messages/:id`, `GET …/raw` and `POST …/replay`. */
export function registerInboundAdmin(server: FastifyInstance, app: App): void {
  registerList(server, app);
  server.get<ById>(ONE, async ({ params }) => show(app, await getMessage(app, params.id)));
  server.get<ById>(`${ONE}/raw`, async ({ params }, reply) =>
    sendRaw(reply, app, await getMessage(app, params.id)),
  );
  server.post<ById & { Body: Static<typeof replaySchema> }>(
    `${ONE}/replay`,
    { schema: { body: replaySchema } },
    async ({ params: { id }, body: { taskId } }) => {
      const replayed = await app.db.commit(replayForOperator, { id, taskId, now: app.clock.now() });
      return { replayed };
    },
  );
}

function registerList(server: FastifyInstance, app: App): void {
  server.get<{ Querystring: Static<typeof listQuery> }>(
    PATH,
    { schema: { querystring: listQuery } },
    async (request) => {
      const { read } = app.db;
      const { tenant } = request.query;
      const tenantId = tenant === undefined ? undefined : (await getTenant(read, tenant)).id;
      const filters = { tenantId, filter: readFilter(request.query) };
      const { items, hasMore } = await whileAwaited(request, (gone) =>
        listReceived({ db: app.db, gone }, filters, { limit: MAX_LISTED }),
      );
      const ids = items.map(({ id }) => id);
      const tasks = Map.groupBy(await countTasks(read, ids), ({ messageId }) => messageId);
      return { hasMore, messages: items.map((row) => showListed(row, tasks.get(row.id) ?? [])) };
    },
  );
}

function readFilter({ kind, state, flagged, ...query }: Static<typeof listQuery>): ReceivedFilter {
  const task = { ...(kind !== undefined && { kind }), ...(state !== undefined && { state }) };
  return {
    ...readReceivedFilter(query),
    ...(Object.keys(task).length > 0 && { task }),
    ...(flagged !== undefined && { isFlagged: true }),
  };
}

/**
 * Returns the message of any tenant, or of the installation, with this id.
 * @throws AppError not_found
 */
async function getMessage({ db }: App, id: ReceivedMessageRow['id']): Promise<ReceivedMessageRow> {
  return orNotFound(await findReceived(db.read, id), 'Received message');
}

async function show({ db: { read } }: App, message: ReceivedMessageRow) {
  const { id } = message;
  return showDetails({
    message,
    recipients: await listReceivedRecipients(read, id),
    tasks: await listTasksOf(read, id),
  });
}
