/**
 * Decodes character references of HTML: numbers, and the names that are common in letters. Unknown names stay
 * unchanged. A number may be half of a surrogate pair, so the caller makes the joined text well-formed.
 */

/** Names of U+00A0 to U+00FF in order (HTML 4 section 24.2.1). */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';

const NAMED = new Map<string, string>([
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['OElig', 'Œ'],
  ['oelig', 'œ'],
  ['Scaron', 'Š'],
  ['scaron', 'š'],
  ['ensp', ' '],
  ['emsp', ' '],
  ['thinsp', ' '],
  ['zwnj', '\u200c'],
  ['zwj', '\u200d'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['lsquo', '‘'],
  ['rsquo', '’'],
  ['sbquo', '‚'],
  ['ldquo', '“'],
  ['rdquo', '”'],
  ['bdquo', '„'],
  ['bull', '•'],
  ['hellip', '…'],
  ['lsaquo', '‹'],
  ['rsaquo', '›'],
  ['euro', '€'],
  ['trade', '™'],
  ['larr', '←'],
  ['rarr', '→'],
  ['check', '✓'],
  ['star', '☆'],
  ['starf', '★'],
  ['hearts', '♥'],
]);

const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,7}));?/gi;

/** Returns the text with its character references replaced. */
export function decodeEntities(text: string): string {
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name = '') => {
    if (decimal !== undefined) return characterAt(Number(decimal));
    if (hex !== undefined) return characterAt(Number.parseInt(hex, 16));
    return NAMED.get(name) ?? whole;
  });
}

const REPLACEMENT = '\ufffd';

function characterAt(codePoint: number): string {
  const isCharacter = codePoint > 0 && codePoint <= 0x10ffff;
  return isCharacter ? String.fromCodePoint(codePoint) : REPLACEMENT;
}
