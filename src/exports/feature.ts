/** Exports of the lists of other features to CSV files; `handler.ts` is the door. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import { createJobKind } from '../jobs/run.ts';
import { registerExportsApi } from './api.ts';
import type { ExportHandlers } from './handler.ts';
import { exportJobs } from './run.ts';

export const exports = {
  name: 'exports',
  ids: ['exp'],
  routes: [registerExportsApi],
  // An export of a broadcast belongs to its domain, and any other export to the tenant.
  reach: { domain: ['listExports', 'getExport', 'deleteExport', 'getExportFile'] },
  tasks: [
    (app: App & { exportHandlers: ExportHandlers }) =>
      createJobKind(app, exportJobs(app, app.exportHandlers)),
  ],
} satisfies Feature;
