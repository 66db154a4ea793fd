/** fsync for names: a file that exists only in an unflushed directory is gone after a power cut. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Never call this on the database file or its `-shm`: closing a second descriptor drops SQLite's locks on it. */
export function flushPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
