/** Reads the texts of a message for the API. */
import type { App } from '../../app.ts';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import type { MessageRow } from '../../db/tables.ts';
import { fillTexts, valuesOf } from './content.ts';
import { readSource } from './generated.ts';
import type { Source } from './source.ts';
import { findContent } from './store.ts';

export type Texts = {
  html: string | null;
  text: string | null;
  amp?: string | null;
  calendar?: Source['calendar'] | null;
};

/**
 * Returns the texts as they are sent. Both are null when they were deleted, or when the stored bytes are damaged, which
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
