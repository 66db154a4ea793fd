/** Imports of CSV files into the lists of other features; `handler.ts` is the door. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { createJobKind } from '../jobs/run.ts';
import { registerImportsApi } from './api.ts';
import type { ImportHandlers } from './handler.ts';
import { importJobs } from './run.ts';

export const imports = {
  name: 'imports',
  ids: ['imp'],
  routes: [registerImportsApi],
  reach: { tenant: ['listImports', 'getImport', 'deleteImport', 'getImportErrors'] },
  tasks: [
    (app: App & { importHandlers: ImportHandlers }) =>
      createJobKind(app, importJobs(app, app.importHandlers)),
  ],
} satisfies Feature;
