/** Explains errors of the file system about a path that the operator has named. */
import { errorCode } from '../system/errors.ts';

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'this user may not open it',
  EPERM: 'this user may not change it',
  ENOTDIR: 'a part of the path is a file, not a directory',
  EISDIR: 'it is a directory, not a file',
  EEXIST: 'there is a file with this name',
  ELOOP: 'the symbolic links of the path lead in a circle',
  ENAMETOOLONG: 'a name in the path is too long',
  EROFS: 'its file system can only be read',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
};

/** Returns a message such as `/mail/old.mbox: there is no such file or directory`; undefined for any other error. */
export function explainFileError(error: unknown): string | undefined {
  const cause = new Map(Object.entries(CAUSES)).get(errorCode(error) ?? '');
  if (cause === undefined || !(error instanceof Error) || !('path' in error)) return undefined;
  return `${String(error.path)}: ${cause}`;
}
