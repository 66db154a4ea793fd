/** Large messages on their way from another server to a mailbox: files on the disk of the accounts, which link to them. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileWriter, pathOf } from '../blobs/files.ts';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { MAX_RECORD_BYTES } from './transfer/records.ts';

/** Returns the folder of all spools. It is beside those of the accounts, so that an import brings no folder of a deleted mailbox back. */
function spoolRoot(dataDir: string): string {
  return join(dataDir, 'mailboxes', 'imports');
}

/** Returns the folder of the large messages of an import. */
export function spoolFolder(dataDir: string, id: MailboxImportRow['id']): string {
  return join(spoolRoot(dataDir), id);
}

/** Removes the spools that a crash has left, those of deleted imports among them. No import runs yet. */
export async function clearSpools(dataDir: string): Promise<void> {
  await rm(spoolRoot(dataDir), { recursive: true, force: true });
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

  /** Removes all files, those that an earlier run has left among them. */
  async clear(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
