import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { registerMailboxImportAdmin } from './admin-api.ts';
import { registerMailboxImportsApi } from './api.ts';
import { moveDueImports } from './store.ts';
import { registerTransferAdmin } from './transfer/admin-api.ts';
import type { ImportCalls } from './turn.ts';
import { createImportSweep, createImportWork } from './worker.ts';

export const mailboxImports = {
  name: 'mailbox-imports',
  ids: ['mim'],
  routes: [registerMailboxImportsApi],
  operatorRoutes: [registerTransferAdmin, registerMailboxImportAdmin],
  works: [
    (app: App & { importCalls: ImportCalls }) => createImportWork(app, app.importCalls),
    createImportSweep,
  ],
  dueWorks: [{ move: (db, setBack) => db.commit(moveDueImports, setBack), wakeup: 'mailboxImports' }],
} satisfies Feature;
