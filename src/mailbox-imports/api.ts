/** `/v1/mailboxes/{mailboxId}/imports`: mail that is brought from other servers by IMAP. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { csvAnswer } from '../http/json/csv-body.ts';
import { paramsOf, resourceRoutes } from '../http/json/resource.ts';
import { guardText } from '../imports/cells.ts';
import { csvLine } from '../imports/write-csv.ts';
import { changeableMailboxOf, readableMailboxOf } from '../mailboxes/manager.ts';
import { createImport } from './create.ts';
import { listErrors } from './error-store.ts';
import { mailboxImportSchema, newImportSchema, showImport } from './schemas.ts';
import { deleteImport, getImport, listImports } from './store.ts';

const TAG = 'Mailboxes';
const PATH = '/mailboxes/:mailboxId/imports';

/** Registers the routes of the imports of a mailbox. */
export function registerMailboxImportsApi(server: FastifyInstance, app: App): void {
  const { read } = app.db;
  const imports = resourceRoutes<MailboxImportRow>(server, {
    name: 'mailbox import',
    tag: TAG,
    path: PATH,
    prefix: 'mim',
    schema: mailboxImportSchema,
    show: showImport,
  });
  imports.create(
    {
      body: newImportSchema,
      refuses: ['invalid_state', 'restricted_api_key'],
      description:
        'Imports all folders of a user of another server, with flags and dates. Messages that were imported before from the same host and user are left out, so a later import adds what is new.',
    },
    async (request) => {
      const { tenantId, id } = await changeableMailboxOf(app, request, request.params.mailboxId);
      return createImport(app, tenantId, { mailboxId: id, wanted: request.body });
    },
  );
  imports.list({}, async (request, page) => {
    const { tenantId, id } = await readableMailboxOf(app, request, request.params.mailboxId);
    return listImports(read, tenantId, { mailboxId: id, ...page });
  });
  imports.get({}, async (request) => {
    const { tenantId } = await readableMailboxOf(app, request, request.params.mailboxId);
    return getImport(read, tenantId, request.params);
  });
  imports.delete(
    {
      description: 'Deletes an import with its password. One that runs is stopped. Imported messages stay.',
      refuses: ['restricted_api_key'],
    },
    async (request) => {
      const { tenantId } = await changeableMailboxOf(app, request, request.params.mailboxId);
      return app.db.commit(deleteImport, { tenantId, ...request.params });
    },
  );
  registerErrors(server, app);
}

function registerErrors(server: FastifyInstance, app: Pick<App, 'db'>): void {
  const { read } = app.db;
  const path = `${PATH}/:id/errors`;
  server.get<{ Params: { mailboxId: string; id: string } }>(
    path,
    {
      schema: {
        operationId: 'getMailboxImportErrors',
        summary: 'Download the messages that were not imported',
        description:
          'Returns the messages that could not be imported so far, at most 1,000. A line without a UID stands for a whole folder.',
        tags: [TAG],
        ...paramsOf(path),
        response: {
          200: csvAnswer(
            'The folder of the other server, the UID of the message, and the reason.',
            'folder,uid,error\r\nINBOX,4711,The server does not give the message\r\n',
          ),
        },
      },
    },
    async (request, reply) => {
      const { tenantId } = await readableMailboxOf(app, request, request.params.mailboxId);
      const { id } = await getImport(read, tenantId, request.params);
      const lines = (await listErrors(read, id)).map(({ folder, uid, message }) =>
        csvLine([guardText(folder), uid === 0 ? '' : String(uid), guardText(message)]),
      );
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="${id}-errors.csv"`)
        .send(csvLine(['folder', 'uid', 'error']) + lines.join(''));
    },
  );
}
