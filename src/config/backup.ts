/** The section of the configuration for backups. */
import { Type } from 'typebox';
import { section } from './fields.ts';

/** Maximum number of backups that are kept. Each has a copy of every database. */
const MAX_KEPT_BACKUPS = 1_000;

export const backupSection = section('Backups of the data directory.', {
  folder: Type.String({
    default: '',
    description:
      'Folder of the backups. On the file system of the data directory, files of messages are linked and take no further space. Empty: backups in the data directory.',
  }),
  keep: Type.Integer({
    minimum: 1,
    maximum: MAX_KEPT_BACKUPS,
    default: 7,
    description: 'Number of backups that "postrider backup prune" keeps.',
  }),
});
