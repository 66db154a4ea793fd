/** Finds the lines in the bytes of a client. */
import { Pieces } from '../connection/pieces.ts';
import { CR, LF } from '../octets.ts';

/** Bytes of a client. */
export type LineSource = {
  /** Returns at least one byte. Rejects when no more will come. */
  read(): Promise<Buffer>;
  /** Gives back bytes, which are the next ones that are read. */
  unread(bytes: Buffer): void;
};

/** A line without its line end. Of a line that is too long, `bytes` is the beginning; `tail` is its end with the line end. */
type Line = { bytes: Buffer; tail: Buffer; isTooLong: boolean };

/** Number of octets of a line that is too long, in which the command is named. */
export const MAX_KEPT_OCTETS = 1_024;
/** Maximum length of a line end. */
const LINE_END_OCTETS = 2;
/** Number of octets at the end of a line in which an announcement of a literal stands, with its line end. */
const MAX_TAIL_OCTETS = 32;

/** Returns the next line. One of more than `maxBytes` is read to its end. @throws the errors of the source */
export async function readLine(source: LineSource, maxBytes: number): Promise<Line> {
  const kept = new Pieces();
  let isTooLong = false;
  let sizeBytes = 0;
  let tail: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = await source.read();
    const end = chunk.indexOf(LF);
    const piece = end < 0 ? chunk : chunk.subarray(0, end + 1);
    if (end >= 0) source.unread(chunk.subarray(end + 1));
    sizeBytes += piece.length;
    // The line end does not count.
    isTooLong ||= sizeBytes > maxBytes + LINE_END_OCTETS;
    const maxKept = isTooLong ? Math.min(maxBytes, MAX_KEPT_OCTETS) - kept.sizeBytes : piece.length;
    kept.add(piece.subarray(0, Math.max(0, maxKept)));
    tail = Buffer.concat([tail, piece.subarray(-MAX_TAIL_OCTETS)]).subarray(-MAX_TAIL_OCTETS);
    if (end < 0) continue;
    const bytes = kept.join();
    return { bytes: isTooLong ? bytes : withoutLineEnd(bytes), tail, isTooLong };
  }
}

/**
 * Returns the next line without its end when it has arrived in one piece and is not too long; undefined means that `readLine` must
 * read it. Clients send thousands of commands at once, which need no waiting.
 */
export function takeLine(
  wire: { take(): Buffer | undefined; unread(bytes: Buffer): void },
  maxBytes: number,
): Buffer | undefined {
  const chunk = wire.take();
  if (!chunk) return undefined;
  const end = chunk.indexOf(LF) + 1;
  const hasLine = end > 0 && end <= maxBytes + LINE_END_OCTETS;
  wire.unread(hasLine ? chunk.subarray(end) : chunk);
  return hasLine ? withoutLineEnd(chunk.subarray(0, end)) : undefined;
}

/** Returns a line without the LF or CRLF at its end. */
export function withoutLineEnd(line: Buffer): Buffer {
  const end = line.length - 1;
  return line.subarray(0, end > 0 && line[end - 1] === CR ? end - 1 : end);
}
