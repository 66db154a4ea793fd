/**
 * Says how many files, connections among them, the process may have open at the same time, and shares them out. A connection for which no
 * file is left is closed without a reply, and the database and the spool fail.
 */
import { readFileSync } from 'node:fs';

/** Matches the limit that counts, which stands before the one to which it may be raised. */
const OPEN_FILES = /^Max open files +(\d+|unlimited)/m;

/**
 * Shares of the files of the process: those of the connections of each protocol, on all its ports together, and those of open mailboxes. The
 * rest is for the messages that connections bring, the database, the HTTP API and deliveries.
 */
export const FILE_SHARES = {
  smtp: 0.2,
  submission: 0.08,
  imap: 0.27,
  pop3: 0.03,
  managesieve: 0.03,
  mailboxes: 0.2,
} as const;

/** Returns how many files a protocol, or the mailboxes, may use. @param maxOpenFiles maximum number of files of the process */
export function maxFilesOf(use: keyof typeof FILE_SHARES, maxOpenFiles: number = readMaxOpenFiles()): number {
  return Math.floor(maxOpenFiles * FILE_SHARES[use]);
}

/** Returns the limit of this process; infinite when it has none, and on systems other than Linux (proc_pid_limits(5)). */
export function readMaxOpenFiles(): number {
  try {
    return parseMaxOpenFiles(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns the limit that the text of /proc/self/limits states. */
export function parseMaxOpenFiles(text: string): number {
  const limit = Number(OPEN_FILES.exec(text)?.[1]);
  return Number.isInteger(limit) ? limit : Number.POSITIVE_INFINITY;
}
