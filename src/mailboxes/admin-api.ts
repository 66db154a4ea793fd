/** Registers the operator's routes for mailboxes of all tenants. They are served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { readDomain } from '../domains/name.ts';
import { findReceiver } from '../domains/receiving/store.ts';
import { invalid } from '../system/errors.ts';
import { getTenant, listTenants } from '../tenants/store.ts';
import { readNewAddress } from './address.ts';
import { changeMailbox } from './change.ts';
import { createMailbox } from './create.ts';
import { deleteMailbox } from './delete.ts';
import { withDetails, withItsDetails } from './details.ts';
import { type MailSettings, mailSettings } from './discovery/settings.ts';
import { getNamedMailbox } from './named-mailbox.ts';
import { generatePassword } from './passwords/password.ts';
import { type MailboxDetails, mailboxChangeSchema, newMailboxSchema, showMailbox } from './schemas.ts';
import { listNewestMailboxes } from './store.ts';

/** Maximum number of mailboxes in one answer. */
const MAX_LISTED = 100;

/** `tenant` is an id or a name. Without one, the mailbox belongs to the tenant that receives the mail of the domain. */
const newSchema = Type.Object({ ...newMailboxSchema.properties, tenant: Type.Optional(Type.String()) });
const changeSchema = Type.Object({
  ...mailboxChangeSchema.properties,
  /** True to make a new password. */
  newPassword: Type.Optional(Type.Literal(true)),
});
const listQuery = Type.Object({
  tenant: Type.Optional(Type.String()),
  domain: Type.Optional(Type.String()),
});

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };

/** Registers `GET` and `POST /mailboxes`, and `GET`, `PATCH` and `DELETE /mailboxes/:name`. */
export function registerMailboxAdmin(
  server: FastifyInstance,
  app: App & { accounts: RunningAccounts },
): void {
  registerCollection(server, app);
  const { read } = app.db;
  server.get<ByName>('/mailboxes/:name', async ({ params }) =>
    showWithSettings(app, await withItsDetails(read, await getNamedMailbox(app, params.name))),
  );
  server.patch<ByName & { Body: Static<typeof changeSchema> }>(
    '/mailboxes/:name',
    { schema: { body: changeSchema } },
    async ({ params, body: { newPassword, ...change } }) => {
      const { id, tenantId } = await getNamedMailbox(app, params.name);
      const password = newPassword ? generatePassword() : null;
      const wanted = { ...(password !== null && { password, scramLogin: true }), ...change };
      const changed = await changeMailbox(app, tenantId, { id, change: wanted });
      return { ...show(await withItsDetails(read, changed)), password };
    },
  );
  server.delete<ByName>('/mailboxes/:name', async ({ params }) => {
    const mailbox = await withItsDetails(read, await getNamedMailbox(app, params.name));
    await deleteMailbox(app, mailbox.tenantId, mailbox.id);
    return show(mailbox);
  });
}

function registerCollection(server: FastifyInstance, app: App & { accounts: RunningAccounts }): void {
  server.post<{ Body: Static<typeof newSchema> }>(
    '/mailboxes',
    { schema: { body: newSchema } },
    async ({ body: { tenant, ...wanted } }) => {
      const owner = await findOwner(app, wanted.address, tenant);
      const { password, ...created } = await createMailbox(app, owner, wanted);
      return { ...show(created), password };
    },
  );
  server.get<{ Querystring: Static<typeof listQuery> }>(
    '/mailboxes',
    { schema: { querystring: listQuery } },
    async ({ query: { tenant, domain } }) => {
      const filter = {
        ...(tenant !== undefined && { tenantId: (await getTenant(app.db.read, tenant)).id }),
        ...(domain !== undefined && { domain: readDomain('domain', domain) }),
      };
      const { items, hasMore } = await listNewestMailboxes(app.db.read, filter, MAX_LISTED);
      return { hasMore, mailboxes: (await withDetails(app.db.read, items)).map(show) };
    },
  );
}

/** A mailbox as the control socket answers with it. */
export type OperatorMailbox = ReturnType<typeof show>;

function show(row: MailboxDetails) {
  return { ...showMailbox(row), tenantId: row.tenantId };
}

/** A mailbox with what its owner enters in a mail program. */
export type MailboxWithSettings = OperatorMailbox & { settings: MailSettings };

function showWithSettings({ config }: App, row: MailboxDetails): MailboxWithSettings {
  return { ...show(row), settings: mailSettings(config, row) };
}

/**
 * Returns the tenant of a new mailbox: the one that the operator names, the one that receives the mail of the domain, or the only
 * one there is.
 * @throws AppError validation_error, not_found
 */
async function findOwner(
  { db: { read }, clock, config }: App,
  address: string,
  tenant: string | undefined,
): Promise<MailboxRow['tenantId']> {
  if (tenant !== undefined) return (await getTenant(read, tenant)).id;
  const { domain } = readNewAddress(config, address);
  const receiver = await findReceiver(read, domain, clock.now());
  if (receiver) return receiver.tenantId;
  const [only, ...others] = await listTenants(read);
  if (only && others.length === 0) return only.id;
  throw invalid(
    'tenant',
    `\`tenant\` must say whose mailbox it is (--tenant), because the mail of ${domain} belongs to no single tenant`,
  );
}
