/** `/v1/mailboxes`: mailboxes of people at the tenant's domains (specification 1 names the product, and no routes). */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { readDomain } from '../domains/name.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { readMailboxAddress } from './address.ts';
import { changeMailbox } from './change.ts';
import { type CreatedMailbox, createMailbox } from './create.ts';
import { deleteMailbox } from './delete.ts';
import type { RunningAccounts } from './running-accounts.ts';
import {
  createdMailboxSchema,
  mailboxChangeSchema,
  mailboxFilter,
  mailboxSchema,
  newMailboxSchema,
  showMailbox,
} from './schemas.ts';
import { getMailbox, listMailboxes } from './store.ts';

type MailboxesApp = Pick<App, 'db' | 'clock' | 'config' | 'wakeups'> & { accounts: RunningAccounts };

/** Registers the routes of the mailboxes resource. */
export function registerMailboxesApi(server: FastifyInstance, app: MailboxesApp): void {
  const mailboxes = resourceRoutes<MailboxRow>(server, {
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
      refuses: ['domain_not_verified', 'domain_in_use', 'invalid_state', 'already_exists'],
    },
    (request) => createMailbox(app, callerOf(request).tenantId, request.body),
  );
  mailboxes.list({ query: mailboxFilter }, (request, page) => {
    const { address, domain } = request.query;
    return listMailboxes(app.db.read, callerOf(request).tenantId, {
      ...(address !== undefined && { address: readMailboxAddress('address', address).address }),
      ...(domain !== undefined && { domain: readDomain('domain', domain) }),
      ...page,
    });
  });
  mailboxes.get({}, (request) => getMailbox(app.db.read, callerOf(request).tenantId, request.params.id));
  mailboxes.update(
    {
      body: mailboxChangeSchema,
      description:
        'Omitted fields keep their values. Mail programs are disconnected when the mailbox gets another password or is suspended.',
      refuses: ['invalid_state'],
    },
    (request) =>
      changeMailbox(app, callerOf(request).tenantId, { id: request.params.id, change: request.body }),
  );
  const description =
    'Deletes a mailbox with all its messages for good. Its address is free at once, and its mail programs are disconnected.';
  mailboxes.delete({ description }, (request) =>
    deleteMailbox(app, callerOf(request).tenantId, request.params.id),
  );
}
