/** Runs the operator's program that copies a backup off this host. */
import { execFile } from 'node:child_process';
import { errorMessage } from '../system/errors.ts';

/** Maximum time of a copy, in milliseconds: a day, after which the next backup is due. */
const MAX_COPY_MS = 86_400_000;
/** Maximum size of what the program may print. A program that prints more is ended. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Maximum number of characters of what it has printed that are shown. */
const MAX_SHOWN_CHARACTERS = 500;
/** The program finds other programs here. It inherits nothing from the daemon. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Runs the program, without a shell, and returns why it has failed; null when it has ended with 0. The variable BACKUP_PATH has the path
 * of the backup.
 */
export function runCopyCommand(
  [program = '', ...args]: readonly string[],
  backup: string,
): Promise<string | null> {
  const options = {
    env: { PATH, BACKUP_PATH: backup },
    timeout: MAX_COPY_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, _output, errors) => {
      if (!error) return resolve(null);
      const said = errors.trim().slice(-MAX_SHOWN_CHARACTERS);
      const reason =
        typeof error.code === 'number' ? `${program} has ended with ${error.code}` : errorMessage(error);
      resolve(said === '' ? reason : `${reason}: ${said}`);
    });
    child.stdin?.end();
  });
}
