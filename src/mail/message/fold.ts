/**
 * Folds text for comparisons that ignore case: the collation i;unicode-casemap (RFC 5051 section 2). Each character becomes its title
 * case and is then decomposed. Two texts are equal, or one contains the other, when their folded forms do.
 */

const ASCII_ONLY = /^[\0-\x7f]*$/;
/** Matches a run of ASCII, or another character. */
const RUN = /[\0-\x7f]+|[^\0-\x7f]/gu;

/** Returns the folded form of a text. */
export function foldText(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toUpperCase();
  return text.replace(RUN, (run) => (run < '\x80' ? run.toUpperCase() : toTitleCase(run))).normalize('NFKD');
}

/**
 * Matches letters whose title case is not their upper case: digraphs, whose title case is the second of three forms, and Georgian,
 * which has no title case (Unicode 11, `UnicodeData.txt`).
 */
const DIGRAPHS = 'Ǆǅǆ Ǉǈǉ Ǌǋǌ Ǳǲǳ';
const GEORGIAN = /[\u10d0-\u10ff]/;
/** Matches small Greek letters with iota subscript or prosgegrammeni, whose full upper case has two letters. */
const GREEK_WITH_IOTA = /[\u1f80-\u1f87\u1f90-\u1f97\u1fa0-\u1fa7\u1fb3\u1fc3\u1ff3]/;

/** Returns the simple title case of a character: a mapping to one character, or the character itself. */
function toTitleCase(character: string): string {
  const at = DIGRAPHS.indexOf(character);
  if (at >= 0) return DIGRAPHS.charAt(at - (at % 4) + 1);
  if (GEORGIAN.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (GREEK_WITH_IOTA.test(character)) return String.fromCodePoint(code + (code < 0x1fb0 ? 8 : 9));
  const upper = character.toUpperCase();
  // A mapping to several characters, such as that of ß, is a full one.
  return [...upper].length === 1 ? upper : character;
}
