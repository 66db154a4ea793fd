/** Registers the operator's routes for the API keys of all mailboxes. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import { notFound } from '../../system/errors.ts';
import { isId } from '../../system/ids.ts';
import { listKeysOfMailbox } from '../../tenants/mailbox-keys-store.ts';
import { findKeyById } from '../../tenants/store.ts';
import { getNamedMailbox } from '../named-mailbox.ts';
import { createMailboxKey, revokeMailboxKey } from './create.ts';
import { type NewMailboxKey, newMailboxKeySchema, showMailboxKey } from './schemas.ts';

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };

/** A key of a mailbox as the control socket answers with it. */
export type OperatorMailboxKey = ReturnType<typeof showMailboxKey>;

/** Registers `GET` and `POST /mailboxes/:name/api-keys`, and `DELETE /mailbox-api-keys/:id`. */
export function registerMailboxKeyAdmin(server: FastifyInstance, app: App): void {
  const path = '/mailboxes/:name/api-keys';
  server.get<ByName>(path, async ({ params }) => {
    const { id } = await getNamedMailbox(app, params.name);
    return (await listKeysOfMailbox(app.db.read, id)).map(showMailboxKey);
  });
  server.post<ByName & { Body: NewMailboxKey }>(
    path,
    { schema: { body: newMailboxKeySchema } },
    async ({ params, body }) => {
      const { id, tenantId } = await getNamedMailbox(app, params.name);
      const { key, token } = await createMailboxKey(app, tenantId, { mailboxId: id, wanted: body });
      const made = showMailboxKey(key);
      app.log.info(
        { keyId: key.id, mailboxId: id, access: made.access, by: 'operator' },
        'an API key for the messages of a mailbox was made',
      );
      return { ...made, token };
    },
  );
  server.delete<{ Params: { id: string } }>('/mailbox-api-keys/:id', async ({ params: { id } }) => {
    const row = isId('key', id) ? await findKeyById(app.db.read, id) : undefined;
    if (!row?.mailboxId) throw notFound('API key');
    const revoked = await revokeMailboxKey(app, row.mailboxId, row.id);
    app.log.info(
      { keyId: id, mailboxId: row.mailboxId, by: 'operator' },
      'an API key for the messages of a mailbox was revoked',
    );
    return showMailboxKey(revoked);
  });
}
