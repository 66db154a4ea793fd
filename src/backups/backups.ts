/** Makes the backups of this process, one at a time, and knows how old the newest one is. */
import { join, resolve } from 'node:path';
import type { App } from '../app.ts';
import { HeldEgressError } from '../system/egress.ts';
import { AppError } from '../system/errors.ts';
import { runCopyCommand } from './copy-command.ts';
import { type BackupApp, createBackup, type MadeBackup } from './create.ts';
import { backupFolder, listOwnBackups } from './format.ts';
import { type LastCopy, writeLastCopy } from './last-copy.ts';

/** A backup, and why it was not copied off this host; null when it was, or is not to be. */
export type CopiedBackup = MadeBackup & { copyFailure: string | null };

export type Backups = {
  /**
   * Makes a backup in the configured folder, or in another one.
   * @throws the errors of `createBackup`; AppError invalid_state while another backup is made, and in a restored installation for
   * the folder that it shares with another one
   */
  create(folder?: string): Promise<CopiedBackup>;
  /** Ends the program that copies a backup, and waits until it has ended. */
  stop(): Promise<void>;
};

/** Returns the backups of a daemon, or of a command when none runs. */
export function createBackups(app: BackupApp & Pick<App, 'egress' | 'metrics'>): Backups {
  const { clock, config, metrics } = app;
  const stopping = new AbortController();
  let copying: Promise<string | null> | undefined;
  let isMaking = false;
  metrics.gauge(
    'backup_age_seconds',
    'Age of the newest backup in the configured folder; -1 when there is none that can be read.',
    async () => {
      // Without this, a folder that cannot be read would keep all other metrics from being shown.
      const found = await listOwnBackups(config.dataDir, backupFolder(config)).catch(() => []);
      const newest = found.at(-1);
      return newest ? Math.max(0, Math.round((clock.now() - newest.facts.takenAt) / 1_000)) : -1;
    },
  );
  const ended = metrics.counter('backups_total', 'Backups that were made or have failed.', ['outcome']);

  /** Copies a backup in the configured folder. */
  async function copyOff({ name, path }: MadeBackup): Promise<string | null> {
    const { command } = config.backup;
    if (command.length === 0 || path !== join(backupFolder(config), name)) return null;
    // The copies of the installation that this one was restored from may be in the same place.
    copying = app.egress.isHeld ? Promise.resolve(new HeldEgressError().message) : runCommand(name, path);
    const failure = await copying;
    if (failure !== null) {
      ended.inc({ outcome: 'not_copied' });
      app.log.error({ backup: path, reason: failure }, 'a backup was not copied off this host');
    }
    return failure;
  }

  function remember(copy: LastCopy): void {
    try {
      writeLastCopy(config.dataDir, copy);
    } catch (error) {
      // A full disk must not keep a backup from being copied off it.
      app.log.error({ err: error }, 'how the copy of a backup has ended was not recorded');
    }
  }

  /** Runs the program of the operator, and remembers how it has ended. */
  async function runCommand(backup: string, path: string): Promise<string | null> {
    const { command, commandMinutes } = config.backup;
    const started = { backup, startedAt: clock.now() };
    remember({ ...started, endedAt: null, failure: null });
    const timeoutMs = commandMinutes * 60_000;
    const failure = await runCopyCommand({
      clock,
      command,
      backup: path,
      timeoutMs,
      signal: stopping.signal,
    });
    remember({ ...started, endedAt: clock.now(), failure });
    return failure;
  }

  return {
    async stop() {
      stopping.abort();
      await copying;
    },
    async create(folder = backupFolder(config)) {
      const { folder: shared } = config.backup;
      if (app.egress.isHeld && shared !== '' && resolve(folder) === resolve(shared))
        throw new AppError(
          'invalid_state',
          `This installation was restored, and ${folder} may be that of the one that it is a copy of: name another folder, or release it`,
        );
      if (isMaking) throw new AppError('invalid_state', 'Another backup is being made');
      isMaking = true;
      try {
        const made = await createBackup(app, folder);
        ended.inc({ outcome: 'made' });
        const { files, bytes, tookMs } = made.facts;
        app.log.info({ backup: made.path, files, bytes, tookMs }, 'a backup was made');
        return { ...made, copyFailure: await copyOff(made) };
      } catch (error) {
        ended.inc({ outcome: 'failed' });
        throw error;
      } finally {
        isMaking = false;
      }
    },
  };
}
