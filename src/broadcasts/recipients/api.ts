/** Routes that answer what became of the contacts of a broadcast. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import type { App } from '../../app.ts';
import { createExport } from '../../exports/create.ts';
import { acceptedExportSchema, showExport } from '../../exports/schemas.ts';
import { listEnvelope, pageRequest } from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { getBroadcast } from '../store.ts';
import type { RecipientExportFilter } from './export.ts';
import { type RecipientQuery, recipientExportSchema, recipientQuery, recipientsSchema } from './schemas.ts';
import { showRecipient } from './show.ts';
import { listRecipients } from './store.ts';

const TAG = 'Broadcasts';
const RECIPIENTS = '/broadcasts/:id/recipients';
const EXPORTS = `${RECIPIENTS}/exports`;

/** Registers the routes on the server. */
export function registerRecipientsApi(server: FastifyInstance, app: App): void {
  registerList(server, app);
  registerExport(server, app);
}

function registerList(server: FastifyInstance, app: Pick<App, 'db'>): void {
  const schema = {
    operationId: 'listBroadcastRecipients',
    summary: 'List the recipients of a broadcast',
    description:
      'Returns what became of each contact. The list is complete once all contacts were gathered, shortly after the start. It is ' +
      'in the order of the contacts, the newest first; cursors and times refer to contacts.',
    tags: [TAG],
    ...paramsOf(RECIPIENTS),
    querystring: recipientQuery,
    response: { 200: recipientsSchema },
  };
  server.get<{ Params: { id: string }; Querystring: RecipientQuery }>(
    RECIPIENTS,
    { schema },
    async (request) => {
      const { status, ...query } = request.query;
      const page = { ...pageRequest(query, 'ct'), ...(status !== undefined && { status }) };
      const { id } = await getBroadcast(app.db.read, callerOf(request), request.params.id);
      const { items, hasMore } = await listRecipients(app.db.read, id, page);
      const rows = items.map((row) => ({ ...row, id: row.contactId }));
      return listEnvelope(query, { items: rows, hasMore }, showRecipient);
    },
  );
}

type ExportBody = Static<typeof recipientExportSchema>;

function registerExport(server: FastifyInstance, app: App): void {
  const schema = {
    operationId: 'exportBroadcastRecipients',
    summary: 'Export the recipients of a broadcast to a CSV file',
    description:
      'The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`. It says what became of each contact ' +
      'at the time when its line was written.',
    tags: [TAG],
    ...paramsOf(EXPORTS),
    body: recipientExportSchema,
    response: { 202: acceptedExportSchema },
  };
  server.post<{ Params: { id: string }; Body: ExportBody }>(
    EXPORTS,
    { config: { bodyOptional: true }, schema },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { id: broadcastId } = await getBroadcast(app.db.read, callerOf(request), request.params.id);
      const { status } = request.body;
      const filter: RecipientExportFilter = { broadcastId, ...(status !== undefined && { status }) };
      const wanted = { tenantId, kind: 'recipients', audienceId: null, filter } as const;
      return reply.code(202).send(showExport(await createExport(app, wanted)));
    },
  );
}
