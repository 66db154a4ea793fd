/**
 * Stores the message of an email. Its texts are packed, except a generated one, and the message is composed from them
 * when it is sent. Only files are encoded now and made durable as a blob.
 */
import type { App } from '../app.ts';
import type { BlobRow, MessageRow } from '../db/tables.ts';
import { createBodyHash } from '../mail/dkim/body-hash.ts';
import type { Calendar } from '../mail/message/calendar.ts';
import {
  COMPOSER_VERSION,
  composeBody,
  type MessageFields,
  TEXTS_END,
  writeMessageFields,
} from '../mail/message/compose.ts';
import { type Attachment, calendarPart, fileParts } from '../mail/message/file-part.ts';
import type { TextOrigin } from '../mail/message/html-text.ts';
import { type NewSource, type Pack, textBytes } from '../queue/contents/source.ts';
import { instrument, type Tracked } from '../tracking/links/instrument.ts';

type Composition = MessageFields & {
  text: string | undefined;
  /** The origin of `text` when it was generated from `html`; the text is then not stored. */
  generated: TextOrigin | undefined;
  html: string | undefined;
  amp: string | undefined;
  calendar: Calendar | undefined;
  attachments: readonly Attachment[];
  boundarySeed: string;
  /** How the HTML is tracked, with the tokens of this email; undefined when it is not. */
  tracked: Tracked | undefined;
  /** Packs the texts, or leaves them to the write that stores them. */
  pack: Pack;
  /** True when the texts differ for each reader, so that the body is known only when it is sent. */
  isForReaders: boolean;
};

export type StoredMessage = {
  source: NewSource;
  /** Size of the texts in bytes. */
  textBytes: number;
  blob: BlobRow | undefined;
  columns: Pick<MessageRow, 'blobId' | 'headerBytes' | 'bodyHash' | 'composer' | 'fields' | 'mergeValues'>;
};

/**
 * Packs the texts of the message and stores its files durably. The limits of a request keep the message below 40 MiB.
 * @throws AppError unavailable when the disk is full
 */
export async function storeMessage(app: Pick<App, 'blobs'>, given: Composition): Promise<StoredMessage> {
  const { html, text, amp, calendar, generated, attachments, pack, tracked } = given;
  const files = [
    ...fileParts(attachments, html !== undefined),
    ...(calendar ? [calendarPart(calendar)] : []),
  ];
  const texts = {
    ...(html !== undefined && { html }),
    ...(generated ? { generated } : text !== undefined && { text }),
    ...(amp !== undefined && { amp }),
    ...(calendar && { calendar }),
    ...(files.length > 0 && { files: files.map(({ placement }) => placement) }),
    ...(tracked && { tracking: tracked.tracking }),
  };
  const sizes = { textBytes: textBytes(texts) };
  const source = await pack(texts);
  const fields = writeMessageFields(given);
  const rendered = { headerBytes: 0, composer: COMPOSER_VERSION, fields, mergeValues: null };
  if (files.length === 0)
    return { source, ...sizes, blob: undefined, columns: { ...rendered, blobId: null, bodyHash: '' } };
  const sent = tracked && html !== undefined ? { ...given, html: instrument(html, tracked) } : given;
  const { blob, bodyHash } = await storeFiles(app, composeBody(sent, files).pieces);
  const hash = given.isForReaders ? '' : bodyHash;
  return { source, ...sizes, blob, columns: { ...rendered, blobId: blob.id, bodyHash: hash } };
}

/** Stores the files of a body. Returns the hash of the whole body for DKIM. */
async function storeFiles(
  app: Pick<App, 'blobs'>,
  body: Iterable<Buffer>,
): Promise<{ blob: BlobRow; bodyHash: string }> {
  const hash = createBodyHash();
  function* stored() {
    let isText = true;
    for (const piece of body) {
      hash.update(piece);
      if (!isText) yield piece;
      else isText = piece !== TEXTS_END;
    }
  }
  const blob = await app.blobs.prepare(stored());
  return { blob, bodyHash: hash.digest() };
}
