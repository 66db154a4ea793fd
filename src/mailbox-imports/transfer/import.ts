/**
 * Imports an archive in batches. A batch that was stored is not sent again when the same archive is imported once more, so an import
 * that was interrupted goes on where it ended.
 */
import { createHash } from 'node:crypto';
import type { ArchivedMessage } from '../archive/message.ts';
import { BATCH_BYTES, type ImportRecord, MAX_MESSAGES } from './admin-api.ts';
import { MAX_RECORD_BYTES, writeRecord } from './records.ts';

/** Numbers of messages. `tooLarge` ones were left out. */
export type ImportProgress = { read: number; readBytes: number; added: number; tooLarge: number };

/** The mailbox that takes the messages. */
export type ImportTarget = {
  findMissing(deliveryIds: readonly string[]): Promise<readonly string[]>;
  add(body: Iterable<Buffer>): Promise<{ added: number }>;
};

type Waiting = { record: ImportRecord; content: Buffer };

/**
 * Imports messages, and calls `onProgress` after each batch. Returns the final numbers.
 * @throws any error of the archive and of the target; everything that was added before stays
 */
export async function importMessages(
  target: ImportTarget,
  messages: AsyncIterable<ArchivedMessage>,
  onProgress: (progress: ImportProgress) => void,
): Promise<ImportProgress> {
  const progress: ImportProgress = { read: 0, readBytes: 0, added: 0, tooLarge: 0 };
  let batch: Waiting[] = [];
  let batchBytes = 0;
  const send = async () => {
    progress.added += await sendMissing(target, batch);
    batch = [];
    batchBytes = 0;
    onProgress({ ...progress });
  };
  for await (const { folder, key, flags, receivedAt, content } of messages) {
    progress.read += 1;
    const bytes = await readWhole(content);
    if (!bytes) {
      progress.tooLarge += 1;
      continue;
    }
    progress.readBytes += bytes.length;
    const record = { folder, flags, receivedAt, deliveryId: deliveryIdOf({ folder, key }, bytes) };
    batch.push({ record, content: bytes });
    batchBytes += bytes.length;
    if (batch.length === MAX_MESSAGES || batchBytes >= BATCH_BYTES) await send();
  }
  if (batch.length > 0) await send();
  return progress;
}

async function sendMissing(target: ImportTarget, batch: readonly Waiting[]): Promise<number> {
  const missing = new Set(await target.findMissing(batch.map(({ record }) => record.deliveryId)));
  const sent = batch.filter(({ record }) => missing.has(record.deliveryId));
  if (sent.length === 0) return 0;
  const { added } = await target.add(sent.flatMap(({ record, content }) => writeRecord(record, content)));
  return added;
}

/** Returns the bytes of a message; undefined when they are too many. */
async function readWhole(content: ArchivedMessage['content']): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of content) {
    sizeBytes += piece.length;
    if (sizeBytes > MAX_RECORD_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * Returns an id that is the same whenever the archive is imported. Flags are not part of it, since they may change in between, and
 * the content is, since messages of different archives can have the same key.
 */
function deliveryIdOf({ folder, key }: { folder: string; key: string }, content: Buffer): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([folder, key]))
    .update(content);
  return `import/${hash.digest('hex')}`;
}
