/**
 * Writes the file names of attachments, without their path, in the form that most readers understand. An ASCII name is
 * a plain quoted string in `filename` and `name`. Any other name is `filename*` in UTF-8 (RFC 2231 section 4), which Gmail,
 * Apple Mail, Thunderbird, mutt and Outlook read; `name` of the Content-Type holds an ASCII approximation for readers
 * that do not know RFC 2231. An encoded-word would be wrong in a quoted string (RFC 2047 section 5). There is no plain
 * `filename` beside `filename*`: RFC 2231 does not say which of the two wins, and Python's email package, for example,
 * takes the plain one. Long names are not cut into `filename*0*`, since the limit below keeps them in one line.
 */

/**
 * Maximum length of a file name on common file systems. In the form `%XX` it stays below the 998 characters of a
 * line.
 */
const MAX_FILENAME_BYTES = 255;
const MAX_EXTENSION_BYTES = 32;
const FALLBACK_NAME = 'attachment';
/**
 * Matches control characters, line separators, and the direction controls that make `fdp.exe` look like `exe.pdf`.
 */
const DROPPED = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
/** Matches the bytes that stay unencoded (RFC 2231 section 7, attribute-char). */
const UNENCODED_BYTES = /[A-Za-z0-9!#$&+\-.^_`{|}~]/;

const EXTENDED_FORMS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return UNENCODED_BYTES.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

/**
 * Returns the last part of a path without characters that deceive readers or break lines, at most 255 bytes long with
 * its extension kept. The result is never empty. A clean name is returned unchanged.
 */
export function cleanFilename(text: string): string {
  const base = text.slice(Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1);
  const name = shorten(base.toWellFormed().replace(DROPPED, '').trim());
  return /^\.*$/.test(name) ? FALLBACK_NAME : name;
}

/**
 * Returns the parameters of a Content-Disposition (RFC 2183 section 2.3) and of a Content-Type that carry a clean
 * name.
 */
export function filenameParameters(name: string): { filename: string; name: string } {
  if (/^[ -~]*$/.test(name) && !name.includes('=?')) {
    const quoted = quote(name);
    return { filename: `filename=${quoted}`, name: `name=${quoted}` };
  }
  return { filename: `filename*=${extendedValue(name)}`, name: `name=${quote(asciiLikeness(name))}` };
}

/** Returns the value of a parameter in UTF-8, without a language (RFC 2231 section 4). */
export function extendedValue(text: string): string {
  let extended = "utf-8''";
  for (const byte of Buffer.from(text, 'utf8')) extended += EXTENDED_FORMS[byte];
  return extended;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/**
 * Returns the letters without their accents, `_` for every other character that is not ASCII, and no text that looks
 * like an encoded-word.
 */
function asciiLikeness(name: string): string {
  // Canonical decomposition never makes more than one base letter of one letter, so the length stays within the limit.
  const letters = name.normalize('NFD').replace(/\p{M}/gu, '');
  return cleanFilename(letters.replace(/[^ -~]+/g, '_').replaceAll('=?', '_?'));
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= MAX_FILENAME_BYTES) return name;
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot) : '';
  const kept = Buffer.byteLength(extension) <= MAX_EXTENSION_BYTES ? extension : '';
  const stem = firstBytes(name, MAX_FILENAME_BYTES - Buffer.byteLength(kept));
  return stem.trimEnd() + kept;
}

/** Returns the longest prefix of complete characters that fits. */
function firstBytes(text: string, limitBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limitBytes));
  return text.slice(0, read);
}
