/**
 * Encoded-words (RFC 2047), the form of non-ASCII text in header fields. They are always UTF-8, in the shorter one of
 * the two encodings, and use only the characters that a phrase allows (section 5 (3)), so that one form is valid
 * everywhere.
 */
/**
 * Maximum length of an encoded-word. RFC 2047 section 2 allows 75 characters; ours are shorter, so that the first one
 * still fits on a line of 76 after a field name such as `Reply-To: `.
 */
const MAX_WORD_CHARACTERS = 64;
const FRAME_CHARACTERS = '=?UTF-8?Q?'.length + '?='.length;
/**
 * Matches the bytes that are written unchanged (RFC 2047 section 5 (3)). A space is written as `_` (section 4.2 (2)).
 */
const SAFE_IN_PHRASE = /[A-Za-z0-9!*+/-]/;
const ENCODED_WORD = /^=\?utf-8\?(?:q\?([!->@-~]*)|b\?([A-Za-z0-9+/]*={0,2}))\?=$/i;

const Q_FORMS: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x20) return '_';
  const character = String.fromCharCode(byte);
  return SAFE_IN_PHRASE.test(character) ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns `text` as encoded-words separated by spaces. Each word holds complete characters (RFC 2047 section 5). */
export function encodeWords(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  const qLength = qEncode(bytes).length;
  return qLength <= Math.ceil(bytes.length / 3) * 4 ? encodeAs('Q', text) : encodeAs('B', text);
}

function encodeAs(encoding: 'Q' | 'B', text: string): string {
  const maxCharacters = MAX_WORD_CHARACTERS - FRAME_CHARACTERS;
  const limit = encoding === 'Q' ? maxCharacters : Math.floor(maxCharacters / 4) * 3;
  const words: string[] = [];
  let start = 0;
  let used = 0;
  let at = 0;
  for (const character of text) {
    const bytes = utf8Length(character);
    const cost =
      encoding === 'B' ? bytes : bytes > 1 ? 3 * bytes : (Q_FORMS[character.charCodeAt(0)]?.length ?? 3);
    if (used + cost > limit) {
      words.push(frame(encoding, text.slice(start, at)));
      start = at;
      used = 0;
    }
    used += cost;
    at += character.length;
  }
  words.push(frame(encoding, text.slice(start)));
  return words.join(' ');
}

/** Returns the number of bytes of a character in UTF-8. Half of a surrogate pair becomes U+FFFD, which has three. */
function utf8Length(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

function frame(encoding: 'Q' | 'B', chunk: string): string {
  const bytes = Buffer.from(chunk, 'utf8');
  return `=?UTF-8?${encoding}?${encoding === 'Q' ? qEncode(bytes) : bytes.toString('base64')}?=`;
}

function qEncode(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += Q_FORMS[byte];
  return text;
}

/** Returns the text of one UTF-8 encoded-word; undefined when `word` is not one, and is then shown unchanged. */
export function decodeWord(word: string): string | undefined {
  const match = ENCODED_WORD.exec(word);
  if (!match) return undefined;
  const [, q, b = ''] = match;
  const bytes = q === undefined ? Buffer.from(b, 'base64') : qDecode(q);
  try {
    return bytes && strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Returns the octets of the Q encoding (RFC 2047 section 4.2); undefined when the text is malformed. */
export function qDecode(text: string): Buffer | undefined {
  const bytes: number[] = [];
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character !== 0x3d) {
      bytes.push(character === 0x5f ? 0x20 : character);
      continue;
    }
    const hex = text.slice(index + 1, index + 3);
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return undefined;
    bytes.push(Number.parseInt(hex, 16));
    index += 2;
  }
  return Buffer.from(bytes);
}
