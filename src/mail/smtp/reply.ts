/**
 * Parses the replies of an SMTP server (RFC 5321 section 4.2) from bytes as they arrive. A peer may send any bytes, and any
 * number of them: lines and replies have limits, only the beginning of a long reply is kept, and its text is cleaned.
 */

import { StringDecoder } from 'node:string_decoder';
import { cleanForeignText, MAX_FOREIGN_TEXT_CHARACTERS } from '../../system/foreign-text.ts';
import { LF } from '../octets.ts';

export type SmtpReply = {
  code: number;
  /** Enhanced status code of RFC 3463, such as `5.1.1`. It is undefined when its class contradicts `code` (RFC 2034 section 4). */
  enhanced: string | undefined;
  /** Text of each line, without the code but with the enhanced code. Only the beginning of a long reply is kept. */
  lines: string[];
};

/** Maximum length of a reply line. RFC 5321 section 4.5.3.1.5 allows 512 octets, but some servers quote whole policies. */
export const MAX_REPLY_LINE_BYTES = 4_096;
/** Maximum size of one reply on the wire, over all its lines. An endless reply must end the session. */
export const MAX_REPLY_BYTES = 256 * 1024;
/**
 * Maximum memory for the kept text of the unread replies of one connection. The replies to 100 recipients stay below
 * it, whatever their size.
 */
const MAX_UNREAD_BYTES = 256 * 1024;
/**
 * Maximum kept bytes of a reply that reports success. The answer to EHLO names one extension in each line, and all are
 * needed.
 */
const MAX_KEPT_BYTES_OF_SUCCESS = 4_096;
/** Maximum kept bytes of any other reply. Only this much is ever stored. */
const MAX_KEPT_BYTES = MAX_FOREIGN_TEXT_CHARACTERS;
/** Number of replies that a peer may send beyond those it was asked for. A goodbye (421) to an idle session is one. */
const MAX_UNASKED_REPLIES = 1;
/** Length of the three digits and the separator. */
const CODE_BYTES = 4;
/** Maximum number of characters quoted from a line that is not a reply. */
const MAX_QUOTED_CHARACTERS = 64;

const DIGIT_2 = 0x32;
/** A reply line has three digits, then a space, or a hyphen when more lines follow; or the digits alone (RFC 5321 section 4.2). */
const REPLY_LINE = /^([2-5][0-9]{2})(?:([ -])(.*))?$/su;
const ENHANCED = /^([245])\.[0-9]{1,3}\.[0-9]{1,3}(?= |$)/;

/** Reports bytes that are no SMTP reply, or that exceed the limits. Nothing after them can be understood. */
export class ReplyFormatError extends Error {
  override readonly name = 'ReplyFormatError';
}

type OpenReply = {
  reply: SmtpReply;
  /** Bytes received so far. */
  sizeBytes: number;
  /** Bytes whose text is stored in `reply.lines`. */
  keptBytes: number;
};

/**
 * Collects bytes into replies. A reply of a few bytes costs much more memory than it has bytes, so the number of unread
 * replies is limited too: to those that are expected, and `MAX_UNASKED_REPLIES`.
 */
export class ReplyReader {
  #rest: Buffer | undefined;
  readonly #replies: OpenReply[] = [];
  /** Number of replies that the peer was asked for and that were not read yet. */
  #expectedReplies = 0;
  #unreadBytes = 0;
  #open: OpenReply | undefined;

  /** Expects this number of further replies. */
  expect(replies: number): void {
    this.#expectedReplies += replies;
  }

  /** Takes the next bytes of the connection. @throws ReplyFormatError */
  push(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    this.#rest = undefined;
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#takeLine(bytes, start, end);
      start = end + 1;
    }
    if (bytes.length - start > MAX_REPLY_LINE_BYTES) throw new ReplyFormatError('a reply line is too long');
    if (start < bytes.length) this.#rest = bytes.subarray(start);
  }

  /** Removes and returns the oldest complete reply, or returns undefined when there is none. */
  next(): SmtpReply | undefined {
    const first = this.#replies.shift();
    if (!first) return undefined;
    this.#unreadBytes -= first.keptBytes;
    this.#expectedReplies = Math.max(this.#expectedReplies - 1, 0);
    return first.reply;
  }

  /** True when bytes have arrived that were not read yet, even half a line. */
  get hasInput(): boolean {
    return this.#rest !== undefined || this.#open !== undefined || this.#replies.length > 0;
  }

  get hasReply(): boolean {
    return this.#replies.length > 0;
  }

  #takeLine(bytes: Buffer, start: number, end: number): void {
    const sizeBytes = end - start + 1;
    if (sizeBytes > MAX_REPLY_LINE_BYTES) throw new ReplyFormatError('a reply line is too long');
    const before = this.#open;
    // The first digit is the same on every line of a reply.
    const limitBytes = bytes[start] === DIGIT_2 ? MAX_KEPT_BYTES_OF_SUCCESS : MAX_KEPT_BYTES;
    const leftBytes = Math.max(limitBytes - (before?.keptBytes ?? 0), 0);
    const keptEnd = Math.min(end, start + CODE_BYTES + leftBytes);
    const line = parseReplyLine(decode(bytes, start, { keptEnd, end }));
    const open = before ?? openReply(line);
    // Every line of a reply has the same code (RFC 5321 section 4.2.1).
    if (line.code !== open.reply.code)
      throw new ReplyFormatError(`a reply changes from ${open.reply.code} to ${line.code}`);
    open.sizeBytes += sizeBytes;
    if (open.sizeBytes > MAX_REPLY_BYTES)
      throw new ReplyFormatError(`a reply is longer than ${MAX_REPLY_BYTES} bytes`);
    if (leftBytes > 0) this.#keep(open, line.text, keptEnd - start);
    this.#open = line.continues ? open : undefined;
    if (!line.continues) this.#finish(open);
  }

  #finish(open: OpenReply): void {
    if (this.#replies.length >= this.#expectedReplies + MAX_UNASKED_REPLIES)
      throw new ReplyFormatError('the peer sent replies that it was not asked for');
    this.#replies.push(open);
  }

  #keep(open: OpenReply, text: string, sizeBytes: number): void {
    open.reply.lines.push(text);
    open.keptBytes += sizeBytes;
    this.#unreadBytes += sizeBytes;
    if (this.#unreadBytes > MAX_UNREAD_BYTES)
      throw new ReplyFormatError(`the unread replies are longer than ${MAX_UNREAD_BYTES} bytes`);
  }
}

type ReplyLine = { code: number; continues: boolean; text: string };

function openReply(line: ReplyLine): OpenReply {
  return { reply: { code: line.code, enhanced: enhancedCode(line), lines: [] }, sizeBytes: 0, keptBytes: 0 };
}

/** Returns a new string of the kept bytes alone, so that it does not keep a longer one in memory. */
function decode(bytes: Buffer, start: number, { keptEnd, end }: { keptEnd: number; end: number }): string {
  if (keptEnd === end) return bytes.toString('utf8', start, end);
  // The decoder leaves out a character that the limit splits.
  return new StringDecoder('utf8').write(bytes.subarray(start, keptEnd));
}

function parseReplyLine(line: string): ReplyLine {
  const match = REPLY_LINE.exec(line.endsWith('\r') ? line.slice(0, -1) : line);
  if (!match)
    throw new ReplyFormatError(
      `not an SMTP reply: ${JSON.stringify(cleanForeignText(line, MAX_QUOTED_CHARACTERS))}`,
    );
  const [, code, separator, text = ''] = match;
  return {
    code: Number(code),
    continues: separator === '-',
    text: cleanForeignText(text, MAX_REPLY_LINE_BYTES),
  };
}

function enhancedCode(line: ReplyLine): string | undefined {
  const match = ENHANCED.exec(line.text);
  return match && match[1] === String(Math.floor(line.code / 100)) ? match[0] : undefined;
}

/** Returns a reply as one line for people: `550 5.1.1 No such user here`. An enhanced code on each line is shown once. */
export function replyText(reply: SmtpReply): string {
  const { code, enhanced, lines } = reply;
  const texts = lines.map((line, index) =>
    index > 0 && enhanced && line.startsWith(enhanced) ? line.slice(enhanced.length).trimStart() : line,
  );
  return [String(code), ...texts.filter((text) => text !== '')].join(' ');
}
