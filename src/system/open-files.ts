/** Reads how many files, connections among them, the process may have open at the same time. */
import { readFileSync } from 'node:fs';

/** Matches the limit that counts, which stands before the one to which it may be raised. */
const OPEN_FILES = /^Max open files +(\d+|unlimited)/m;

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
