/** Routes that answer which links of a broadcast were clicked. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import { createExport } from '../../exports/create.ts';
import { acceptedExportSchema, showExport } from '../../exports/schemas.ts';
import { pageSchema } from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { getBroadcast } from '../store.ts';
import { type LinkExportFilter, listClickedLinks } from './export.ts';

const clickedLinkSchema = Type.Object(
  {
    number: Type.Integer({ description: 'Position among the tracked links of the HTML, from 0.' }),
    url: Type.String({ description: 'The link as it was written, with its placeholders.' }),
    clicks: Type.Integer({ description: 'Clicks by people.' }),
    uniqueClicks: Type.Integer({ description: 'Contacts who clicked.' }),
    machineClicks: Type.Integer({ description: 'Requests by security scanners and other programs.' }),
  },
  {
    title: 'ClickedLink',
    examples: [
      {
        number: 0,
        url: 'https://example.com/sale?c={{id}}',
        clicks: 41,
        uniqueClicks: 37,
        machineClicks: 12,
      },
    ],
  },
);

export const clickedLinksSchema = pageSchema(clickedLinkSchema);

const TAG = 'Broadcasts';
const LINKS = '/broadcasts/:id/clicked-links';
const EXPORTS = `${LINKS}/exports`;

type Route = { Params: { id: string } };

/** Registers the routes on the server. */
export function registerClickedLinksApi(server: FastifyInstance, app: App): void {
  const { read } = app.db;
  const list = {
    operationId: 'listClickedLinks',
    summary: 'List the tracked links of a broadcast',
    description:
      'Returns all tracked links in the order of the HTML, at most 500, with the clicks of people and of machines. It is empty ' +
      'until the broadcast starts, and when its domain does not track clicks.',
    tags: [TAG],
    ...paramsOf(LINKS),
    response: { 200: clickedLinksSchema },
  };
  server.get<Route>(LINKS, { schema: list }, async (request) => {
    const { id } = await getBroadcast(read, callerOf(request), request.params.id);
    return { data: await listClickedLinks(read, id), hasMore: false, nextCursor: null };
  });
  const exporting = {
    operationId: 'exportClickedLinks',
    summary: 'Export the tracked links of a broadcast to a CSV file',
    description: 'The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`.',
    tags: [TAG],
    ...paramsOf(EXPORTS),
    response: { 202: acceptedExportSchema },
  };
  server.post<Route>(
    EXPORTS,
    { config: { bodyOptional: true }, schema: exporting },
    async (request, reply) => {
      const caller = callerOf(request);
      const { id: broadcastId } = await getBroadcast(read, caller, request.params.id);
      const filter: LinkExportFilter = { broadcastId };
      const wanted = { tenantId: caller.tenantId, kind: 'links', audienceId: null, filter } as const;
      return reply.code(202).send(showExport(await createExport(app, wanted)));
    },
  );
}
