/**
 * `/v1/imports`: the progress and the errors of imports. Files are uploaded to the resources that their rows belong
 * to.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { JobRow } from '../db/marketing-tables.ts';
import { csvAnswer } from '../http/json/csv-body.ts';
import { paramsOf } from '../http/json/resource.ts';
import { registerJobRoutes } from '../jobs/api.ts';
import { listErrors } from '../jobs/errors/store.ts';
import { getJob } from '../jobs/store.ts';
import { reachOf } from '../tenants/authenticate.ts';
import { guardText } from './cells.ts';
import { importSchema, showImport } from './schemas.ts';
import { csvLine } from './write-csv.ts';

const TAG = 'Imports';
const ERRORS_PATH = '/imports/:id/errors';
/** Number of errors that are read at a time: a millisecond or two of the event loop. */
const ERRORS_SLICE = 500;

/** Registers the routes of the imports resource. */
export function registerImportsApi(server: FastifyInstance, app: Pick<App, 'db' | 'blobs'>): void {
  registerJobRoutes(server, app, {
    type: 'import',
    tag: TAG,
    schema: importSchema,
    show: showImport,
    deletion: 'Deletes an import that has ended. The imported rows stay.',
  });
  server.get<{ Params: { id: string } }>(
    ERRORS_PATH,
    {
      schema: {
        operationId: 'getImportErrors',
        summary: 'Download the rows that were not imported',
        description: 'Returns the rows that failed so far, at most 10,000, in the order of the file.',
        tags: [TAG],
        ...paramsOf(ERRORS_PATH),
        response: {
          200: csvAnswer(
            'The line of the file, what stands in its email column, and what is wrong.',
            'line,email,error\r\n7,ada@example,`email` must be one address such as ada@example.com\r\n',
          ),
        },
      },
    },
    async (request, reply) => {
      const { id } = await getJob(app.db.read, reachOf(request), {
        type: 'import',
        id: request.params.id,
      });
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${id}-errors.csv"`)
        .send(Readable.from(errorLines(app, id)));
    },
  );
}

async function* errorLines({ db }: Pick<App, 'db'>, jobId: JobRow['id']): AsyncGenerator<string> {
  yield csvLine(['line', 'email', 'error']);
  let afterLine = 0;
  for (;;) {
    const errors = await listErrors(db.read, { jobId, afterLine, limit: ERRORS_SLICE });
    if (errors.length === 0) return;
    yield errors
      .map(({ line, email, message }) =>
        csvLine([String(line), email === '' ? '' : guardText(email), message]),
      )
      .join('');
    afterLine = errors.at(-1)?.line ?? afterLine;
  }
}
