/**
 * Reads the texts of an email that was handed over by SMTP. Such a message is sent as it came, and nothing but its bytes is stored, so that
 * its texts are read from them when somebody asks.
 */
import type { App } from '../app.ts';
import type { MessageRow } from '../db/tables.ts';
import { type MessageParser, MessagesWaitError } from '../mail/message/parse/parser.ts';
import type { Texts } from '../queue/contents/read.ts';
import { AppError } from '../system/errors.ts';

/** Maximum size of a message whose texts are read. The message is in memory meanwhile, with its files. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Time after which a client asks again while the threads are busy, in seconds. */
const RETRY_SECONDS = 1;

export type MessageTexts = {
  /**
   * Returns the texts; both are null for a message that is large or cannot be parsed.
   * @throws AppError unavailable while other messages are parsed; DamagedBlobError
   */
  read(message: Pick<MessageRow, 'tenantId'> & { blobId: NonNullable<MessageRow['blobId']> }): Promise<Texts>;
};

const NOTHING: Texts = { html: null, text: null };

/** Returns the reader. */
export function createMessageTexts(app: Pick<App, 'blobs'>, parser: MessageParser): MessageTexts {
  return {
    async read({ tenantId, blobId }) {
      const bytes = await app.blobs.open(blobId);
      if (bytes.sizeBytes > MAX_BYTES) return NOTHING;
      const parsing = { owner: tenantId, content: { upToBytes: 0 } };
      const parsed = await parser.parse(bytes, parsing).catch(refuseWaiting);
      if (parsed.kind === 'opaque') return NOTHING;
      return { html: parsed.html === '' ? null : parsed.html, text: parsed.text === '' ? null : parsed.text };
    },
  };
}

function refuseWaiting(error: unknown): never {
  if (!(error instanceof MessagesWaitError)) throw error;
  throw new AppError('unavailable', 'Other messages are being read; try again', {
    retryAfterSeconds: RETRY_SECONDS,
    cause: error,
  });
}
