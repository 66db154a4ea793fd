/** `/v1/mailboxes/{mailboxId}/app-passwords`: passwords for single mail programs, which can be limited and revoked alone. */
import type { FastifyInstance } from 'fastify';
import type { RunningAccounts } from '../../accounts/running-accounts.ts';
import type { App } from '../../app.ts';
import type { AppPasswordRow } from '../../db/mailbox-tables.ts';
import { resourceRoutes } from '../../http/json/resource.ts';
import { changeableMailboxOf, readableMailboxOf } from '../manager.ts';
import { type CreatedAppPassword, createAppPassword } from './create.ts';
import { revokeAppPassword } from './revoke.ts';
import {
  appPasswordSchema,
  createdAppPasswordSchema,
  newAppPasswordSchema,
  showAppPassword,
} from './schemas.ts';
import { getAppPassword, listAppPasswords } from './store.ts';

/** Registers the routes of the app passwords of a mailbox. */
export function registerAppPasswordsApi(
  server: FastifyInstance,
  app: App & { accounts: RunningAccounts },
): void {
  const passwords = resourceRoutes<AppPasswordRow>(server, {
    name: 'app password',
    tag: 'Mailboxes',
    path: '/mailboxes/:mailboxId/app-passwords',
    prefix: 'apw',
    schema: appPasswordSchema,
    show: showAppPassword,
  });
  passwords.create(
    {
      body: newAppPasswordSchema,
      answer: {
        schema: createdAppPasswordSchema,
        show: ({ password, ...row }: CreatedAppPassword) => ({ ...showAppPassword(row), password }),
      },
      description: 'The password is in this response, and is not shown again.',
      refuses: ['restricted_api_key'],
    },
    async (request) => {
      const { tenantId, id } = await changeableMailboxOf(app, request, request.params.mailboxId);
      return createAppPassword(app, tenantId, { mailboxId: id, wanted: request.body });
    },
  );
  passwords.list({}, async (request, page) => {
    const { tenantId, id } = await readableMailboxOf(app, request, request.params.mailboxId);
    return listAppPasswords(app.db.read, tenantId, { mailboxId: id, ...page });
  });
  passwords.get({}, async (request) => {
    const { tenantId } = await readableMailboxOf(app, request, request.params.mailboxId);
    return getAppPassword(app.db.read, tenantId, request.params);
  });
  passwords.delete(
    {
      summary: 'Revoke an app password',
      description:
        'Revokes an app password at once. Mail programs that are logged in with it are disconnected.',
      refuses: ['restricted_api_key'],
    },
    async (request) => {
      const { tenantId } = await changeableMailboxOf(app, request, request.params.mailboxId);
      return revokeAppPassword(app, tenantId, request.params);
    },
  );
}
