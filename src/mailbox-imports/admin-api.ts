/** Registers the operator's routes for imports from other servers. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import type { MailboxContents } from '../accounts/contents.ts';
import type { App } from '../app.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { getNamedMailbox } from '../mailboxes/named-mailbox.ts';
import { AppError, notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { createImport } from './create.ts';
import { listErrors } from './error-store.ts';
import { type NewImport, newImportSchema, showImport } from './schemas.ts';
import { deleteImport, findImport, listImports, MAX_IMPORTS } from './store.ts';

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };
type ById = { Params: { id: string } };

/** An import as the control socket answers with it. */
export type OperatorImport = ReturnType<typeof showImport>;
/** An import with what could not be imported. */
export type OperatorImportWithErrors = OperatorImport & { errors: Awaited<ReturnType<typeof listErrors>> };

/** Registers `GET` and `POST /mailboxes/:name/imports`, and `GET` and `DELETE /mailbox-imports/:id`. */
export function registerMailboxImportAdmin(
  server: FastifyInstance,
  app: App & { mailboxContents: MailboxContents | undefined },
): void {
  const { read } = app.db;
  const path = '/mailboxes/:name/imports';
  server.get<ByName>(path, async ({ params }) => {
    const { id, tenantId } = await getNamedMailbox(app, params.name);
    return (await listImports(read, tenantId, { mailboxId: id, limit: MAX_IMPORTS })).items.map(showImport);
  });
  server.post<ByName & { Body: NewImport }>(
    path,
    { schema: { body: newImportSchema } },
    async ({ params, body }) => {
      if (!app.mailboxContents)
        throw new AppError('invalid_state', 'No daemon is running here; start it first (npm start)');
      const { id, tenantId } = await getNamedMailbox(app, params.name);
      return showImport(await createImport(app, tenantId, { mailboxId: id, wanted: body }));
    },
  );
  server.get<ById>('/mailbox-imports/:id', async ({ params }): Promise<OperatorImportWithErrors> => {
    const row = await find(app, params.id);
    return { ...showImport(row), errors: await listErrors(read, row.id) };
  });
  server.delete<ById>('/mailbox-imports/:id', async ({ params }) => {
    const { id, tenantId, mailboxId } = await find(app, params.id);
    return showImport(await app.db.commit(deleteImport, { tenantId, mailboxId, id }));
  });
}

/**
 * Returns an import of any mailbox.
 * @throws AppError not_found
 */
async function find({ db }: Pick<App, 'db'>, id: string): Promise<MailboxImportRow> {
  const row = isId('mim', id) ? await findImport(db.read, id) : undefined;
  if (!row) throw notFound('Import');
  return row;
}
