/** `/v1/exports`: the progress of exports and their files. An export is requested from the resource that it lists. */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { csvAnswer } from '../http/json/csv-body.ts';
import { paramsOf } from '../http/json/resource.ts';
import { registerJobRoutes } from '../jobs/api.ts';
import { reachOf } from '../tenants/authenticate.ts';
import { exportSchema, showExport } from './schemas.ts';
import { getCompleted } from './store.ts';

const TAG = 'Exports';
const FILE_PATH = '/exports/:id/file';

/** Registers the routes of the exports resource. */
export function registerExportsApi(server: FastifyInstance, app: Pick<App, 'db' | 'blobs'>): void {
  registerJobRoutes(server, app, {
    type: 'export',
    tag: TAG,
    schema: exportSchema,
    show: showExport,
    deletion: 'Deletes an export that has ended, with its file.',
  });
  server.get<{ Params: { id: string } }>(
    FILE_PATH,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'getExportFile',
        summary: 'Download the file of an export',
        description:
          'Returns the file of a completed export, as long as its audience exists. A cell that begins like a formula is preceded by an apostrophe, which an import removes.',
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
      const reach = reachOf(request);
      const { id, kind, blobId } = await getCompleted(app.db.read, reach, request.params.id);
      const file = await app.blobs.open(blobId);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-length', file.sizeBytes)
        .header('content-disposition', `attachment; filename="${kind}-${id}.csv"`)
        .send(Readable.from(file.chunks()));
    },
  );
}
