/** Makes the backups of this process, one at a time, and knows how old the newest one is. */
import type { App } from '../app.ts';
import type { Config } from '../config/config.ts';
import { sleep } from '../system/clock.ts';
import { AppError, errorMessage } from '../system/errors.ts';
import { createCopies } from './copies.ts';
import { type BackupApp, createBackup, type MadeBackup } from './create.ts';
import { explainFolderError } from './folder-error.ts';
import { backupFolder, listOwnBackups } from './format.ts';
import { type BackupRun, beginRun, isRunning } from './run.ts';
import { isSamePath } from './same-path.ts';
import { createVerifications, type Verifications } from './verifications.ts';

/** A backup, and why it was not copied off this host; null when it was, or is not to be. */
export type CopiedBackup = MadeBackup & { copyFailure: string | null };

export type Backups = {
  /**
   * Makes a backup in the configured folder, or in another one.
   * @throws the errors of `createBackup`; AppError invalid_state while another backup is made, and in a restored installation for
   * the folder that it shares with another one
   */
  create(folder?: string): Promise<CopiedBackup>;
  /**
   * Makes a backup in a folder of the data directory, as the base of a standby. It is not copied off this host.
   * @throws the errors of `createBackup`; AppError invalid_state while another backup is made
   */
  makeBase(folder: string): Promise<MadeBackup>;
  /**
   * Begins a backup in the configured folder, and returns at once. `lastMade` shows how far it is.
   * @throws AppError invalid_state, as `create` does
   */
  begin(): void;
  /** The last backup since the daemon has started; null when there was none. */
  readonly lastMade: BackupRun | null;
  readonly verifications: Verifications;
  /** Ends a verification and the program that copies a backup, and waits for a backup that is made, at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** Returns the backups of a daemon, or of a command when none runs. */
export function createBackups(app: BackupApp & Pick<App, 'egress' | 'metrics'>): Backups {
  const { clock, config, metrics } = app;
  const stopping = new AbortController();
  const copies = createCopies(app, stopping.signal);
  let lastMade: BackupRun | null = null;
  /** Resolves when no backup is made. */
  let making: Promise<unknown> = Promise.resolve();
  metrics.gauge(
    'backup_age_seconds',
    'Age of the newest backup in the configured folder; -1 when there is none that can be read.',
    () => ageSeconds(config, clock.now()),
  );
  const ended = metrics.counter('backups_total', 'Backups that were made or have failed.', ['outcome']);

  /** @throws AppError invalid_state */
  function requirePossible(folder: string): void {
    const { folder: shared } = config.backup;
    if (app.egress.isHeld && shared !== '' && isSamePath(folder, shared))
      throw new AppError(
        'invalid_state',
        `This installation was restored, and ${folder} may be that of the one that it is a copy of: name another folder, or release it`,
      );
    if (isRunning(lastMade)) throw new AppError('invalid_state', 'Another backup is being made');
  }

  async function make(folder: string): Promise<CopiedBackup> {
    const run = beginRun(clock);
    lastMade = run;
    try {
      const made = await createBackup(app, folder);
      ended.inc({ outcome: 'made' });
      const { files, bytes, tookMs } = made.facts;
      app.log.info({ backup: made.path, files, bytes, tookMs }, 'a backup was made');
      const copyFailure = await copies.copyOff(made);
      if (copyFailure !== null) ended.inc({ outcome: 'not_copied' });
      const problems = copyFailure === null ? [] : [copyFailure];
      lastMade = { ...run, backup: made.name, endedAt: clock.now(), problems };
      return { ...made, copyFailure };
    } catch (cause) {
      const error = explainFolderError(cause, folder);
      ended.inc({ outcome: 'failed' });
      lastMade = { ...run, endedAt: clock.now(), problems: [errorMessage(error)] };
      throw error;
    }
  }

  return {
    get lastMade() {
      return lastMade;
    },
    verifications: createVerifications(app, stopping.signal),
    async stop(graceMs) {
      stopping.abort();
      await copies.ended();
      if (isRunning(lastMade)) await Promise.race([making, sleep(clock, graceMs)]);
    },
    async create(folder = backupFolder(config)) {
      requirePossible(folder);
      return make(folder);
    },
    async makeBase(folder) {
      requirePossible(folder);
      const run = beginRun(clock);
      lastMade = run;
      try {
        const made = await createBackup(app, folder);
        lastMade = { ...run, backup: made.name, endedAt: clock.now() };
        return made;
      } catch (error) {
        lastMade = { ...run, endedAt: clock.now(), problems: [errorMessage(error)] };
        throw error;
      }
    },
    begin() {
      const folder = backupFolder(config);
      requirePossible(folder);
      making = make(folder).catch((err: unknown) => app.log.error({ err }, 'the backup failed'));
    },
  };
}

async function ageSeconds(config: Config, now: number): Promise<number> {
  // A folder that cannot be read must not keep all other metrics from being shown.
  const found = await listOwnBackups(config.dataDir, backupFolder(config)).catch(() => []);
  const newest = found.at(-1);
  return newest ? Math.max(0, Math.round((now - newest.facts.takenAt) / 1_000)) : -1;
}
