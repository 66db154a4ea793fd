/**
 * File names of attachments. What is written is a name alone, never a path, and it is written so that the readers people
 * use show it: ASCII as a plain quoted string in `filename` and `name`. Beyond ASCII, `filename*` (RFC 2231 4) is what
 * Gmail, Apple Mail, Thunderbird, mutt and Outlook read. Older ones look at `name` of the Content-Type and expect
 * encoded-words in it. RFC 2047 5 does not provide for them there, yet Gmail, Outlook and Thunderbird write them too,
 * and a reader of RFC 2231 never looks. There is no plain `filename` next to `filename*`: RFC 2231 does not say which
 * of the two wins, and readers differ. Nor are long names cut into `filename*0*`: the limit below keeps them in a line.
 */
import { encodeWords } from './encoded-word.ts';

/** What file systems take. As `%XX` it stays below the 998 characters of a line. */
const FILENAME_LIMIT_BYTES = 255;
const EXTENSION_LIMIT_BYTES = 32;
const FALLBACK_NAME = 'attachment';
/** Controls, line separators, and the controls that make `exe.pdf` out of `fdp.exe` by turning the direction. */
const DROPPED = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** RFC 2231 7 attribute-char. */
const UNENCODED_BYTES = /[A-Za-z0-9!#$&+\-.^_`{|}~]/;

const EXTENDED_FORMS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return UNENCODED_BYTES.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/** The last part of a path, without characters that deceive or break lines, at most 255 bytes long with its extension
 * kept. Never empty. A clean name stays as it is. */
export function cleanFilename(text: string): string {
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  const name = shorten(base.toWellFormed().replace(DROPPED, '').trim());
  return /^\.*$/.test(name) ? FALLBACK_NAME : name;
}

/** The parameters of a Content-Disposition (RFC 2183 2.3) and of a Content-Type that say a clean name. */
export function filenameParameters(name: string): { filename: string; name: string } {
  if (/^[ -~]*$/.test(name) && !name.includes('=?')) {
    const quoted = `"${name.replace(/["\\]/g, '\\$&')}"`;
    return { filename: `filename=${quoted}`, name: `name=${quoted}` };
  }
  let extended = '';
  for (const byte of Buffer.from(name, 'utf8')) extended += EXTENDED_FORMS[byte];
  return { filename: `filename*=utf-8''${extended}`, name: `name="${encodeWords(name)}"` };
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= FILENAME_LIMIT_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot) : '';
  const kept = Buffer.byteLength(extension) <= EXTENSION_LIMIT_BYTES ? extension : '';
  const stem = firstBytes(name, FILENAME_LIMIT_BYTES - Buffer.byteLength(kept));
  return stem.trimEnd() + kept;
}

/** As many whole characters as fit. */
function firstBytes(text: string, limitBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limitBytes));
  return text.slice(0, read);
}
