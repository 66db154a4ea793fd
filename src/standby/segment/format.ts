/**
 * The form of a segment: an age file of a zstd stream of a tar archive. Its entries are the changed pages of databases (`pages/` and the
 * path of the database), files (`files/` and their path), and last the cut (`cut.json`). Paths begin in the data directory.
 */
import { isInside } from '../../backups/sums.ts';

export const PAGES = 'pages/';
export const FILES = 'files/';
export const CUT_FILE = 'cut.json';

/**
 * Maximum size of the archive in a segment, in bytes: 64 GiB. Whoever knows the public key can make a small file of an endless archive. The
 * writer keeps to it too: a segment that nobody can read would end the chain.
 */
export const MAX_ARCHIVE_BYTES = 2 ** 36;
/** Maximum size of a cut, in bytes. */
export const MAX_CUT_BYTES = 4_096;
/** Maximum size of the window of zstd, as a power of two: 8 MiB. The levels that write segments need less. */
export const MAX_WINDOW_LOG = 23;

/** Matches the main database, and the database of an account (accounts/folder.ts). */
const DATABASE = /^(?:postrider\.db|mailboxes\/mbx_[A-Za-z0-9]+\/index\.db)$/;
/** Matches all files of databases and of the lock. They are no files of a segment. */
const FILE_OF_DATABASE = /(?:^|\/)(?:postrider|index|lock)\.db[^/]*$/;

/** Matches what a host notes about itself, such as who it is to others. Nobody who can make a segment may decide that. */
const OF_THE_HOST =
  /^(?:standby|backups|restore|restore\.json|restored\.json|control\.sock|replaced-[^/]*|scratch-[^/]*)(?:\/|$)/;

/** Returns true for the path of a database that segments have pages of. */
export function isDatabasePath(path: string): boolean {
  return DATABASE.test(path);
}

/** Returns true for the path of a file that a segment may have. */
export function isFilePath(path: string): boolean {
  return isInside(path) && !FILE_OF_DATABASE.test(path) && !OF_THE_HOST.test(path);
}
