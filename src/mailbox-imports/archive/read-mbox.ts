/** Reads a file in mbox format, as a stream: neither the file nor a message is held in memory. */
import { MAX_HEADER_BYTES } from '../../mail/header-limits.ts';
import { LineEnds } from '../../mail/message/crlf.ts';
import { SPACE, TAB } from '../../mail/octets.ts';
import {
  type LinePiece,
  quotesOf,
  readFromLine,
  readLines,
  readStatusField,
  STATUS_FIELDS,
} from './mbox-format.ts';
import { type ArchivedMessage, PIECE_BYTES } from './message.ts';

/** Reports a file that does not begin as mbox files do. */
export class NotMboxError extends Error {
  override readonly name = 'NotMboxError';
}

/**
 * Yields the messages of a file. A message that is not read is skipped. A line begins a message when it has a sender and a date, so
 * that a sentence that begins with `From` and was not quoted ends nothing.
 * @throws NotMboxError when the first line begins no message
 */
export async function* readMbox(
  chunks: AsyncIterable<Uint8Array>,
  folder: string,
): AsyncGenerator<ArchivedMessage> {
  const lines = new LineCursor(chunks);
  const first = await lines.peek();
  if (!first) return;
  if (fromLineTime(first) === undefined) throw new NotMboxError('the file does not begin with a From line');
  for (let line: LinePiece | undefined = first; line; line = await lines.peek()) {
    const key = String(lines.position);
    const receivedAt = fromLineTime(line) ?? 0;
    lines.next();
    const header = await readHeader(lines);
    const content = contentOf(header.lines, lines);
    yield { folder, key, flags: header.flags, receivedAt, content };
    await content.return(undefined);
    await skipMessage(lines);
  }
}

function fromLineTime({ isStart, bytes }: LinePiece): number | undefined {
  return isStart ? readFromLine(bytes) : undefined;
}

/** Reads lines one after another, and counts their bytes. */
class LineCursor {
  readonly #groups: AsyncGenerator<LinePiece[]>;
  #group: LinePiece[] = [];
  #index = 0;
  /** Position of the next line in the file, in bytes. */
  position = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#groups = readLines(chunks);
  }

  /** Returns the next line and stays before it; undefined at the end of the file. */
  async peek(): Promise<LinePiece | undefined> {
    while (this.#index === this.#group.length) {
      const { value, done } = await this.#groups.next();
      if (done) return undefined;
      this.#group = value;
      this.#index = 0;
    }
    return this.#group[this.#index];
  }

  /** Goes past the line that was peeked at. */
  next(): void {
    this.position += this.#group[this.#index]?.bytes.length ?? 0;
    this.#index += 1;
  }
}

type Header = { lines: Buffer[]; flags: string[] };

/** Reads the header of a message, or as much as a header may have, and takes the fields of flags out of it. */
async function readHeader(lines: LineCursor): Promise<Header> {
  const header: Header = { lines: [], flags: [] };
  const seen = new Set<string>();
  let isRemoving = false;
  for (let bytes = 0; bytes < MAX_HEADER_BYTES; ) {
    const line = await lines.peek();
    if (!line || isEmpty(line) || fromLineTime(line) !== undefined) break;
    lines.next();
    bytes += line.bytes.length;
    const isContinued = line.bytes[0] === SPACE || line.bytes[0] === TAB;
    if (line.isStart && !isContinued) {
      const name = statusFieldOf(line.bytes);
      isRemoving = name !== undefined;
      // A second field of the same name stood in the message before the writer of the file added its own in front.
      if (name !== undefined && !seen.has(name)) header.flags.push(...flagsOf(name, line.bytes));
      if (name !== undefined) seen.add(name);
    }
    if (!isRemoving) header.lines.push(unquoted(line));
  }
  header.flags = [...new Set(header.flags)];
  return header;
}

function statusFieldOf(line: Buffer): string | undefined {
  const name = /^([\w-]{1,20}):/.exec(line.toString('latin1', 0, 24))?.[1]?.toLowerCase();
  return name !== undefined && STATUS_FIELDS.has(name) ? name : undefined;
}

function flagsOf(name: string, line: Buffer): string[] {
  const text = line.toString('utf8');
  return readStatusField(name, text.slice(text.indexOf(':') + 1).trim());
}

/** Yields the message with CRLF line ends, in pieces. */
async function* contentOf(header: readonly Buffer[], lines: LineCursor): AsyncGenerator<Buffer> {
  const ends = new LineEnds();
  let gathered: Buffer[] = [...header];
  let gatheredBytes = gathered.reduce((sum, { length }) => sum + length, 0);
  const flush = () => {
    const piece = ends.next(gathered.length === 1 && gathered[0] ? gathered[0] : Buffer.concat(gathered));
    gathered = [];
    gatheredBytes = 0;
    return piece;
  };
  for await (const line of bodyLines(lines)) {
    gathered.push(line);
    gatheredBytes += line.length;
    if (gatheredBytes >= PIECE_BYTES) yield flush();
  }
  if (gatheredBytes > 0) yield flush();
}

/** Yields the rest of the message. The empty line before the next message, or at the end of the file, belongs to the format. */
async function* bodyLines(lines: LineCursor): AsyncGenerator<Buffer> {
  let held: Buffer | undefined;
  for (let line = await lines.peek(); line && fromLineTime(line) === undefined; line = await lines.peek()) {
    lines.next();
    if (held) yield held;
    held = isEmpty(line) ? line.bytes : undefined;
    if (!held) yield unquoted(line);
  }
}

async function skipMessage(lines: LineCursor): Promise<void> {
  for (let line = await lines.peek(); line && fromLineTime(line) === undefined; line = await lines.peek())
    lines.next();
}

function isEmpty({ bytes, isStart }: LinePiece): boolean {
  return isStart && bytes.length <= 2 && /^\r?\n$/.test(bytes.toString('latin1'));
}

function unquoted({ bytes, isStart }: LinePiece): Buffer {
  return isStart && (quotesOf(bytes) ?? 0) > 0 ? bytes.subarray(1) : bytes;
}
