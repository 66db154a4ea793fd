/**
 * Reads single attachments of emails. Only the message as a whole is stored, in which they are encoded, so it is composed and parsed for
 * each of them. A few messages are in memory at the same time, which tenants share.
 */
import { cleanFilename } from '../mail/message/filename.ts';
import type { WantedContent } from '../mail/message/parse/files.ts';
import { type MessageParser, MessagesWaitError } from '../mail/message/parse/parser.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError, notFound } from '../system/errors.ts';
import type { RawMessages } from './raw/open.ts';
import type { StoredAttachment } from './show.ts';
import type { EmailWithContent } from './store.ts';

/** Maximum number of messages that are read at the same time, with up to 40 MB each. */
const MAX_READ_MESSAGES = 3;
/** Maximum number of requests that wait for one of them. */
const MAX_WAITING = 32;
const RETRY_AFTER_SECONDS = 2;

type Bytes = Awaited<ReturnType<RawMessages['open']>>;
type Files = Extract<Awaited<ReturnType<MessageParser['parse']>>, { kind: 'parsed' }>['files'];

export type AttachmentFiles = {
  /**
   * Returns the bytes of an attachment by its place in the list of the email, from 0.
   * @throws AppError not_found; unavailable while too many messages are read
   */
  read(message: Bytes, email: EmailWithContent, index: number): Promise<Buffer>;
};

/** Returns the reader. Its limits are those of all requests together. */
export function createAttachmentFiles(parser: MessageParser): AttachmentFiles {
  const limiter = new ConcurrencyLimiter({
    maxRunning: MAX_READ_MESSAGES,
    perFree: 1,
    maxWaiting: MAX_WAITING,
  });

  async function readFile(message: Bytes, email: EmailWithContent, index: number): Promise<Buffer> {
    const listed = await parse(message, email, { upToBytes: 0 });
    const file = numberOf(listed, listAttachments(email), index);
    if (file === undefined) throw notFound('Attachment');
    const content = (await parse(message, email, { file }))[file - 1]?.content;
    if (!content) throw notFound('Attachment');
    return Buffer.from(content.buffer, content.byteOffset, content.length);
  }

  /** Returns the files of a message. One that was composed here can be parsed, unless the machine is too busy to do it in time. */
  async function parse(
    message: Bytes,
    { tenantId: owner }: EmailWithContent,
    content: WantedContent,
  ): Promise<Files> {
    const parsed = await parser.parse(message, { owner, content });
    if (parsed.kind === 'opaque') throw busy();
    return parsed.files;
  }

  return {
    async read(message, email, index) {
      const reading = limiter.tryRun(() => readFile(message, email, index), { owner: email.tenantId });
      if (reading === undefined) throw busy();
      return reading.catch((error) => {
        throw error instanceof MessagesWaitError ? busy(error) : error;
      });
    },
  };
}

/** Returns the attachments of an email as they are stored. */
export function listAttachments({ attachments }: Pick<EmailWithContent, 'attachments'>): StoredAttachment[] {
  return JSON.parse(attachments) as StoredAttachment[];
}

/**
 * Returns the number of an attachment among the files of its message; undefined when it is not among them. Images of the HTML stand before
 * the others there, and other forms of the text count as files too, so files are recognised by what is known of them. Those that are equal in
 * this have kept their order.
 */
function numberOf(files: Files, attachments: readonly StoredAttachment[], index: number): number | undefined {
  const wanted = attachments[index];
  if (!wanted) return undefined;
  const isSame = (one: StoredAttachment) => keyOf(one) === keyOf(wanted);
  const place = attachments.slice(0, index).filter(isSame).length;
  const numbers = files.flatMap((file, position) => (keyOf(file) === keyOf(wanted) ? [position + 1] : []));
  return numbers[place];
}

function keyOf({
  filename,
  contentId,
  sizeBytes,
}: Pick<StoredAttachment, 'filename' | 'contentId' | 'sizeBytes'>) {
  return JSON.stringify([cleanFilename(filename), contentId, sizeBytes]);
}

function busy(cause?: Error): AppError {
  return new AppError('unavailable', 'Too many messages are being read', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
