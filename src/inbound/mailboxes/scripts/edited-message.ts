/** Puts a message together whose header a script has edited (RFC 5293). */
import type { ScriptedDelivery } from './delivery.ts';

/** Returns the message with this header, which is in base64 and ends with its empty line. */
export async function editedMessage({ content, header }: ScriptedDelivery, edited: string): Promise<Buffer> {
  const pieces: Buffer[] = [Buffer.from(edited, 'base64')];
  let skippedBytes = header.length;
  for await (const chunk of content.chunks()) {
    pieces.push(chunk.subarray(Math.min(skippedBytes, chunk.length)));
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
  return Buffer.concat(pieces);
}
