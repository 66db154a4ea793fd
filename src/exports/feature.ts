import type { Feature } from '../feature.ts';
import { createJobKind } from '../jobs/run.ts';
import { registerExportsApi } from './api.ts';
import type { ExportHandlers } from './handler.ts';
import { type ExportApp, exportJobs } from './run.ts';

export const exports = {
  name: 'exports',
  ids: ['exp'],
  routes: [registerExportsApi],
  tasks: [
    (app: ExportApp & { exportHandlers: ExportHandlers }) =>
      createJobKind(app, exportJobs(app, app.exportHandlers)),
  ],
} satisfies Feature;
