/** The bytes of an email, written and made durable in one pass: hashed for DKIM and for the store while they go by. */
import type { App } from '../app.ts';
import type { BlobRow } from '../db/tables.ts';
import { createBodyHash } from '../mail/dkim/body-hash.ts';
import { type Composition, compose } from '../mail/message/compose.ts';

export type StoredMessage = { blob: BlobRow; headerBytes: number; bodyHash: string };

/** The limits of a request keep it below 40 MiB (api.md 1.2). @throws AppError unavailable when the disk is full */
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
