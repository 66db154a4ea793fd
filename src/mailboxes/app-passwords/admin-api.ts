/** Registers the operator's routes for app passwords of all mailboxes. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import type { RunningAccounts } from '../../accounts/running-accounts.ts';
import type { App } from '../../app.ts';
import { notFound } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import { getNamedMailbox } from '../named-mailbox.ts';
import { createAppPassword } from './create.ts';
import { revokeAppPassword } from './revoke.ts';
import { type NewAppPassword, newAppPasswordSchema, showAppPassword } from './schemas.ts';
import { findAppPasswordById, listAppPasswords, MAX_APP_PASSWORDS } from './store.ts';

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };

/** An app password as the control socket answers with it. */
export type OperatorAppPassword = ReturnType<typeof showAppPassword>;

/** Registers `GET` and `POST /mailboxes/:name/app-passwords`, and `DELETE /app-passwords/:id`. */
export function registerAppPasswordAdmin(
  server: FastifyInstance,
  app: App & { accounts: RunningAccounts },
): void {
  const path = '/mailboxes/:name/app-passwords';
  server.get<ByName>(path, async ({ params }) => {
    const { id, tenantId } = await getNamedMailbox(app, params.name);
    const page = { mailboxId: id, limit: MAX_APP_PASSWORDS };
    return (await listAppPasswords(app.db.read, tenantId, page)).items.map(showAppPassword);
  });
  server.post<ByName & { Body: NewAppPassword }>(
    path,
    { schema: { body: newAppPasswordSchema } },
    async ({ params, body }) => {
      const { id, tenantId } = await getNamedMailbox(app, params.name);
      const made = await createAppPassword(app, tenantId, { mailboxId: id, wanted: body });
      return { ...showAppPassword(made), password: made.password };
    },
  );
  server.delete<{ Params: { id: string } }>('/app-passwords/:id', async ({ params: { id } }) => {
    const row = isId('apw', id) ? await findAppPasswordById(app.db.read, id) : undefined;
    if (!row) throw notFound('App password');
    return showAppPassword(await revokeAppPassword(app, row.tenantId, row));
  });
}
