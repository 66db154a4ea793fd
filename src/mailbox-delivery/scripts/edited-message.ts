/** Puts messages together whose header a script has edited (RFC 5293). */
import type { Blobs } from '../../blobs/blobs.ts';
import type { BlobRow } from '../../db/tables.ts';
import { readFieldLines } from '../../mail/message/header-block.ts';
import type { ScriptedMessage } from './delivery.ts';

/** The bytes of a message with other headers than its own, each of them written once and never held whole. */
export class EditedMessages {
  readonly #blobs: Pick<Blobs, 'prepare'>;
  readonly #message: Pick<ScriptedMessage, 'content' | 'header'>;
  readonly #rows = new Map<string, BlobRow>();

  constructor(blobs: Pick<Blobs, 'prepare'>, message: Pick<ScriptedMessage, 'content' | 'header'>) {
    this.#blobs = blobs;
    this.#message = message;
  }

  /** The blobs that were prepared. The caller discards those that no row names. */
  get rows(): BlobRow[] {
    return [...this.#rows.values()];
  }

  /**
   * Prepares the message with this header, which ends with its empty line. Returns the same blob for the same header.
   * @throws the errors of `Blobs.prepare`; DamagedBlobError
   */
  async prepare(header: Buffer): Promise<BlobRow> {
    const key = header.toString('base64');
    const row = this.#rows.get(key) ?? (await this.#blobs.prepare(piecesOf(this.#message, header)));
    this.#rows.set(key, row);
    return row;
  }
}

/** Yields the message with another header. */
async function* piecesOf(
  { content, header }: Pick<ScriptedMessage, 'content' | 'header'>,
  edited: Buffer,
): AsyncGenerator<Uint8Array> {
  yield edited;
  let skippedBytes = header.length;
  for await (const chunk of content.chunks()) {
    yield chunk.subarray(Math.min(skippedBytes, chunk.length));
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
}

/** Fields of which a message has one (RFC 5322 section 3.6), and that say who wrote it. Where there are two, programs show different ones. */
const ORIGIN = ['date', 'from', 'message-id', 'sender'];

/** Returns true when an edited header names its origin more often than the one that was received. */
export function repeatsOrigin(edited: Buffer, received: Buffer): boolean {
  const [now, before] = [countNames(edited), countNames(received)];
  return ORIGIN.some((name) => (now.get(name) ?? 0) > Math.max(before.get(name) ?? 0, 1));
}

function countNames(header: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of readFieldLines(header, { start: 0, end: header.length }))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/**
 * Returns an edited header without the fields that were added when the message was received. A script cannot change them, but other
 * fields may stand between them.
 */
export function withoutPrefix(edited: Buffer, prefix: string): Buffer {
  const added = linesOf(Buffer.from(prefix));
  const kept = linesOf(edited).filter((lines) => {
    const index = added.findIndex((other) => other.equals(lines));
    if (index >= 0) added.splice(index, 1);
    return index < 0;
  });
  return Buffer.concat(kept);
}

function linesOf(header: Buffer): Buffer[] {
  return Array.from(readFieldLines(header, { start: 0, end: header.length }), ({ start, end }) =>
    header.subarray(start, end),
  );
}
