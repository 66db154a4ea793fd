/** Imports of mail from other servers, and imports and exports of archives; `reader.ts` is the door. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { registerMailboxImportAdmin } from './admin-api.ts';
import { registerMailboxImportsApi } from './api.ts';
import type { ImportCalls } from './run.ts';
import { registerTransferAdmin } from './transfer/admin-api.ts';
import { createImportKind, createImportSweep } from './worker.ts';

export const mailboxImports = {
  name: 'mailbox-imports',
  ids: ['mim'],
  routes: [registerMailboxImportsApi],
  reach: {
    domain: ['listMailboxImports', 'getMailboxImport', 'getMailboxImportErrors'],
    none: ['createMailboxImport', 'deleteMailboxImport'],
  },
  operatorRoutes: [registerTransferAdmin, registerMailboxImportAdmin],
  works: [createImportSweep],
  tasks: [(app: App & { importCalls: ImportCalls }) => createImportKind(app, app.importCalls)],
} satisfies Feature;
