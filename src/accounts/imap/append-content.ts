/** Brings the content of APPEND into the form in which messages are stored: lines end with CRLF, and no octet is NUL. */
import type { AppendLiteral } from '../../mail/imap/session.ts';
import { LineEnds } from '../../mail/message/crlf.ts';
import { encodeBinary } from '../../mail/message/encode-binary.ts';
import { AppError } from '../../system/errors.ts';
import { type ByteBudget, createByteBudget } from '../../system/guards/byte-budget.ts';

/**
 * Maximum size of all binary messages that arrive in the thread at the same time; one account gets half of it. A client may take hours
 * for one. A message has at most 40 MiB.
 */
const BINARY_BYTES = 128 * 1024 * 1024;
const RETRY_SECONDS = 60;

const arriving = createByteBudget({ largeBytes: BINARY_BYTES });

/**
 * Yields the content. A binary literal is read into memory, since its parts can be encoded only when all of them are known.
 * @throws AppError unavailable when too many octets of binary literals are in memory
 */
export async function* canonicalContent(
  { content, isBinary }: Pick<AppendLiteral, 'content' | 'isBinary'>,
  { accountId, budget = arriving }: { accountId: string; budget?: ByteBudget },
): AsyncGenerator<Buffer> {
  const lineEnds = new LineEnds();
  if (isBinary) {
    const held = budget.open(accountId);
    try {
      const octets = await collect(content, (bytes) => held.take(bytes));
      yield octets.includes(0) ? encodeBinary(octets) : lineEnds.next(octets);
    } finally {
      held.release();
    }
    return;
  }
  for await (const piece of content) {
    if (piece.includes(0))
      throw new AppError('validation_error', 'A message with NUL is sent as a binary literal');
    yield lineEnds.next(piece);
  }
}

async function collect(content: AsyncIterable<Buffer>, take: (bytes: number) => boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of content) {
    if (!take(piece.length))
      throw new AppError('unavailable', 'Too many binary messages arrive at the same time', {
        retryAfterSeconds: RETRY_SECONDS,
      });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
