/** `/v1/mailboxes`: mailboxes of people at the tenant's domains (specification 1 names the product, and no routes). */
import type { FastifyInstance } from 'fastify';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import { readDomain } from '../domains/name.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf, reachOf } from '../tenants/authenticate.ts';
import { readMailboxAddress } from './address.ts';
import { changeMailbox } from './change.ts';
import { type CreatedMailbox, createMailbox } from './create.ts';
import { deleteMailbox } from './delete.ts';
import { withDetails, withItsDetails } from './details.ts';
import { changeableMailboxOf, readableMailboxOf, requireGivableAddresses } from './manager.ts';
import {
  createdMailboxSchema,
  type MailboxDetails,
  mailboxChangeSchema,
  mailboxFilter,
  mailboxSchema,
  newMailboxSchema,
  showMailbox,
} from './schemas.ts';
import { listMailboxes } from './store.ts';

const REFUSES = [
  'restricted_api_key',
  'domain_not_verified',
  'domain_in_use',
  'invalid_state',
  'already_exists',
] as const;

/** Registers the routes of the mailboxes resource. */
export function registerMailboxesApi(
  server: FastifyInstance,
  app: App & { accounts: RunningAccounts },
): void {
  const { read } = app.db;
  const mailboxes = resourceRoutes<MailboxDetails>(server, {
    name: 'mailbox',
    plural: 'mailboxes',
    tag: 'Mailboxes',
    path: '/mailboxes',
    prefix: 'mbx',
    schema: mailboxSchema,
    show: showMailbox,
  });
  mailboxes.create(
    {
      body: newMailboxSchema,
      answer: {
        schema: createdMailboxSchema,
        show: (created: CreatedMailbox) => ({ ...showMailbox(created), password: created.password }),
      },
      description: 'A password that the server has made is in this response, and is not shown again.',
      refuses: REFUSES,
    },
    async (request) => {
      requireGivableAddresses(app, request, request.body);
      return createMailbox(app, callerOf(request).tenantId, request.body);
    },
  );
  mailboxes.list({ query: mailboxFilter }, async (request, page) => {
    const { address, domain } = request.query;
    const { items, hasMore } = await listMailboxes(read, reachOf(request), {
      ...(address !== undefined && { address: readMailboxAddress('address', address).address }),
      ...(domain !== undefined && { domain: readDomain('domain', domain) }),
      ...page,
    });
    return { items: await withDetails(read, items), hasMore };
  });
  mailboxes.get({}, async (request) =>
    withItsDetails(read, await readableMailboxOf(app, request, request.params.id)),
  );
  mailboxes.update(
    {
      body: mailboxChangeSchema,
      description:
        'Omitted fields keep their values. Mail programs are disconnected when the mailbox gets another password or is suspended.',
      refuses: REFUSES,
    },
    async (request) => {
      const { tenantId, id } = await changeableMailboxOf(app, request, request.params.id);
      requireGivableAddresses(app, request, { aliases: request.body.aliases });
      return withItsDetails(read, await changeMailbox(app, tenantId, { id, change: request.body }));
    },
  );
  const description =
    'Deletes a mailbox with all its messages for good. Its addresses are free at once, and its mail programs are disconnected.';
  mailboxes.delete({ description, refuses: ['restricted_api_key'] }, async (request) => {
    const { tenantId, id } = await changeableMailboxOf(app, request, request.params.id);
    await deleteMailbox(app, tenantId, id);
  });
}
