/** Runs the commit that names stored bytes, and handles their files when it fails. */
import type { BlobRow } from '../db/tables.ts';
import { AppError } from '../system/errors.ts';
import type { Blobs } from './blobs.ts';
import type { StoredBytes } from './store.ts';

/**
 * Runs `commit`. After a refusal it is certain that no row names the bytes, so their files are deleted at once. After
 * any other error the commit may have reached the disk, so the files stay; the sweep removes them later if no row names
 * them.
 */
export async function discardOnRefusal<Result>(
  blobs: Pick<Blobs, 'discard'>,
  stored: readonly BlobRow[],
  commit: () => Promise<Result>,
): Promise<Result> {
  try {
    return await commit();
  } catch (error) {
    if (error instanceof AppError) await discardAll(blobs, stored);
    throw error;
  }
}

/** Discards the files of the blobs, one after another. */
export async function discardAll(
  blobs: Pick<Blobs, 'discard'>,
  stored: readonly StoredBytes[],
): Promise<void> {
  for (const blob of stored) await blobs.discard(blob);
}
