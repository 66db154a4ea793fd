/**
 * Replies of an SMTP server (RFC 5321 4.2), read from bytes as they come. A peer may send anything, and any amount of
 * it: lines and replies have limits, text is made printable.
 */

export type SmtpReply = {
  code: number;
  /** RFC 3463, as `5.1.1`; only where its class agrees with the code (RFC 2034 4). */
  enhanced: string | undefined;
  /** The text of each line, without the code, with the enhanced code. */
  lines: string[];
};

/** RFC 5321 4.5.3.1.5 allows 512 octets; some servers quote whole policies. */
export const REPLY_LINE_LIMIT_BYTES = 4_096;
/** All unread replies of a connection together; 100 recipients with verbose answers stay far below. */
export const REPLIES_LIMIT_BYTES = 256 * 1024;

const LF = 0x0a;
/** RFC 5321 4.2: three digits, then a space or, where more lines follow, a hyphen; or the digits alone. */
const REPLY_LINE = /^([2-5][0-9]{2})(?:([ -])(.*))?$/su;
const ENHANCED = /^([245])\.[0-9]{1,3}\.[0-9]{1,3}(?= |$)/;
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** The bytes are no SMTP reply, or more than the limits allow. Nothing after them can be understood. */
export class ReplyFormatError extends Error {
  override readonly name = 'ReplyFormatError';
}

/** Collects bytes into replies. Reading them (`next`) makes room for more. */
export class ReplyReader {
  #rest: Buffer | undefined;
  readonly #replies: { reply: SmtpReply; sizeBytes: number }[] = [];
  #unreadBytes = 0;
  #open: SmtpReply | undefined;
  #openBytes = 0;

  /** @throws ReplyFormatError */
  push(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = undefined;
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#takeLine(bytes, start, end);
      start = end + 1;
    }
    if (bytes.length - start > REPLY_LINE_LIMIT_BYTES) throw new ReplyFormatError('a reply line is too long');
    if (start < bytes.length) this.#rest = bytes.subarray(start);
  }

  next(): SmtpReply | undefined {
    const first = this.#replies.shift();
    if (!first) return undefined;
    this.#unreadBytes -= first.sizeBytes;
    return first.reply;
  }

  /** Whether anything has come that was not read yet, be it half a line. */
  get hasInput(): boolean {
    return this.#rest !== undefined || this.#open !== undefined || this.#replies.length > 0;
  }

  get hasReply(): boolean {
    return this.#replies.length > 0;
  }

  #takeLine(bytes: Buffer, start: number, end: number): void {
    const sizeBytes = end - start + 1;
    if (sizeBytes > REPLY_LINE_LIMIT_BYTES) throw new ReplyFormatError('a reply line is too long');
    this.#unreadBytes += sizeBytes;
    if (this.#unreadBytes > REPLIES_LIMIT_BYTES) throw new ReplyFormatError('too many reply lines');
    const line = parseReplyLine(bytes.toString('utf8', start, end));
    const reply = this.#open ?? { code: line.code, enhanced: enhancedCode(line), lines: [] };
    // RFC 5321 4.2.1: every line of a reply has the same code.
    if (line.code !== reply.code)
      throw new ReplyFormatError(`a reply changes from ${reply.code} to ${line.code}`);
    reply.lines.push(line.text);
    this.#openBytes += sizeBytes;
    this.#open = line.continues ? reply : undefined;
    if (line.continues) return;
    this.#replies.push({ reply, sizeBytes: this.#openBytes });
    this.#openBytes = 0;
  }
}

type ReplyLine = { code: number; continues: boolean; text: string };

function parseReplyLine(line: string): ReplyLine {
  const match = REPLY_LINE.exec(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (!match)
    throw new ReplyFormatError(`not an SMTP reply: ${JSON.stringify(printable(line.slice(0, 64)))}`);
  const [, code, separator, text = ''] = match;
  return { code: Number(code), continues: separator === '-', text: printable(text) };
}

function enhancedCode(line: ReplyLine): string | undefined {
  const match = ENHANCED.exec(line.text);
  return match && match[1] === String(Math.floor(line.code / 100)) ? match[0] : undefined;
}

function printable(text: string): string {
  return text.replace(UNPRINTABLE, '?').trimEnd();
}

/** One line for people: `550 5.1.1 No such user here`. An enhanced code repeated on each line is shown once. */
export function replyText(reply: SmtpReply): string {
  const { code, enhanced, lines } = reply;
  const texts = lines.map((line, index) =>
    index > 0 && enhanced && line.startsWith(enhanced) ? line.slice(enhanced.length).trimStart() : line,
  );
  return [String(code), ...texts.filter((text) => text !== '')].join(' ');
}
