/** `/v1/exports`: the progress of exports and their files. An export is requested from the resource that it lists. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { ExportRow } from '../db/marketing-tables.ts';
import { csvAnswer } from '../http/csv-body.ts';
import { paramsOf, resourceRoutes } from '../http/resource.ts';
import { jobFilter } from '../imports/schemas.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { exportSchema, showExport } from './schemas.ts';
import { deleteExport, getCompleted, getExport, listExports } from './store.ts';

const TAG = 'Exports';
const FILE_PATH = '/exports/:id/file';

/** Registers the routes of the exports resource. */
export function registerExportsApi(server: FastifyInstance, app: Pick<App, 'db' | 'blobs'>): void {
  const exports = resourceRoutes<ExportRow>(server, {
    name: 'export',
    tag: TAG,
    path: '/exports',
    prefix: 'exp',
    schema: exportSchema,
    show: showExport,
  });
  exports.list({ query: jobFilter }, (request, page) => {
    const { status, kind, audienceId } = request.query;
    return listExports(app.db.read, callerOf(request).tenantId, { ...page, status, kind, audienceId });
  });
  exports.get({}, (request) => getExport(app.db.read, callerOf(request).tenantId, request.params.id));
  exports.delete(
    { description: 'Once it has ended; its file goes with it.', refuses: ['invalid_state'] },
    async (request) => {
      const { tenantId } = callerOf(request);
      const file = await app.db.commit(deleteExport, { tenantId, id: request.params.id });
      if (file) await app.blobs.discard(file);
    },
  );
  server.get<{ Params: { id: string } }>(
    FILE_PATH,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'getExportFile',
        summary: 'Download the file of an export',
        description:
          'Once it has completed, and as long as its audience is there. A cell that begins like a formula has an apostrophe before it, which an import takes off again.',
        tags: [TAG],
        ...paramsOf(FILE_PATH),
        response: {
          200: csvAnswer(
            'UTF-8, with commas and a heading line.',
            'email,firstName,lastName,unsubscribed,properties.plan\r\nada@example.com,Ada,Lovelace,false,pro\r\n',
          ),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = callerOf(request);
      const { id, kind, blobId } = await getCompleted(app.db.read, tenantId, request.params.id);
      const file = await app.blobs.open(blobId);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-length', file.sizeBytes)
        .header('content-disposition', `attachment; filename="${kind}-${id}.csv"`)
        .send(Readable.from(file.chunks()));
    },
  );
}
