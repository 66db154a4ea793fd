/** Messages of archives in tests. */
import type { ArchivedMessage } from '../../../src/mailbox-imports/archive/message.ts';
import type { ArchiveWriter } from '../../../src/mailbox-imports/archive/write.ts';

export type PlainMessage = Omit<ArchivedMessage, 'content'> & { content: string };

/** Returns the messages with their content as text, each octet one character. */
export async function collect(messages: AsyncIterable<ArchivedMessage>): Promise<PlainMessage[]> {
  const collected: PlainMessage[] = [];
  for await (const message of messages) {
    const pieces: Buffer[] = [];
    for await (const piece of message.content) pieces.push(piece);
    collected.push({ ...message, content: Buffer.concat(pieces).toString('latin1') });
  }
  return collected;
}

/** Adds a message whose content comes in pieces of `cut` bytes. */
export async function addTo(writer: ArchiveWriter, message: PlainMessage, cut = 1_000): Promise<void> {
  await writer.add({ ...message, sender: 'ann@example.net', content: inPieces(message.content, cut) });
}

/** Yields a text, each character one octet, in pieces. */
export async function* inPieces(text: string, cut = 1_000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text, 'latin1');
  for (let at = 0; at < bytes.length; at += cut) yield bytes.subarray(at, at + cut);
}

/** Returns a message of INBOX. */
export function plainMessage(changed: Partial<PlainMessage> = {}): PlainMessage {
  return {
    folder: 'INBOX',
    key: 'V7U1',
    flags: [],
    receivedAt: Date.UTC(2025, 10, 21, 9, 5),
    content: 'Subject: Tea\r\n\r\nAt five.\r\n',
    ...changed,
  };
}
