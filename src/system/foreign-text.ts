/**
 * Cleans text that another machine wrote, so that it can be stored and shown: replies of mail servers, DNS records, TLS
 * errors, responses of webhook receivers. The result is one line of limited length, and no character in it hides or
 * reorders what a reader sees. The text is still untrusted: it must be escaped in HTML and other markup.
 */

/**
 * Maximum length of a stored text from outside, in UTF-16 code units. Our own limit: RFC 5321 section 4.5.3.1.5 allows a reply
 * line 512 octets, and a diagnostic is copied into the recipient, the attempt, the event, its webhooks and the
 * suppression.
 */
export const MAX_FOREIGN_TEXT_CHARACTERS = 1_000;

/**
 * Characters that end a line or a word: TAB, LF, VT, FF and CR (U+0009 to U+000D), NEL (U+0085), the line separator
 * (U+2028) and the paragraph separator (U+2029). A run of them becomes one space, so that words stay apart.
 */
const SEPARATORS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/**
 * Characters that are dropped, as Unicode 16 lists them:
 * - General_Category Cc (UnicodeData.txt): C0 (U+0000-001F), DEL (U+007F), C1 (U+0080-009F).
 * - Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which have no width or no glyph: U+00AD soft hyphen, 034F
 *   combining grapheme joiner, 115F-1160 and 3164 and FFA0 Hangul fillers, 17B4-17B5 Khmer inherent vowels, 180B-180F
 *   Mongolian selectors, 200B-200D zero-width space and joiners, 2060-2064 word joiner and invisible operators, 206A-206F
 *   deprecated format characters, FE00-FE0F and E0100-E01EF variation selectors, FEFF zero-width no-break space,
 *   1BCA0-1BCA3 shorthand controls, 1D173-1D17A musical controls, E0000-E007F tags, and unassigned code points of
 *   the same kind (2065, FFF0-FFF8, E0080-E00FF, E01F0-E0FFF).
 * - Bidi_Control (PropList.txt): U+061C, 200E-200F, 202A-202E, 2066-2069. Unicode has them in the property above as well.
 * - General_Category Cf, format characters such as U+070F, FFF9-FFFB and 13430-1343F. Numbers and verses are written
 *   inside some of them, which have a glyph and stay: 0600-0605, 06DD, 0890-0891, 08E2, 110BD, 110CD.
 * - General_Category Co, private use, which shows whatever the reader's font has there.
 * - Characters of other categories without ink: U+2800 Braille blank, 16FE4 Khitan filler, 1D159 null notehead.
 */
const HIDDEN =
  /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Co}\u2800\u{16fe4}\u{1d159}[\p{Cf}--[\u0600-\u0605\u06dd\u0890\u0891\u08e2\u{110bd}\u{110cd}]]]/gv;

/**
 * Matches combining marks after the first eight of a run. They are dropped, since a tall stack of them covers the
 * lines around it, and no script needs as many on one letter.
 */
const EXCESS_MARKS = /(\p{M}{8})\p{M}+/gu;

/**
 * Matches the line that `openssl errstr` formats, with the thread in front and the source location at the end:
 * `40A7…:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:…/rec_layer_s3.c:1605:SSL alert
 * number 40`. Only the reason and the data at the end are useful to a reader.
 */
const OPENSSL_ERROR =
  /[0-9A-Fa-f]{1,32}:error:[0-9A-Fa-f]{1,16}:[^:\n]*:[^:\n]*:([^:\n]*):[^:\n]*:\d+:([^\n]*)/g;

const PRINTABLE_ASCII = /^[ -~]*$/;

/** Returns the text as one line of at most `maxCharacters` UTF-16 code units, without hidden characters. */
export function cleanForeignText(text: string, maxCharacters = MAX_FOREIGN_TEXT_CHARACTERS): string {
  const readable = text.includes(':error:') ? text.replace(OPENSSL_ERROR, keepReason) : text;
  // Fast path: nearly every reply of a mail server is plain ASCII.
  const visible = PRINTABLE_ASCII.test(readable)
    ? readable
    : readable.replace(SEPARATORS, ' ').replace(HIDDEN, '').replace(EXCESS_MARKS, '$1').toWellFormed();
  return shorten(visible.trim(), maxCharacters);
}

/** Returns a text of several lines without hidden characters. Its line breaks and tabs stay. */
export function withoutHiddenCharacters(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  return text
    .split(/([\n\t])/)
    .map((piece) => (piece === '\n' || piece === '\t' ? piece : piece.replace(HIDDEN, '')))
    .join('')
    .replace(EXCESS_MARKS, '$1')
    .toWellFormed();
}

function keepReason(_line: string, reason: string, data: string): string {
  const detail = data.trim();
  return detail === '' ? reason : `${reason} (${detail})`;
}

/** Shortens a text. The ellipsis shows that something is missing. A character outside the BMP is never split. */
function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
