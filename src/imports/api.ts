/**
 * `/v1/imports`: the progress and the errors of imports. Files are uploaded to the resources that their rows belong
 * to.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { ImportRow } from '../db/marketing-tables.ts';
import { csvAnswer } from '../http/csv-body.ts';
import { paramsOf, resourceRoutes } from '../http/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { guardText } from './cells.ts';
import { importSchema, jobFilter, showImport } from './schemas.ts';
import { deleteImport, getImport, listErrors, listImports } from './store.ts';
import { csvLine } from './write-csv.ts';

const TAG = 'Imports';
const ERRORS_PATH = '/imports/:id/errors';
/** Number of errors that are read at a time: a millisecond or two of the event loop. */
const ERRORS_SLICE = 500;

/** Registers the routes of the imports resource. */
export function registerImportsApi(server: FastifyInstance, app: Pick<App, 'db'>): void {
  const imports = resourceRoutes<ImportRow>(server, {
    name: 'import',
    tag: TAG,
    path: '/imports',
    prefix: 'imp',
    schema: importSchema,
    show: showImport,
  });
  imports.list({ query: jobFilter }, (request, page) => {
    const { status, kind, audienceId } = request.query;
    return listImports(app.db.read, callerOf(request).tenantId, { ...page, status, kind, audienceId });
  });
  imports.get({}, (request) => getImport(app.db.read, callerOf(request).tenantId, request.params.id));
  imports.delete(
    {
      description: 'Once it has ended. The rows that were taken stay.',
      refuses: ['invalid_state'],
    },
    async (request) => {
      const job = { tenantId: callerOf(request).tenantId, id: request.params.id };
      while (!(await app.db.commit(deleteImport, job)));
    },
  );
  server.get<{ Params: { id: string } }>(
    ERRORS_PATH,
    {
      schema: {
        operationId: 'getImportErrors',
        summary: 'Download the rows that were not taken',
        description: 'In the order of the file, the first 10,000 of them, as far as it is read.',
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
      const { id } = await getImport(app.db.read, callerOf(request).tenantId, request.params.id);
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${id}-errors.csv"`)
        .send(Readable.from(errorLines(app, id)));
    },
  );
}

async function* errorLines({ db }: Pick<App, 'db'>, id: ImportRow['id']): AsyncGenerator<string> {
  yield csvLine(['line', 'email', 'error']);
  let afterLine = 0;
  for (;;) {
    const errors = await listErrors(db.read, id, { afterLine, limit: ERRORS_SLICE });
    if (errors.length === 0) return;
    yield errors
      .map(({ line, email, message }) =>
        csvLine([String(line), email === '' ? '' : guardText(email), message]),
      )
      .join('');
    afterLine = errors.at(-1)?.line ?? afterLine;
  }
}
