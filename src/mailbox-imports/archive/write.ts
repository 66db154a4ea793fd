/** Writes an archive: what is common to both formats. */
import { CR, LF } from '../../mail/octets.ts';
import type { ArchivedMessage } from './message.ts';

/** A message to write. The sender is that of the envelope, and empty for a bounce. */
export type WrittenMessage = ArchivedMessage & { sender: string };

export type ArchiveWriter = {
  /** Adds a message, whose content is read at once. A message that is in the archive already is not added again. */
  add(message: WrittenMessage): Promise<void>;
  /** Makes all messages durable that were added. */
  flush(): Promise<void>;
  /** Closes the files. Messages that were not flushed may be lost. */
  close(): Promise<void>;
};

/** Mode of the files and directories that hold mail: nobody else may read it. */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

/** Yields pieces with LF line ends, as archives have them. */
export async function* withLf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let endsWithCr = false;
  for await (const piece of pieces) {
    if (piece.length === 0) continue;
    const whole: Buffer = endsWithCr ? Buffer.concat([CR_OCTET, piece]) : piece;
    endsWithCr = whole[whole.length - 1] === CR;
    const complete = endsWithCr ? whole.subarray(0, -1) : whole;
    if (complete.length > 0) yield withoutCr(complete);
  }
  if (endsWithCr) yield CR_OCTET;
}

const CR_OCTET = Buffer.of(CR);

function withoutCr(bytes: Buffer): Buffer {
  const output = Buffer.allocUnsafe(bytes.length);
  let to = 0;
  let from = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (at === 0 || bytes[at - 1] !== CR) continue;
    to += bytes.copy(output, to, from, at - 1);
    from = at;
  }
  to += bytes.copy(output, to, from);
  return output.subarray(0, to);
}
