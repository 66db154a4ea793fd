/** Large messages on their way from another server to a mailbox: files on the disk of the account, which links to them. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileWriter, pathOf } from '../../blobs/files.ts';
import { MAX_RECORD_BYTES } from '../transfer/records.ts';

/** Returns the folder of the large messages that an account imports. One import of an account runs at a time. */
export function spoolFolder(accountFolder: string): string {
  return join(accountFolder, 'imports');
}

/** A durable file with a message. */
type SpooledMessage = { path: string; sha256: string; sizeBytes: number };

export class Spool {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes: number = MAX_RECORD_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /**
   * Writes a message while it arrives. Returns undefined when it is larger than any that is imported.
   * @throws AppError unavailable when the disk is full; any error of `pieces`
   */
  async write(pieces: AsyncIterable<Buffer>): Promise<SpooledMessage | undefined> {
    const file = await FileWriter.open(this.#folder);
    try {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      for await (const piece of pieces) {
        sizeBytes += piece.length;
        if (sizeBytes > this.#maxBytes) return undefined;
        hash.update(piece);
        await file.write(piece);
      }
      const sha256 = hash.digest('hex');
      await file.finish(sha256);
      return { path: pathOf(this.#folder, sha256), sha256, sizeBytes };
    } finally {
      await file.close();
    }
  }

  /** Removes all files, those that a crash has left among them. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
