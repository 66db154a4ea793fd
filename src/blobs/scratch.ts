/**
 * Files for bytes that can be made again, such as those of a message on its way to a slow peer, which would cost memory
 * otherwise. They are not flushed, and they stand among the files that are being written, so that the sweep removes
 * those that a crash leaves behind.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { checkedChunks } from './check.ts';
import { DamagedBlobError } from './damaged.ts';
import { FileWriter } from './files.ts';

export type ScratchFile = {
  sizeBytes: number;
  /**
   * Yields all bytes in order.
   * @throws Error with the code ENOENT before the first byte, when the file no longer exists
   * @throws Error before the last bytes, when the file holds other bytes than were written; it is then removed
   */
  chunks(): AsyncGenerator<Buffer>;
  /** Removes the file. Whoever reads it already can read it to its end. */
  remove(): Promise<void>;
};

/**
 * Writes the pieces to a file.
 * @throws AppError unavailable, when the disk is full or the file cannot be written; any error of `pieces`
 */
export async function writeScratch(root: string, pieces: Iterable<Buffer>): Promise<ScratchFile> {
  const file = await FileWriter.open(root);
  try {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for (const piece of pieces) {
      hash.update(piece);
      sizeBytes += piece.length;
      await file.write(piece);
    }
    return scratchFile(await file.keep(), { sizeBytes, sha256: hash.digest('hex') });
  } finally {
    await file.close();
  }
}

function scratchFile(path: string, facts: { sizeBytes: number; sha256: string }): ScratchFile {
  const remove = () => rm(path, { force: true });
  return {
    sizeBytes: facts.sizeBytes,
    remove,
    async *chunks() {
      try {
        yield* checkedChunks(path, facts);
      } catch (error) {
        if (!(error instanceof DamagedBlobError)) throw error;
        await remove();
        // No stored bytes are damaged: they can be made again.
        throw new Error(`${path} holds other bytes than were written`, { cause: error });
      }
    },
  };
}
