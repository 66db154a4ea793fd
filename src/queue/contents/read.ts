/** Reads the source of a message together with its generated text, which is not stored but generated again. */
import type { App } from '../../app.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import type { ContentRow } from '../../db/email-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import type { SendingApp } from '../sending-app.ts';
import { fillTexts, valuesOf } from './content.ts';
import { type NewSource, type Source, unpackSource } from './source.ts';
import { findContent } from './store.ts';

type Reading = {
  tenantId: ContentRow['tenantId'];
  /** Maximum time to wait for a thread that generates text, in milliseconds. By default a few seconds. */
  waitTimeoutMs?: number;
};

export type ReadSource = Omit<Source, 'generated'> & {
  /** False when a new version of Postrider generates another text from the same HTML. */
  isUnchanged: boolean;
};

/**
 * Returns a source with its texts.
 * @throws DamagedBlobError when its bytes are not those that were stored; AppError unavailable when the text cannot be
 * generated at the moment
 */
export async function readSource(
  app: Pick<SendingApp, 'htmlText'>,
  kept: NewSource,
  { tenantId, waitTimeoutMs }: Reading,
): Promise<ReadSource> {
  const { generated, ...source } = 'source' in kept ? await unpackSource(kept) : kept;
  if (generated === undefined || source.html === undefined) return { ...source, isUnchanged: true };
  const { text, origin } = await app.htmlText.restore(source.html, {
    origin: generated,
    owner: tenantId,
    ...(waitTimeoutMs !== undefined && { waitTimeoutMs }),
  });
  const isUnchanged = origin.hash === generated.hash;
  // HTML without words has no text part.
  return { ...source, ...(text !== '' && { text }), isUnchanged };
}

export type Texts = {
  html: string | null;
  text: string | null;
  amp?: string | null;
  calendar?: Source['calendar'] | null;
};

/**
 * Returns the texts of a message for the API, as they are sent. Both are null when they were deleted, or when the stored bytes are damaged, which
 * is logged. Returns undefined for a message that names no content.
 * @throws AppError unavailable when a text cannot be generated at the moment
 */
export async function readTexts(
  app: Pick<App, 'db' | 'log' | 'htmlText' | 'crashPoint'>,
  message: Pick<MessageRow, 'id' | 'tenantId' | 'contentId' | 'mergeValues'>,
): Promise<Texts | undefined> {
  if (message.contentId === null) return undefined;
  const packed = await findContent(app.db.read, message.contentId);
  app.crashPoint('content-while-shown');
  try {
    const source: Source = packed ? await readSource(app, packed, message) : {};
    const { html = null, text = null, amp = null } = fillTexts(source, valuesOf(message));
    return { html, text, amp, calendar: source.calendar ?? null };
  } catch (error) {
    if (!(error instanceof DamagedBlobError)) throw error;
    app.log.error(
      { emailId: message.id, location: error.location, damage: error.message },
      'a stored message is damaged',
    );
    return { html: null, text: null };
  }
}
