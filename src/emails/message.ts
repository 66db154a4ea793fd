/** Stores the message of an email. One pass composes it, hashes it for DKIM and for the store, and makes it durable. */
import type { App } from '../app.ts';
import type { BlobRow } from '../db/tables.ts';
import { createBodyHash } from '../mail/dkim/body-hash.ts';
import { type Composition, compose } from '../mail/message/compose.ts';

export type StoredMessage = { blob: BlobRow; headerBytes: number; bodyHash: string };

/**
 * Composes the message and stores it durably. The limits of a request keep the message below 40 MiB (api.md 1.2).
 * @throws AppError unavailable when the disk is full
 */
export async function storeMessage(
  app: Pick<App, 'blobs'>,
  composition: Composition,
): Promise<StoredMessage> {
  const { header, body } = compose(composition);
  const hash = createBodyHash();
  function* pieces() {
    yield header;
    for (const piece of body) {
      hash.update(piece);
      yield piece;
    }
  }
  const blob = await app.blobs.prepare(pieces());
  return { blob, headerBytes: header.length, bodyHash: hash.digest() };
}
