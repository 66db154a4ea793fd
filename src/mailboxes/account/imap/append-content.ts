/** Brings the content of APPEND into the form in which messages are stored: lines end with CRLF, and no octet is NUL. */
import type { AppendMessage } from '../../../mail/imap/session.ts';
import { LineEnds } from '../../../mail/message/crlf.ts';
import { encodeBinary } from '../../../mail/message/encode-binary.ts';
import { AppError } from '../../../system/errors.ts';

/** Yields the content. A binary literal is read into memory, since its parts can be encoded only when all of them are known. */
export async function* canonicalContent({ content, isBinary }: AppendMessage): AsyncGenerator<Buffer> {
  const lineEnds = new LineEnds();
  const pieces: Buffer[] = [];
  for await (const piece of content) {
    if (isBinary) pieces.push(piece);
    else if (piece.includes(0))
      throw new AppError('validation_error', 'A message with NUL is sent as a binary literal');
    else yield lineEnds.next(piece);
  }
  if (!isBinary) return;
  const octets = Buffer.concat(pieces);
  yield octets.includes(0) ? encodeBinary(octets) : lineEnds.next(octets);
}
