/**
 * Explains in one line the errors that keep the daemon or a command from starting and that the operator can fix: an
 * address that cannot be listened on, a disk that is full or fails, a damaged database, or a data directory that
 * cannot be used, most often because another user made it or a file in it.
 */
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { adviseOnStorage, fileOf } from '../db/storage-advice.ts';
import { recogniseQuota } from '../db/storage-failure.ts';
import { errorCode } from '../system/errors.ts';
import { CommandError } from './errors.ts';

/** Matches the codes of the file system, and those of SQLite for the same problems. */
const UNUSABLE = /^(EACCES|EPERM|EROFS|EEXIST|ENOTDIR|SQLITE_CANTOPEN|SQLITE_READONLY)/;

/** Returns a CommandError for such an error; any other error unchanged. */
export function explainStartFailure(
  error: unknown,
  { http, dataDir }: Pick<Config, 'http' | 'dataDir'>,
): unknown {
  const code = errorCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const message = 'syscall' in error && error.syscall === 'listen' ? ofListening(code, http) : undefined;
  if (message !== undefined) return new CommandError(message, { cause: error });
  const file = fileOf(error) ?? join(dataDir, 'postrider.db');
  const advice = adviseOnStorage(recogniseQuota(error, file), file);
  if (advice !== undefined) return new CommandError(advice, { cause: error });
  if (!UNUSABLE.test(code)) return error;
  return new CommandError(
    `cannot use the data directory ${dataDir} (${error.message}): start as the user it belongs to, or set POSTRIDER_DATA_DIR (dataDir)`,
    { cause: error },
  );
}

function ofListening(code: string, { address, port }: Config['http']): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${address} is in use by another program: stop it, or set POSTRIDER_HTTP_PORT (http.port)`;
    case 'EADDRNOTAVAIL':
    case 'EACCES':
      return `cannot listen on port ${port} of ${address} (${code}): set POSTRIDER_HTTP_ADDRESS and POSTRIDER_HTTP_PORT`;
    default:
      return undefined;
  }
}
