/** Makes the backups of this process, one at a time, and knows how old the newest one is. */
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import { type BackupApp, createBackup, type MadeBackup } from './create.ts';
import { backupFolder, listBackups } from './format.ts';

export type Backups = {
  /**
   * Makes a backup in the configured folder, or in another one.
   * @throws the errors of `createBackup`; AppError invalid_state while another backup is made
   */
  create(folder?: string): Promise<MadeBackup>;
};

/** Returns the backups of a daemon, or of a command when none runs. */
export function createBackups(app: BackupApp & Pick<App, 'metrics'>): Backups {
  const { clock, config, metrics } = app;
  let isMaking = false;
  metrics.gauge(
    'backup_age_seconds',
    'Age of the newest backup in the configured folder; -1 when there is none.',
    async () => {
      const newest = (await listBackups(backupFolder(config))).at(-1);
      return newest ? Math.max(0, Math.round((clock.now() - newest.facts.takenAt) / 1_000)) : -1;
    },
  );
  const ended = metrics.counter('backups_total', 'Backups that were made or have failed.', ['outcome']);
  return {
    async create(folder = backupFolder(config)) {
      if (isMaking) throw new AppError('invalid_state', 'Another backup is being made');
      isMaking = true;
      try {
        const made = await createBackup(app, folder);
        ended.inc({ outcome: 'made' });
        const { files, bytes, tookMs } = made.facts;
        app.log.info({ backup: made.path, files, bytes, tookMs }, 'a backup was made');
        return made;
      } catch (error) {
        ended.inc({ outcome: 'failed' });
        throw error;
      } finally {
        isMaking = false;
      }
    },
  };
}
