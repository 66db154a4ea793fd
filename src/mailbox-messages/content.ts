/** The bytes of a message in a mailbox, which are read in pieces from the thread of its account, and what is parsed from them. */
import type { MessageSummary } from '../accounts/messages/summaries.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { WantedContent } from '../mail/message/parse/files.ts';
import type { MessageContent } from '../mail/message/parse/parser.ts';
import type { MessageBytes, ReceivedContents } from '../routes/messages/content.ts';
import { notFound } from '../system/errors.ts';
import type { MessageAccess } from './access.ts';

/** Identifies a message of a mailbox, with its size. */
type Stored = { mailbox: MailboxRow; message: Pick<MessageSummary, 'id' | 'sizeBytes'> };

/** Returns the bytes of a message. A message that is removed while it is read ends them with `not_found`. */
export function openBytes(access: MessageAccess, { mailbox, message }: Stored): MessageBytes {
  const { id, sizeBytes } = message;
  return {
    sizeBytes,
    async *chunks() {
      for (let offset = 0; offset < sizeBytes; ) {
        const octets =
          offset === 0
            ? await access.call(mailbox, 'readOctets', { id, offset })
            : await access.readOn(mailbox, { id, offset });
        const { buffer, byteOffset, length } = octets;
        if (length === 0) throw notFound('Message');
        yield Buffer.from(buffer, byteOffset, length);
        offset += length;
      }
    },
  };
}

/** Parses a message, with the bytes of the files that are wanted. Its mailbox takes turns with tenants and other mailboxes. */
export function parseStored(
  { access, contents }: { access: MessageAccess; contents: ReceivedContents },
  stored: Stored,
  content: WantedContent,
): Promise<MessageContent> {
  const { mailbox } = stored;
  return access.parsing.admit(mailbox, () =>
    contents.parseBytes(openBytes(access, stored), { owner: mailbox.id, content }),
  );
}
