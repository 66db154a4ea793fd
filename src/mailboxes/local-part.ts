/**
 * Decides which local parts in UTF-8 an address of this installation may have. Mail goes to any that RFC 6531 allows, but what is created
 * here has to be read aloud, typed and told apart: it is an identifier as in RFC 8264 section 4.2, in one script. Within one local part no
 * letter can then pass for one of another alphabet; whole words that look alike in two alphabets cannot be told apart here.
 */

/** Maximum length of a local part (RFC 5321 section 4.5.3.1.1). */
const MAX_LOCAL_PART_OCTETS = 64;
const ASCII_ONLY = /^[ -~]*$/;

/** Scripts in common use (Unicode Standard Annex 31 table 5). */
const SCRIPTS = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek', 'Gujarati'],
  ...['Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Latin', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala'],
  ...['Tamil', 'Telugu', 'Thaana', 'Thai', 'Tibetan'],
];
/** Scripts that are written together, with Latin letters among them (Unicode Technical Standard 39 section 5.2). */
const COMBINATIONS = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];
/** Each matches the text of one script, with the digits and signs of ASCII and with accents. */
const WRITTEN = [...SCRIPTS.map((script) => [script]), ...COMBINATIONS].map((scripts) => {
  const letters = ['Inherited', ...scripts].map((script) => `\\p{Script_Extensions=${script}}`).join('');
  return new RegExp(`^[0-9!#$%&'*+/=?^_\`{|}~.${letters}-]+$`, 'u');
});

/** Matches a character beyond ASCII that is no letter, accent or digit (RFC 8264 section 4.2.1). */
const NOT_IDENTIFIER = /[^\0-\x7f\p{L}\p{M}\p{Nd}]/u;
/** Matches an accent without a letter in front of it, which would change how a sign or the text before the address looks. */
const LONE_ACCENT = /(?<![\p{L}\p{M}])\p{M}/u;
const RIGHT_TO_LEFT =
  /[\p{Script_Extensions=Arabic}\p{Script_Extensions=Hebrew}\p{Script_Extensions=Thaana}]/u;
/** Matches text from right to left that keeps its order beside other text (RFC 5893 section 2, rules 1 and 3). */
const KEEPS_ORDER = /^\p{L}(?:.*[\p{L}\p{M}\p{Nd}])?$/u;
/** Two kinds of digits have different directions (RFC 5893 section 2, rule 4). */
const BOTH_DIGITS = /[0-9\u06f0-\u06f9].*[\u0660-\u0669]|[\u0660-\u0669].*[0-9\u06f0-\u06f9]/u;

/**
 * Returns the end of the sentence "`address` must …" for a local part that no address here may have; undefined for one that is allowed.
 * @param localPart in the normalised form (`addressKey`)
 */
export function explainLocalPart(localPart: string): string | undefined {
  if (Buffer.byteLength(localPart) > MAX_LOCAL_PART_OCTETS)
    return `must have at most ${MAX_LOCAL_PART_OCTETS} octets of UTF-8 before the @`;
  if (ASCII_ONLY.test(localPart)) return undefined;
  if (localPart.normalize('NFKC') !== localPart)
    return 'must not have characters before the @ that stand for others, such as letters of double width';
  if (NOT_IDENTIFIER.test(localPart) || LONE_ACCENT.test(localPart))
    return 'must have only letters, digits and signs of ASCII before the @';
  if (!WRITTEN.some((written) => written.test(localPart)))
    return 'must have the letters of one script before the @, and of one that is in common use';
  if (RIGHT_TO_LEFT.test(localPart) && (!KEEPS_ORDER.test(localPart) || BOTH_DIGITS.test(localPart)))
    return 'must begin with a letter before the @, end with a letter or digit, and have digits of one kind';
  return undefined;
}
