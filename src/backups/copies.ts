/** Copies the backups off this host by the program of the operator, and remembers how the last copy has ended. */
import { join } from 'node:path';
import type { App } from '../app.ts';
import { HeldEgressError } from '../system/egress.ts';
import { runCopyCommand } from './copy-command.ts';
import type { MadeBackup } from './create.ts';
import { backupFolder } from './format.ts';
import { type LastCopy, writeLastCopy } from './last-copy.ts';

type Copies = {
  /** Copies a backup in the configured folder. Returns why it has failed; null when it has not, or when there is no program. */
  copyOff(backup: MadeBackup): Promise<string | null>;
  /** Resolves when the program has ended. */
  ended(): Promise<void>;
};

/** Returns the copies of a daemon. The program ends when `signal` is aborted. */
export function createCopies(
  { clock, config, egress, log }: Pick<App, 'clock' | 'config' | 'egress' | 'log'>,
  signal: AbortSignal,
): Copies {
  let copying: Promise<string | null> | undefined;

  function remember(copy: LastCopy): void {
    try {
      writeLastCopy(config.dataDir, copy);
    } catch (error) {
      // A full disk must not keep a backup from being copied off it.
      log.error({ err: error }, 'how the copy of a backup has ended was not recorded');
    }
  }

  /** Runs the program of the operator, and remembers how it has ended. */
  async function runCommand(backup: string, path: string): Promise<string | null> {
    const { command, commandMinutes } = config.backup;
    const started = { backup, startedAt: clock.now() };
    remember({ ...started, endedAt: null, failure: null });
    const timeoutMs = commandMinutes * 60_000;
    const failure = await runCopyCommand({ clock, command, backup: path, timeoutMs, signal });
    remember({ ...started, endedAt: clock.now(), failure });
    return failure;
  }

  return {
    async copyOff({ name, path }) {
      const { command } = config.backup;
      if (command.length === 0 || path !== join(backupFolder(config), name)) return null;
      // The copies of the installation that this one was restored from may be in the same place.
      copying = egress.isHeld ? Promise.resolve(new HeldEgressError().message) : runCommand(name, path);
      const failure = await copying;
      if (failure !== null)
        log.error({ backup: path, reason: failure }, 'a backup was not copied off this host');
      return failure;
    },
    async ended() {
      await copying;
    },
  };
}
