/** Explains why a backup cannot be written, where the error of the file system alone does not say what to do. */
import { AppError, errorCode } from '../system/errors.ts';

/** Returns the refusal of a folder on a file system that the daemon may only read, and any other error as it is. */
export function explainFolderError(error: unknown, folder: string): unknown {
  if (errorCode(error) !== 'EROFS') return error;
  return new AppError(
    'invalid_state',
    `${folder} cannot be written, because its file system is read-only for the daemon (EROFS). The unit of systemd lets it write to its data directory alone: name the folder in ReadWritePaths= of a drop-in ("systemctl edit postrider")`,
    { cause: error },
  );
}
