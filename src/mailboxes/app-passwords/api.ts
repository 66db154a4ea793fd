/** `/v1/mailboxes/{mailboxId}/app-passwords`: passwords for single mail programs, which can be limited and revoked alone. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import type { AppPasswordRow } from '../../db/mailbox-tables.ts';
import { resourceRoutes } from '../../http/json/resource.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { managerOf } from '../manager.ts';
import type { RunningAccounts } from '../running-accounts.ts';
import { type CreatedAppPassword, createAppPassword } from './create.ts';
import { revokeAppPassword } from './revoke.ts';
import {
  appPasswordSchema,
  createdAppPasswordSchema,
  newAppPasswordSchema,
  showAppPassword,
} from './schemas.ts';
import { getAppPassword, listAppPasswords } from './store.ts';

type AppPasswordsApp = Pick<App, 'db' | 'clock'> & { accounts: RunningAccounts };

/** Registers the routes of the app passwords of a mailbox. */
export function registerAppPasswordsApi(server: FastifyInstance, app: AppPasswordsApp): void {
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
    },
    (request) => {
      const { mailboxId } = request.params;
      return createAppPassword(app, managerOf(request).tenantId, { mailboxId, wanted: request.body });
    },
  );
  passwords.list({}, (request, page) => {
    const { mailboxId } = request.params;
    return listAppPasswords(app.db.read, callerOf(request).tenantId, { mailboxId, ...page });
  });
  passwords.get({}, (request) => getAppPassword(app.db.read, callerOf(request).tenantId, request.params));
  passwords.delete(
    {
      summary: 'Revoke an app password',
      description:
        'Revokes an app password at once. Mail programs that are logged in with it are disconnected.',
    },
    (request) => revokeAppPassword(app, managerOf(request).tenantId, request.params),
  );
}
