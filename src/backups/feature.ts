/** Backups of the data directory, and their restoration. */
import type { Feature } from '../feature.ts';
import { registerBackupAdmin } from './admin-api.ts';
import { createDailyBackup } from './worker.ts';

export const backups = {
  name: 'backups',
  operatorRoutes: [registerBackupAdmin],
  works: [createDailyBackup],
} satisfies Feature;
