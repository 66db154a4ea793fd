/** Flushes directories: after a power cut, a file is gone if the directory that holds its name was not flushed. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';

/**
 * Flushes a file or a directory. Never call it on the database file or its `-shm`: closing a second descriptor drops
 * SQLite's locks on them.
 */
export function flushPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Flushes a directory without blocking the thread. */
export async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
