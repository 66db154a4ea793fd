/**
 * Reads the content of a message as it arrives: it is normalized and stored at the same time, and never completely in
 * memory when it is large.
 */
import type { App } from '../app.ts';
import type { BlobRow } from '../db/tables.ts';
import { LineEnds } from '../mail/message/crlf.ts';
import { type HeaderExcess, MAX_RECEIVED_FIELDS, Normalizer } from '../mail/message/normalize.ts';
import { asBuffer } from '../mail/smtp/body.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import type { Reservation } from '../system/guards/byte-budget.ts';
import { requireReserve } from '../system/guards/overload.ts';

export type ReceivedContent = {
  /** The bytes as they are stored. The caller commits or discards them. */
  blob: BlobRow;
  /** Header fields of `STORED_FIELDS`, by name in lower case: the first of each, unfolded and not decoded. */
  fields: ReadonlyMap<string, string>;
};

/** Header fields that the row of a message and the signs of spam need. */
const STORED_FIELDS: ReadonlySet<string> = new Set([
  'date',
  'from',
  'subject',
  'message-id',
  'in-reply-to',
  'references',
]);

/** Statuses: X.6.0 is a problem of the content, X.4.6 a loop (RFC 3463 sections 3.7 and 3.5). */
const EXCESS_REPLIES: Readonly<Record<HeaderExcess, Reply & { text: string }>> = {
  header_bytes: { code: 550, status: '5.6.0', text: 'The header of the message is too large' },
  header_lines: { code: 550, status: '5.6.0', text: 'The header of the message has too many lines' },
  received_fields: {
    code: 554,
    status: '5.4.6',
    text: `The message loops: it has more than ${MAX_RECEIVED_FIELDS} Received fields`,
  },
};

type Reading = {
  /** Keys of the recipients; undefined for mail that a mail server of this machine hands over (own-fields.ts). */
  recipients: ReadonlySet<string> | undefined;
  /** Maximum size of the message, in bytes. */
  maxBytes: number;
  /** Called with each piece before fields are removed, for signatures; its lines end with CRLF. */
  onPiece: (piece: Uint8Array) => void;
};

/**
 * Reads and stores a message. Large bytes are durable when it resolves. After an error no bytes stay behind. Nothing is read while the
 * free space of the disk is below its reserve. A message that is being read is then given up, because many large ones together could
 * use up the reserve.
 *
 * @param memory counts the bytes that are held until the message is committed
 * @throws RefusedMessage; AppError unavailable, when the message cannot be stored; any error of `body`
 */
export async function readContent(
  app: Pick<App, 'blobs' | 'config' | 'disk'>,
  body: AsyncIterable<Uint8Array>,
  { memory, recipients, ...reading }: Reading & { memory: Reservation },
): Promise<ReceivedContent> {
  const normalizer = new Normalizer({ authservId: app.config.hostname, recipients, keep: STORED_FIELDS });
  const pieces = normalize(app, body, { normalizer, ...reading });
  const blob = await app.blobs.prepare(pieces, (bytes) => memory.take(bytes));
  return { blob, fields: normalizer.kept };
}

async function* normalize(
  { disk }: Pick<App, 'disk'>,
  body: AsyncIterable<Uint8Array>,
  { normalizer, maxBytes, onPiece }: Omit<Reading, 'recipients'> & { normalizer: Normalizer },
): AsyncGenerator<Buffer> {
  requireReserve(disk);
  const lineEnds = new LineEnds();
  let sizeBytes = 0;
  for await (const bytes of body) {
    requireReserve(disk);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw new RefusedMessage(tooLarge(maxBytes));
    const piece = lineEnds.next(asBuffer(bytes));
    onPiece(piece);
    const stored = normalizer.next(piece);
    if (normalizer.excess) throw new RefusedMessage(EXCESS_REPLIES[normalizer.excess]);
    yield* stored;
  }
  yield* normalizer.end();
}

/** X.3.4 is a message that is too large (RFC 3463 section 3.4). */
function tooLarge(maxBytes: number): Reply & { text: string } {
  const text = `The message is too large: one of its recipients takes at most ${maxBytes} bytes`;
  return { code: 552, status: '5.3.4', text };
}
