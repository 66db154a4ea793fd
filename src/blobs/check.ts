/**
 * Compares outgoing bytes with the SHA-256 hash they were stored under: SQLite and the file system do not notice when a
 * disk changes them. The last chunk of a file is yielded only after the whole file has proved right, so that nobody
 * takes a damaged message for a complete one.
 */
import { createHash, hash } from 'node:crypto';
import type { BlobRow } from '../db/tables.ts';
import { AppError, errorCode } from '../system/errors.ts';
import { DamagedBlobError } from './damaged.ts';
import { fileChunks, fileSize, hasFiles, pathOf } from './files.ts';
import { restoreFromTrash } from './trash.ts';

type Facts = Pick<BlobRow, 'sha256' | 'sizeBytes'>;

/**
 * Checks the bytes of a blob that is stored in the database. This takes a few microseconds for a common message, and a
 * tenth of a millisecond for the largest one.
 * @throws DamagedBlobError
 */
export function checkInline({ sha256 }: Facts, bytes: Uint8Array): void {
  // An emptied blob (store.ts) has no hash.
  if (sha256 === '' || hash('sha256', bytes) === sha256) return;
  throw new DamagedBlobError('the database', `the row of blob ${sha256} holds other bytes`);
}

/**
 * Checks that the file of a blob exists and has the right size.
 * @throws DamagedBlobError when the file is missing or has another size
 * @throws AppError unavailable when all files are missing: the folder is then more likely a volume that is not
 * mounted than damaged, so the caller retries later
 */
export async function checkFile(root: string, { sha256, sizeBytes }: Facts): Promise<void> {
  const path = pathOf(root, sha256);
  try {
    const foundBytes = await findSize(root, sha256);
    if (foundBytes === sizeBytes) return;
    throw new DamagedBlobError(path, `the file has ${foundBytes} bytes instead of ${sizeBytes}`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    if (!(await hasFiles(root)))
      throw new AppError('unavailable', 'The stored message cannot be read now', {
        cause: new Error(`${root} has no files: is its volume mounted?`, { cause: error }),
        retryAfterSeconds: 30,
      });
    throw new DamagedBlobError(path, 'the file is missing', { cause: error });
  }
}

/**
 * Puts a missing file back from the trash, where a sweep under another database may have moved it. The second check
 * also covers a file that is not in the trash: another reader, or the sweep, may have put it back since the first check.
 */
async function findSize(root: string, sha256: string): Promise<number> {
  try {
    return await fileSize(root, sha256);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    restoreFromTrash(root, sha256);
    return fileSize(root, sha256);
  }
}

/**
 * Yields all bytes of the file.
 * @throws DamagedBlobError before the last chunk, when the bytes are not those that were stored
 */
export async function* checkedChunks(path: string, { sha256, sizeBytes }: Facts): AsyncGenerator<Buffer> {
  const seen = createHash('sha256');
  let leftBytes = sizeBytes;
  for await (const chunk of fileChunks(path, sizeBytes)) {
    seen.update(chunk);
    leftBytes -= chunk.length;
    if (leftBytes === 0 && seen.digest('hex') !== sha256)
      throw new DamagedBlobError(path, 'the file holds other bytes than were stored');
    yield chunk;
  }
}
