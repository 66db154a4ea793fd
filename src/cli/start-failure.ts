/**
 * Explains in one line the errors that keep the daemon or a command from starting and that the operator can fix: an
 * address that cannot be listened on, a disk that is full or fails, a damaged database, or a data directory that
 * cannot be used, most often because another user made it or a file in it.
 */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { environmentName } from '../config/environment.ts';
import { adviseOnStorage, fileOf } from '../db/storage-advice.ts';
import { recogniseQuota } from '../db/storage-failure.ts';
import { errorCode } from '../system/errors.ts';
import { isListenError, type ListenError } from '../system/listen.ts';
import { CommandError } from './errors.ts';

/** Matches the codes of the file system, and those of SQLite for the same problems. */
const UNUSABLE = /^(EACCES|EPERM|EROFS|EEXIST|ENOTDIR|SQLITE_CANTOPEN|SQLITE_READONLY)/;

/** Returns a CommandError for such an error; any other error unchanged. */
export function explainStartFailure(error: unknown, { dataDir }: Pick<Config, 'dataDir'>): unknown {
  if (isListenError(error)) return new CommandError(adviseOnListening(error), { cause: error });
  const code = errorCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const file = fileOf(error) ?? join(dataDir, 'postrider.db');
  const advice = adviseOnStorage(recogniseQuota(error, file), file);
  if (advice !== undefined) return new CommandError(advice, { cause: error });
  if (!UNUSABLE.test(code) && !cannotHoldDirectories(error, code)) return error;
  return new CommandError(
    `cannot use the data directory ${dataDir} (${error.message}): start as the user it belongs to, or set POSTRIDER_DATA_DIR (dataDir)`,
    { cause: error },
  );
}

/** Returns true when the file system, such as `/proc`, knows no new directories. */
function cannotHoldDirectories(error: object, code: string): boolean {
  return code === 'ENOENT' && 'syscall' in error && error.syscall === 'mkdir';
}

/** Matches the name of a listener on the second port of a section, such as `submission_tls`, whose setting is `submission.tlsPort`. */
const SECOND_PORT = /^(.+)_(tls|starttls)$/;

function adviseOnListening({ section, code, message }: ListenError): string {
  const [, name = section, variant] = SECOND_PORT.exec(section) ?? [];
  const [port, address] = [variant === undefined ? 'port' : `${variant}Port`, 'address'].map(
    (key) => `${environmentName([name, key])} (${name}.${key})`,
  );
  switch (code) {
    case 'EADDRINUSE':
      return `${message}: stop it, or set ${port}`;
    case 'EACCES':
    case 'EPERM':
      return `${message}: set ${port}, or grant CAP_NET_BIND_SERVICE, as the systemd unit does`;
    default:
      return `${message}: set ${address} and ${port}`;
  }
}
