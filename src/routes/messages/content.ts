/**
 * Parses received messages for the API and for the links of posts. Only a few messages are parsed at the same time, because each may
 * be in memory with all its bytes; tenants share these slots.
 */
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { WantedContent } from '../../mail/message/parse/files.ts';
import {
  type MessageContent,
  type MessageParser,
  MessagesWaitError,
} from '../../mail/message/parse/parser.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError, notFound } from '../../system/errors.ts';

type Message = Pick<ReceivedMessageRow, 'tenantId' | 'blobId'>;

/** Maximum number of messages that requests parse at the same time, with up to 40 MB each. */
const MAX_PARSED_MESSAGES = 4;
/** Maximum number of requests that wait for a slot. */
const MAX_WAITING = 64;
const RETRY_AFTER_SECONDS = 2;

/** The bytes of a message, wherever they are. */
export type MessageBytes = Pick<BlobContent, 'sizeBytes' | 'chunks'>;

export type ReceivedContents = {
  /**
   * Parses the message.
   * @throws AppError invalid_state when its bytes are no longer kept; unavailable when too many requests do that
   */
  parse(message: Message, content: WantedContent): Promise<MessageContent>;
  /**
   * Parses a message whose bytes are elsewhere. `owner` takes turns with the tenants.
   * @throws AppError unavailable when too many requests do that; any error of reading the bytes
   */
  parseBytes(
    bytes: MessageBytes,
    parsing: { owner: string; content: WantedContent },
  ): Promise<MessageContent>;
  /**
   * Returns a file of the message by its number.
   * @throws AppError not_found, invalid_state, unavailable
   */
  openFile(message: Message, number: number): Promise<OpenFile>;
};

export type OpenFile = { filename: string; bytes: Buffer };

/** Returns the parser of received messages. Its limits are those of all requests together. */
export function createContents({
  blobs,
  parser,
}: Pick<App, 'blobs'> & { parser: MessageParser }): ReceivedContents {
  const limiter = new ConcurrencyLimiter({
    maxRunning: MAX_PARSED_MESSAGES,
    perFree: 1,
    maxWaiting: MAX_WAITING,
  });
  const parseBytes: ReceivedContents['parseBytes'] = async (bytes, { owner, content }) => {
    const parsing = limiter.tryRun(() => parser.parse(bytes, { owner, content }), { owner });
    if (parsing === undefined) throw busy();
    return parsing.catch((error) => {
      throw error instanceof MessagesWaitError ? busy(error) : error;
    });
  };
  const parse: ReceivedContents['parse'] = async (message, content) => {
    const bytes = await openContent(blobs, message);
    return parseBytes(bytes, { owner: message.tenantId ?? '', content });
  };
  return {
    parse,
    parseBytes,
    openFile: async (message, number) => fileOf(await parse(message, { file: number }), number),
  };
}

/**
 * Returns a file of a message that was parsed for it, by its number.
 * @throws AppError not_found
 */
export function fileOf(content: MessageContent, number: number): OpenFile {
  const file = content.kind === 'parsed' ? content.files[number - 1] : undefined;
  if (!file?.content) throw notFound('Attachment');
  const { buffer, byteOffset, length } = file.content;
  return { filename: file.filename, bytes: Buffer.from(buffer, byteOffset, length) };
}

function busy(cause?: Error): AppError {
  return new AppError('unavailable', 'Too many messages are being read', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/**
 * Returns the message as it is stored, without the fields that were added.
 * @throws AppError invalid_state when its bytes are no longer kept
 */
export async function openContent(
  blobs: Pick<App['blobs'], 'open'>,
  { blobId }: Pick<ReceivedMessageRow, 'blobId'>,
): Promise<BlobContent> {
  if (blobId === null) throw new AppError('invalid_state', 'The content of the message is no longer kept');
  return blobs.open(blobId);
}
