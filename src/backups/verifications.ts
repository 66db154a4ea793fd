/** Verifies backups for those who do not wait, one at a time, and remembers what the last verification has found. */
import type { App } from '../app.ts';
import { AppError, errorMessage, orNotFound } from '../system/errors.ts';
import { backupFolder, type FoundBackup, listOwnBackups } from './format.ts';
import { type BackupRun, beginRun, isRunning } from './run.ts';
import { runInThread } from './run-in-thread.ts';
import type { Verified } from './verify.ts';

export type Verifications = {
  readonly last: BackupRun | null;
  /**
   * Begins to verify the backup with this name in the configured folder, and returns at once.
   * @throws AppError not_found; invalid_state while another backup is verified
   */
  begin(name: string): Promise<void>;
};

/** Returns the verifications of a daemon. A running one ends when `signal` is aborted. */
export function createVerifications(
  { clock, config, log }: Pick<App, 'clock' | 'config' | 'log'>,
  signal: AbortSignal,
): Verifications {
  let last: BackupRun | null = null;

  async function verify({ name, path }: FoundBackup): Promise<void> {
    const run = { ...beginRun(clock), backup: name };
    last = run;
    try {
      const options = { module: 'verify-thread', signal };
      const { findings, isOpened } = await runInThread<string, Verified>(clock, path, options);
      const problems = findings.map(({ path: file, problem }) => `${file}: ${problem}`);
      last = { ...run, endedAt: clock.now(), problems, isOpened };
      if (problems.length > 0) log.error({ backup: path, problems }, 'a backup is damaged');
    } catch (error) {
      last = { ...run, endedAt: clock.now(), problems: [errorMessage(error)] };
    }
  }

  return {
    get last() {
      return last;
    },
    async begin(name) {
      const found = await listOwnBackups(config.dataDir, backupFolder(config));
      const backup = orNotFound(
        found.find((one) => one.name === name),
        'Backup',
      );
      if (isRunning(last)) throw new AppError('invalid_state', 'Another backup is being verified');
      void verify(backup);
    },
  };
}
