/** Mailboxes of people at the domains of tenants, with their passwords, filters and scripts; `store.ts` is the door. */
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { registerMailboxAdmin } from './admin-api.ts';
import { registerMailboxesApi } from './api.ts';
import { registerMailboxKeyAdmin } from './api-keys/admin-api.ts';
import { registerAppPasswordAdmin } from './app-passwords/admin-api.ts';
import { registerAppPasswordsApi } from './app-passwords/api.ts';
import { createDiscoveryApp } from './discovery/app.ts';
import { registerOutboxAdmin } from './outbox-api.ts';
import { registerRecoveryAddress } from './recovery/api.ts';
import { registerRepairAdmin } from './repairs.ts';
import { createMemorySweep } from './scripts/memory-store.ts';
import { registerMailboxSessions } from './sessions-api.ts';
import { registerMailboxSettings } from './settings-api.ts';
import { createRemovalKind } from './worker.ts';

export const mailboxes = {
  name: 'mailboxes',
  ids: ['mbx', 'apw'],
  routes: [
    registerMailboxesApi,
    registerMailboxSettings,
    registerMailboxSessions,
    registerRecoveryAddress,
    registerAppPasswordsApi,
  ],
  // A mailbox belongs to the domain of its address, and its password sends from all its addresses.
  reach: {
    domain: [
      'listMailboxes',
      'getMailbox',
      'getMailboxSettings',
      'listMailboxSessions',
      'getRecoveryAddress',
      'listAppPasswords',
      'getAppPassword',
    ],
    none: [
      'createMailbox',
      'updateMailbox',
      'deleteMailbox',
      'endMailboxSessions',
      'deleteRecoveryAddress',
      'createAppPassword',
      'deleteAppPassword',
    ],
  },
  // A password of a mailbox sends too, and so do its forwarding and its scripts.
  beyondApproval: ['createMailbox', 'updateMailbox', 'createAppPassword'],
  operatorRoutes: [
    registerMailboxAdmin,
    registerAppPasswordAdmin,
    registerMailboxKeyAdmin,
    registerOutboxAdmin,
    registerRepairAdmin,
  ],
  pages: [createDiscoveryApp],
  works: [createMemorySweep],
  tasks: [
    (app: Pick<App, 'blobs' | 'clock' | 'config' | 'db'> & { accounts: RunningAccounts }) =>
      createRemovalKind(app, app.accounts.close),
  ],
} satisfies Feature;
