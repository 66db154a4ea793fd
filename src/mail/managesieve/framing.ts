/**
 * Finds the commands in the bytes of a client: words, numbers, and strings that are quoted or literal (RFC 5804 section 4). A quoted
 * string has no line breaks, so a command ends with the first line that announces no literal.
 */
import { isUtf8 } from 'node:buffer';
import { ConnectionFault } from '../access/fault.ts';
import { type LineSource, readLine } from '../access/read-line.ts';
import { Pieces } from '../connection/pieces.ts';

export type Token =
  | { kind: 'atom'; text: string }
  | { kind: 'number'; value: number }
  | { kind: 'string'; value: string };

/** A command. A malformed one was read to its end, and `text` says what is wrong. */
export type FramedCommand =
  | { kind: 'complete'; tokens: readonly Token[] }
  | { kind: 'malformed'; text: string }
  | { kind: 'too large' };

type FramingLimits = {
  /** Maximum size of a command with its literals. */
  commandBytes: number;
  /** Maximum size of a literal that is too large and is read nevertheless. */
  discardedBytes: number;
};

/** Announcement of a literal at the end of a line. Clients of early drafts leave the plus sign out, and wait for nothing either. */
const ANNOUNCEMENT = /\{(\d{1,20})\+?\}$/;
/** Maximum value of a number (RFC 5804 section 4, `number`). */
const MAX_NUMBER = 2 ** 32 - 1;

/** Returns the next command. @throws ConnectionFault for a literal that is far too large; the errors of the source */
export async function readCommand(source: LineSource, limits: FramingLimits): Promise<FramedCommand> {
  const tokens: Token[] = [];
  let leftBytes = limits.commandBytes;
  let isTooLarge = false;
  let problem: string | undefined;
  for (;;) {
    const line = await readLine(source, Math.max(leftBytes, 0));
    isTooLarge ||= line.isTooLong;
    leftBytes -= line.bytes.length;
    const announcement = ANNOUNCEMENT.exec(withoutLineEnd(line.tail.toString('latin1')));
    if (!isTooLarge) problem ??= addTokens(tokens, line.bytes, announcement?.[0].length ?? 0);
    if (!announcement) break;
    const sizeBytes = Number(announcement[1]);
    isTooLarge ||= sizeBytes > leftBytes;
    leftBytes -= sizeBytes;
    if (isTooLarge) await discard(source, sizeBytes, limits);
    else problem ??= addString(tokens, await readLiteral(source, sizeBytes));
  }
  if (isTooLarge) return { kind: 'too large' };
  return problem === undefined ? { kind: 'complete', tokens } : { kind: 'malformed', text: problem };
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

async function readLiteral(source: LineSource, sizeBytes: number): Promise<Buffer> {
  const pieces = new Pieces();
  while (pieces.sizeBytes < sizeBytes) pieces.add(await take(source, sizeBytes - pieces.sizeBytes));
  return pieces.join();
}

async function discard(
  source: LineSource,
  sizeBytes: number,
  { discardedBytes }: FramingLimits,
): Promise<void> {
  if (sizeBytes > discardedBytes) throw new ConnectionFault('literal_size', 'The literal is too large');
  for (let left = sizeBytes; left > 0; ) left -= (await take(source, left)).length;
}

async function take(source: LineSource, maxBytes: number): Promise<Buffer> {
  const chunk = await source.read();
  if (chunk.length <= maxBytes) return chunk;
  source.unread(chunk.subarray(maxBytes));
  return chunk.subarray(0, maxBytes);
}

/** Matches the next token of a line: a quoted string, a number, or an atom. */
const TOKEN = /"((?:[^"\\\0\r]|\\["\\])*)"(?= |$)|(0|[1-9]\d*)(?= |$)|([!#-'*-[\]-z|-~]+)(?= |$)/y;

/** Adds the tokens of a line, without the announcement at its end. Returns what is wrong with them. */
function addTokens(tokens: Token[], bytes: Buffer, announcementBytes: number): string | undefined {
  const octets = bytes.subarray(0, bytes.length - announcementBytes);
  if (!isUtf8(octets)) return NOT_UTF8;
  const text = octets.toString();
  for (let at = skipSpaces(text, 0); at < text.length; at = skipSpaces(text, at)) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) return 'The arguments of the command are malformed';
    const [whole, quoted, digits, atom = ''] = match;
    at += whole.length;
    if (quoted !== undefined) tokens.push({ kind: 'string', value: quoted.replace(/\\(["\\])/g, '$1') });
    else if (digits === undefined) tokens.push({ kind: 'atom', text: atom });
    else if (Number(digits) > MAX_NUMBER) return 'A number is too large';
    else tokens.push({ kind: 'number', value: Number(digits) });
  }
  return undefined;
}

const NOT_UTF8 = 'The command is not UTF-8';

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at++;
  return at;
}

function addString(tokens: Token[], octets: Buffer): string | undefined {
  if (!isUtf8(octets)) return NOT_UTF8;
  tokens.push({ kind: 'string', value: octets.toString() });
  return undefined;
}
