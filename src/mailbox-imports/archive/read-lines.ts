/** Cuts a stream into lines without holding more than one piece of it. */
import { LF } from '../../mail/octets.ts';
import { PIECE_BYTES } from './message.ts';

/** A line with its end, or a part of a line that is too long to be held. */
export type LinePiece = {
  bytes: Buffer;
  isStart: boolean;
};

/** Maximum length of a line that is yielded whole, in bytes. Lines of messages have at most 998 characters (RFC 5322 section 2.1.1). */
const MAX_WHOLE_BYTES = PIECE_BYTES;

/**
 * Yields the lines of the chunks in groups, one group for each chunk. The last line may lack its LF. A line of more than 64 KiB comes
 * in several pieces.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LinePiece[]> {
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    const pieces: LinePiece[] = [];
    let from = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, from)) {
      pieces.push({ bytes: bytes.subarray(from, end + 1), isStart });
      isStart = true;
      from = end + 1;
    }
    rest = bytes.subarray(from);
    if (rest.length > MAX_WHOLE_BYTES) {
      pieces.push({ bytes: rest, isStart });
      isStart = false;
      rest = Buffer.alloc(0);
    }
    if (pieces.length > 0) yield pieces;
  }
  if (rest.length > 0) yield [{ bytes: rest, isStart }];
}
