/**
 * Decodes the ISO 2022 charsets of mail: ISO-2022-JP and its extensions (RFC 1468, RFC 1554, RFC 2237), ISO-2022-KR
 * (RFC 1557) and ISO-2022-CN (RFC 1922). An escape sequence chooses a character set for the octets behind it. The
 * sequences of these charsets do not contradict each other, so one decoder reads all of them, whatever the label says.
 * Two sequences in a row are common: encoded-words that are joined have one at the end and one at the beginning. The
 * decoder of the platform replaces them with U+FFFD.
 * HZ, the other form of 7 bits, is the one of GB 2312 (RFC 1843): `~{` begins Chinese text and `~}` ends it.
 */
import { SegmentedText } from './johab.ts';

/** A character set. Its characters have the same form in an encoding that the platform decodes. */
type CharacterSet =
  | { kind: 'ascii' }
  /** JIS X 0201, which has the signs of Yen and of the overline in the places of `\` and `~`. */
  | { kind: 'roman' }
  | {
      kind: 'table';
      /** Encoding in which the octets of a character have the highest bit. */
      encoding: string;
      /** Number of octets of a character. */
      width: 1 | 2;
      /** Octet in front of a character. */
      prefix?: number;
    }
  /** A plane of CNS 11643, which no program has written for decades. Its characters are not known here. */
  | { kind: 'unknown' };

const ASCII: CharacterSet = { kind: 'ascii' };
const GB_2312: CharacterSet = { kind: 'table', encoding: 'gbk', width: 2 };
const KS_X_1001: CharacterSet = { kind: 'table', encoding: 'euc-kr', width: 2 };
const JIS_X_0208: CharacterSet = { kind: 'table', encoding: 'euc-jp', width: 2 };
const JIS_X_0212: CharacterSet = { kind: 'table', encoding: 'euc-jp', width: 2, prefix: 0x8f };
const KATAKANA: CharacterSet = { kind: 'table', encoding: 'euc-jp', width: 1, prefix: 0x8e };

/** The sets that are used at once (G0), behind a shift out (G1), and for a single character (G2). */
type Slot = 'g0' | 'g1' | 'g2';

/** Escape sequences without the ESC, and the set that each of them puts into a slot. */
const DESIGNATIONS: ReadonlyMap<string, { slot: Slot; set: CharacterSet }> = new Map([
  ['(B', { slot: 'g0', set: ASCII }],
  ['(J', { slot: 'g0', set: { kind: 'roman' } }],
  ['(I', { slot: 'g0', set: KATAKANA }],
  ['$@', { slot: 'g0', set: JIS_X_0208 }],
  ['$B', { slot: 'g0', set: JIS_X_0208 }],
  ['$(@', { slot: 'g0', set: JIS_X_0208 }],
  ['$(B', { slot: 'g0', set: JIS_X_0208 }],
  ['$(D', { slot: 'g0', set: JIS_X_0212 }],
  ['$A', { slot: 'g0', set: GB_2312 }],
  ['$(A', { slot: 'g0', set: GB_2312 }],
  ['$(C', { slot: 'g0', set: KS_X_1001 }],
  ['$)A', { slot: 'g1', set: GB_2312 }],
  ['$)C', { slot: 'g1', set: KS_X_1001 }],
  ['$)G', { slot: 'g1', set: { kind: 'unknown' } }],
  ['$*H', { slot: 'g2', set: { kind: 'unknown' } }],
  ['.A', { slot: 'g2', set: { kind: 'table', encoding: 'iso-8859-1', width: 1 } }],
  ['.F', { slot: 'g2', set: { kind: 'table', encoding: 'iso-8859-7', width: 1 } }],
] as const);

const ESCAPE = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const LINE_FEED = 0x0a;
/** Character behind ESC that takes the next character from G2 (SS2). */
const SINGLE_SHIFT = 0x4e;
/** Lengths of the escape sequences above, without the ESC. */
const DESIGNATION_OCTETS = [2, 3] as const;
const REPLACEMENT = '\ufffd';

/** Matches a label of these charsets, in lower case. */
const LABEL = /^(?:cs)?iso-?2022-?(?:jp|kr|cn)(?:-?(?:[0-9]|ext|ms))?$/;

/** Returns true for the name of one of these charsets, in lower case. */
export function isIso2022(label: string): boolean {
  return LABEL.test(label);
}

/** Returns true for octets that choose a character set other than ASCII. Text of 7 bits that does so can only be in one of these charsets. */
export function choosesIso2022(octets: Uint8Array): boolean {
  for (let at = octets.indexOf(ESCAPE); at >= 0; at = octets.indexOf(ESCAPE, at + 1)) {
    const designation = findDesignation(octets, at + 1);
    if (designation && designation.set !== ASCII) return true;
  }
  return false;
}

/** Returns the text of octets. What is not a character becomes U+FFFD. */
export function decodeIso2022(octets: Uint8Array): string {
  const text = new SegmentedText(octets.length);
  const slots: Record<Slot, CharacterSet | undefined> = { g0: ASCII, g1: undefined, g2: undefined };
  let isShifted = false;
  for (let at = 0; at < octets.length; ) {
    const octet = octets[at] as number;
    if (octet === ESCAPE) {
      const designation = findDesignation(octets, at + 1);
      if (designation) {
        slots[designation.slot] = designation.set;
        at += 1 + designation.octets;
      } else if (octets[at + 1] === SINGLE_SHIFT && slots.g2) {
        at = addCharacter(text, { octets, at: at + 2, set: slots.g2 });
      } else {
        text.addAscii(octet);
        at++;
      }
    } else if (octet === SHIFT_OUT || octet === SHIFT_IN) {
      isShifted = octet === SHIFT_OUT;
      at++;
    } else {
      // A line begins unshifted (RFC 1557, RFC 1922 section 3.1).
      if (octet === LINE_FEED) isShifted = false;
      at = addCharacter(text, { octets, at, set: (isShifted ? slots.g1 : slots.g0) ?? ASCII });
    }
  }
  return text.end();
}

type Designation = { slot: Slot; set: CharacterSet; octets: number };

function findDesignation(octets: Uint8Array, from: number): Designation | undefined {
  for (const length of DESIGNATION_OCTETS) {
    const found = DESIGNATIONS.get(String.fromCharCode(...octets.subarray(from, from + length)));
    if (found) return { ...found, octets: length };
  }
  return undefined;
}

type Character = { octets: Uint8Array; at: number; set: CharacterSet };

/** Adds the character at an offset and returns the offset behind it. */
function addCharacter(text: SegmentedText, { octets, at, set }: Character): number {
  const octet = octets[at] ?? 0;
  if (octet > 0x7e) text.addText(REPLACEMENT);
  else if (octet <= 0x20 || set.kind === 'ascii') text.addAscii(octet);
  else if (set.kind === 'roman') addRoman(text, octet);
  else return addFromTable(text, { octets, at, set });
  return at + 1;
}

function addRoman(text: SegmentedText, octet: number): void {
  if (octet === 0x5c) text.addText('¥');
  else if (octet === 0x7e) text.addText('‾');
  else text.addAscii(octet);
}

type TableCharacter = Character & { set: Extract<CharacterSet, { kind: 'table' | 'unknown' }> };

function addFromTable(text: SegmentedText, { octets, at, set }: TableCharacter): number {
  const first = (octets[at] ?? 0) | 0x80;
  if (set.kind === 'table' && set.width === 1) {
    text.addOctets(set.encoding, set.prefix === undefined ? [first] : [set.prefix, first]);
    return at + 1;
  }
  const trail = octets[at + 1] ?? 0;
  // An escape sequence or a line end can cut a character.
  if (trail <= 0x20 || trail > 0x7e) {
    text.addText(REPLACEMENT);
    return at + 1;
  }
  const second = trail | 0x80;
  if (set.kind === 'unknown') text.addText(REPLACEMENT);
  else text.addOctets(set.encoding, set.prefix === undefined ? [first, second] : [set.prefix, first, second]);
  return at + 2;
}

const TILDE = 0x7e;
const OPENING = 0x7b;
const CLOSING = 0x7d;

const LABELS: ReadonlySet<string> = new Set(['hz', 'hz-gb-2312', 'hz-gb2312']);

/** Returns true for the name of this charset, in lower case. */
export function isHz(label: string): boolean {
  return LABELS.has(label);
}

/** Returns the text of octets. What is not a character becomes U+FFFD. */
export function decodeHz(octets: Uint8Array): string {
  const text = new SegmentedText(octets.length);
  let isChinese = false;
  for (let at = 0; at < octets.length; ) {
    const [first = 0, second = 0] = [octets[at], octets[at + 1]];
    // A line begins in ASCII, whatever the line before lacks.
    if (first === LINE_FEED) isChinese = false;
    if (first === TILDE && (second === OPENING || second === CLOSING)) {
      isChinese = second === OPENING;
      at += 2;
    } else if (first === TILDE && !isChinese && (second === TILDE || second === LINE_FEED)) {
      // A tilde at the end of a line joins it with the next one.
      if (second === TILDE) text.addAscii(TILDE);
      at += 2;
    } else if (isChinese && first > 0x20 && second > 0x20) {
      text.addOctets('gbk', [first | 0x80, second | 0x80]);
      at += 2;
    } else {
      if (first < 0x80) text.addAscii(first);
      else text.addText('\ufffd');
      at++;
    }
  }
  return text.end();
}
