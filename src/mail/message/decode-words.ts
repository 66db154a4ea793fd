/**
 * Decodes the encoded-words of header fields that others have written, in any charset (RFC 2047). Those that Postrider writes and
 * reads again are UTF-8 alone (encoded-word.ts), which needs no tables of charsets.
 */
import { decodeKnownCharset } from './charset.ts';
import { qDecode } from './encoded-word.ts';

/** Matches an encoded-word in any charset, which may name a language (RFC 2231 section 5). */
const ANY_ENCODED_WORD = /=\?([^?*\s]{1,64})(?:\*[^?\s]{0,64})?\?([BbQq])\?([^?\s]*)\?=/g;

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
  for (const match of text.matchAll(ANY_ENCODED_WORD)) {
    const [whole, charset = '', encoding = '', content = ''] = match;
    const bytes = encoding.toUpperCase() === 'B' ? Buffer.from(content, 'base64') : qDecode(content);
    if (!bytes) continue;
    const between = text.slice(at, match.index);
    if (run && /^\s*$/.test(between) && run.charset === charset.toLowerCase()) {
      run.source += between + whole;
      run.bytes.push(bytes);
    } else {
      result += decodeRun(run) + (run && /^\s*$/.test(between) ? '' : between);
      run = { charset: charset.toLowerCase(), bytes: [bytes], source: whole };
    }
    at = match.index + whole.length;
  }
  return result + decodeRun(run) + text.slice(at);
}

/** Adjacent encoded-words of one charset. */
type EncodedRun = { charset: string; bytes: Buffer[]; source: string };

function decodeRun(run: EncodedRun | undefined): string {
  if (!run) return '';
  return decodeKnownCharset(Buffer.concat(run.bytes), run.charset) ?? run.source;
}
