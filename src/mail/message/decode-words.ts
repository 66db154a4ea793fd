/**
 * Decodes the encoded-words of header fields that others have written, in any charset (RFC 2047). Those that Postrider writes and
 * reads again are UTF-8 alone (encoded-word.ts), which needs no tables of charsets.
 */
import { qDecode } from '../encoded-word.ts';
import { decodeKnownCharset } from './charset.ts';

/** Matches the beginning of an encoded-word in any charset, which may name a language (RFC 2231 section 5). */
const WORD_START = /=\?([^?*\s]{1,64})(?:\*[^?\s]{0,64})?\?([BbQq])\?/g;
const WORD_END = '?=';
const ONLY_SPACES = /^\s*$/;

/**
 * Returns the text of a header field of any charset with its encoded-words decoded. White space between two of them is
 * dropped (RFC 2047 section 6.2), and their bytes are joined, because some programs split characters. A word that
 * cannot be decoded stays as it is.
 */
export function decodeWords(text: string): string {
  if (!text.includes('=?')) return text;
  let result = '';
  let at = 0;
  let run: EncodedRun | undefined;
  for (const { start, end, charset, bytes } of findWords(text)) {
    const between = text.slice(at, start);
    const isAdjacent = run !== undefined && ONLY_SPACES.test(between);
    if (run && isAdjacent && run.charset === charset) {
      run.source += between + text.slice(start, end);
      addBytes(run, bytes);
    } else {
      result += decodeRun(run) + (isAdjacent ? '' : between);
      run = { charset, bytes: [bytes], source: text.slice(start, end) };
    }
    at = end;
  }
  return result + decodeRun(run) + text.slice(at);
}

type EncodedWord = {
  start: number;
  end: number;
  /** Name of the charset in lower case. */
  charset: string;
  bytes: Buffer;
};

/**
 * Yields the encoded-words of a text. Spaces and question marks inside a word are not allowed (RFC 2047 section 2), but some programs write
 * them; another word cannot begin inside of one.
 */
function* findWords(text: string): Generator<EncodedWord> {
  const starts = [...text.matchAll(WORD_START)];
  let close = -1;
  for (const [index, match] of starts.entries()) {
    const [whole, charset = '', encoding = ''] = match;
    const content = match.index + whole.length;
    if (close < content) close = text.indexOf(WORD_END, content);
    if (close < 0) return;
    const next = starts[index + 1];
    if (next && next.index < close) continue;
    const bytes = decodeContent(text.slice(content, close), encoding);
    const end = close + WORD_END.length;
    if (bytes) yield { start: match.index, end, charset: charset.toLowerCase(), bytes };
  }
}

function decodeContent(content: string, encoding: string): Buffer | undefined {
  return encoding.toUpperCase() === 'B' ? Buffer.from(content, 'base64') : qDecode(content);
}

/** Adjacent encoded-words of one charset. */
type EncodedRun = { charset: string; bytes: Buffer[]; source: string };

const UTF_7_SHIFT = 0x2b;
const UTF_7_LABEL = /^(?:unicode-1-1-)?utf-?7$/;
/** Matches text of UTF-7 that ends inside of an encoded sequence (RFC 2152). Each character is read once, however many of them are `+`. */
const OPEN_UTF_7 = /(?<![A-Za-z0-9+/])[A-Za-z0-9/]*\+[A-Za-z0-9+/]+$/;

/**
 * Adds the bytes of a word. In UTF-7, where the end of a word can end a sequence of characters, the first byte of the next word would
 * belong to that sequence.
 */
function addBytes({ charset, bytes }: EncodedRun, next: Buffer): void {
  const isOpen =
    next[0] === UTF_7_SHIFT &&
    UTF_7_LABEL.test(charset) &&
    OPEN_UTF_7.test(bytes.at(-1)?.toString('latin1') ?? '');
  if (isOpen) bytes.push(Buffer.from('-'));
  bytes.push(next);
}

function decodeRun(run: EncodedRun | undefined): string {
  if (!run) return '';
  return decodeKnownCharset(Buffer.concat(run.bytes), run.charset) ?? run.source;
}
